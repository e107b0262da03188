"""What is fuzzed: reading and running damaged files, in a process of little memory that is restarted when it dies."""

from __future__ import annotations

import resource
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.copies import copied
from vinculum.sandbox import End, Isolated, Limits

EXAMPLES = Path(__file__).parents[2] / "examples"
ONE_CASE = 120.0  # Seconds. A case takes a second or two, but much longer on a busy machine.
MEMORY = 1 << 30
"""How many bytes a case may take in addition to what the process has when it is ready."""
Job = Callable[[Path, int], None]


@dataclass(frozen=True)
class Case:
    """A damaged file in place of an example's."""

    name: str  # Its path in the folder of examples.
    content: bytes
    opset: int = 0  # The operator set to convert to, for jobs that convert.


class Subject:
    """A worker for one of `JOBS` on a copy of the examples, with a limit in seconds for a case; a context manager."""

    def __init__(self, job: str, folder: Path, seconds: float = ONE_CASE) -> None:
        self._folder = folder / "examples"
        self._copy_examples()
        self._worker = Isolated("tests.fuzz.subject:Worker", job, self._folder, limits=Limits(seconds))

    def __enter__(self) -> Subject:
        return self

    def __exit__(self, *_: object) -> None:
        self._worker.close()

    def outcome(self, case: Case) -> str:
        """Return ``"accepted"``, ``"refused"`` or ``"slow"``; fail, with the case, if it is worse."""
        answer = self._worker.call("outcome", case.name, case.content, case.opset)
        if answer.end is not End.RETURNED:
            self._copy_examples()  # The damaged file was left in the folder.
        if answer.end is End.HUNG:
            return "slow"
        assert answer.end is End.RETURNED, f"{answer.end.value}: {answer.words}: {case!r}"
        kind, words = answer.value
        assert kind != "escaped", f"{words}\n{case!r}"
        return str(kind)

    def _copy_examples(self) -> None:
        copied(EXAMPLES, self._folder, ignore=lambda *_: {"make_examples.py", "__pycache__"})


def run(file: Path, opset: int) -> None:
    """Load a model and run it on a few sets of inputs."""
    from vinculum import load
    from vinculum.errors import VinculumError
    from vinculum.models.execution import limited
    from vinculum.models.sampling.input_sets import input_sets

    model = load(file)
    refusal: VinculumError | None = None
    for inputs in islice(input_sets(model.inputs, opset), 4):
        try:
            with limited(0.5, 1 << 24):
                model.run(inputs, zero_divisor="zero")
        except VinculumError as error:
            _check_line(error)
            refusal = error
    if refusal is not None:
        raise refusal


def convert(file: Path, opset: int) -> None:
    """Convert a model to an operator set, or to OpenVINO IR for 0."""
    from vinculum.models.convert import verification
    from vinculum.models.convert.file_conversion import convert_file

    verification._SECONDS = 0.3
    suffix = ".onnx" if opset else ".xml"
    with TemporaryDirectory() as folder:
        convert_file(file, Path(folder) / f"converted{suffix}", opset=opset or None)


JOBS: dict[str, Job] = {job.__name__: job for job in (run, convert)}


def _check_line(error: Exception) -> None:
    if "\n" in str(error) or not str(error) or len(str(error)) > 2000:
        raise AssertionError(f"not one line: {error!r}")


def answer(job: Job, file: Path, opset: int) -> tuple[str, str]:
    """Return ``"accepted"``; or ``"refused"`` for an error of ours, ``"escaped"`` for any other, with the message."""
    from vinculum.errors import VinculumError

    try:
        try:
            job(file, opset)
        except VinculumError as error:
            _check_line(error)
            return "refused", str(error)
    except BaseException:
        return "escaped", traceback.format_exc()
    return "accepted", ""


class Worker:
    """A job in a folder of models, where damaged files replace whole ones; it limits the memory of its process."""

    def __init__(self, job: str, folder: Path) -> None:
        from vinculum.models.execution import LimitError

        self._job, self._folder = JOBS[job], folder
        for file in sorted(folder.glob("*/*.onnx")):  # This imports everything while memory is not limited yet.
            with suppress(LimitError):  # A kernel that must be compiled first takes longer.
                run(file, 0)
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        most = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # No core dumps.

    def outcome(self, name: str, content: bytes, opset: int) -> tuple[str, str]:
        """Return the outcome of the job for a file of that name and content, and the message."""
        file = self._folder / name
        whole = file.read_bytes() if file.exists() else None
        file.write_bytes(content)
        outcome = answer(self._job, file, opset)
        file.unlink() if whole is None else file.write_bytes(whole)
        return outcome
