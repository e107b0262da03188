"""What reads and runs damaged files, in a process of little memory, which may die."""

from __future__ import annotations

import resource
import traceback
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

MEMORY = 1 << 30
"""How many bytes a case may take, beyond what the process has when it is ready."""
Job = Callable[[Path, int], None]


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
    """Return ``"accepted"``, ``"refused"`` if an error of ours comes out, ``"escaped"`` if it is worse; and words."""
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
    """A job in a folder of models, one of which each damaged file replaces; it limits the memory of its process."""

    def __init__(self, job: str, folder: Path) -> None:
        from vinculum.models.execution import LimitError

        self._job, self._folder = JOBS[job], folder
        for file in sorted(folder.glob("*/*.onnx")):  # Everything is imported before memory gets scarce.
            with suppress(LimitError):  # Where a kernel has to be compiled first, that alone takes longer.
                run(file, 0)
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        most = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # Nobody looks at the remains.

    def outcome(self, name: str, content: bytes, opset: int) -> tuple[str, str]:
        """Return what becomes of a file of that name and content, and words."""
        file = self._folder / name
        whole = file.read_bytes() if file.exists() else None
        file.write_bytes(content)
        outcome = answer(self._job, file, opset)
        file.unlink() if whole is None else file.write_bytes(whole)
        return outcome
