"""What reads and runs damaged files, in a process of little memory, which may die."""

from __future__ import annotations

import os
import resource
import signal
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

MEMORY = 1 << 30
"""How many bytes a case may take, beyond what the process has when it is ready."""


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


def raise_foreign(file: Path, opset: int) -> None:
    """Raise what is no error of ours; for the test of the tester, as all below."""
    raise KeyError(opset)


def raise_two_lines(file: Path, opset: int) -> None:
    """Raise an error of ours whose message is two lines."""
    from vinculum.errors import ModelError

    raise ModelError("one\ntwo")


def die(file: Path, opset: int) -> None:
    """Die as a division by zero in C kills a process."""
    os.kill(os.getpid(), signal.SIGFPE)


def hang(file: Path, opset: int) -> None:
    """Never come back."""
    while True:
        time.sleep(1)


def devour(file: Path, opset: int) -> None:
    """Take more memory than there is for a case."""
    bytearray(2 * MEMORY)


JOBS: dict[str, Callable[[Path, int], None]] = {
    job.__name__: job for job in (run, convert, raise_foreign, raise_two_lines, die, hang, devour)
}


def _check_line(error: Exception) -> None:
    if "\n" in str(error) or not str(error) or len(str(error)) > 2000:
        raise AssertionError(f"not one line: {error!r}")


def _answer(job: Callable[[Path, int], None], file: Path, opset: int) -> tuple[str, str]:
    from vinculum.errors import DifferenceError, VinculumError

    try:
        job(file, opset)
    except DifferenceError as error:
        return "different", str(error)
    except VinculumError as error:
        try:
            _check_line(error)
        except AssertionError as complaint:
            return "escaped", str(complaint)
        return "refused", str(error)
    except BaseException:
        return "escaped", traceback.format_exc()
    return "accepted", ""


def _warm_up(folder: Path) -> None:
    """Import and compile everything before memory gets scarce."""
    from vinculum.models.execution import LimitError

    for file in sorted(folder.glob("*/*.onnx")):
        with suppress(LimitError):  # Where a kernel has to be compiled first, that alone takes longer.
            run(file, 0)


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    # Dying is common here, and nobody looks at the remains.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Worker:
    """A job in a folder of models; it limits the memory of its process.

    Parameters
    ----------
    job : str
        A key of `JOBS`.
    folder : Path
        The models, in place of one of which each damaged file stands.
    """

    def __init__(self, job: str, folder: Path) -> None:
        self._job, self._folder = JOBS[job], folder
        if self._job in (run, convert):
            _warm_up(folder)
        _limit_memory()

    def outcome(self, name: str, content: bytes, opset: int) -> tuple[str, str]:
        """Return what becomes of a file of that name and content, and words."""
        file = self._folder / name
        whole = file.read_bytes() if file.exists() else None
        file.write_bytes(content)
        outcome = _answer(self._job, file, opset)
        file.unlink() if whole is None else file.write_bytes(whole)
        return outcome
