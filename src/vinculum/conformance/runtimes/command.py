"""Any program that divides: it is asked over a pipe, and its death by a signal is a crash of the runtime."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.runtimes.packages import ONE_BY_ONE, asked_elsewhere
from vinculum.conformance.runtimes.pipe import LENGTH, LONGEST, answered, operation_bytes, operation_pieces
from vinculum.conformance.runtimes.programs.reproducer import operand_lines, operand_names, python_program
from vinculum.errors import AttributeValueError, ModelError
from vinculum.sandbox import CrashedError, UnsupportedError
from vinculum.text import one_line, quoted

PREFIX = "command:"
_PATIENCE = 1.0  # Seconds for the end of a program that has closed its pipe.
_WIDTH = 64


class Command:
    """A program, from the first operation until it dies; it is started again for the next one then.

    Parameters
    ----------
    command : str
        A path or a name on the PATH, and arguments; quoted as a shell's.
    options : Mapping of str to str
        Each is an argument more, ``--name=value``.

    Raises
    ------
    AttributeValueError
        If it cannot be split, or is empty.
    """

    def __init__(self, command: str, options: Mapping[str, str]) -> None:
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise AttributeValueError(f"{quoted(command)} cannot be split as a shell does: {one_line(error)}") from None
        if not words:
            raise AttributeValueError("command: names no program; write command:./divider")
        self.title = words[0]
        self._words = [*words, *(f"--{name}={value}" for name, value in options.items())]
        self._given = command, dict(options)
        self._running: subprocess.Popen[bytes] | None = None

    def check(self) -> None:
        """Refuse to go on if there is no such program, or it does not answer what 1/1 is.

        That it does not support it, or refuses, is an answer.
        """
        self._program()
        asked_elsewhere("start", f"{__name__}:Command", *self._given, called=quoted(self.title))

    def versions(self) -> Mapping[str, str]:
        """Return the beginning of the digest of the program's file."""
        program = self._program()
        return {program.name: f"sha256 {sha256(program.read_bytes()).hexdigest()[:16]}"}

    def covers(self, operation: Operation) -> bool:
        """Tell that every operation is covered, but for that of reals, which no program stores."""
        return not any(operand.dtype.hasobject for operand in operation.operands)

    def start(self) -> None:
        """Divide one by one."""
        with suppress(UnsupportedError, ModelError):
            self.answer(ONE_BY_ONE)

    def answer(self, operation: Operation) -> NDArray[Any]:
        """Return the quotient that the program gives.

        Raises
        ------
        UnsupportedError, ModelError
            If it says so.
        CrashedError
            If it dies, or what it writes is no answer; it is started again for the next operation.
        """
        process = self._started()
        try:
            return answered(self._exchanged(process, operation_bytes(operation)))
        except CrashedError:
            _end(process)
            self._running = None
            raise

    def reproducer(self, operation: Operation) -> str:
        """Return Python source that asks the program the same, and prints how it ended and what it wrote."""
        names = operand_names(operation)
        pieces: list[str] = []
        for place, piece in enumerate(operation_pieces(operation)):
            pieces += [f"    {names[place // 2]}.tobytes(),"] if place % 2 else _bytes_lines(piece)
        return python_program(
            *operand_lines(operation),
            "operation = [",
            *pieces,
            "]",
            f'done = subprocess.run({self._words!r}, input=b"".join(operation), stdout=subprocess.PIPE)',
            'print("return code", done.returncode, "answer", done.stdout.hex(" ", 8))',
            imports=["subprocess"],
        )

    def _program(self) -> Path:
        found = shutil.which(self.title)
        if found is not None:
            return Path(found)
        if Path(self.title).is_dir():
            raise ModelError(f"{quoted(self.title)} is a folder; give the path of a program")
        if Path(self.title).is_file():
            raise ModelError(f"the program {quoted(self.title)} may not be executed; chmod +x allows it")
        raise ModelError(f"there is no program {quoted(self.title)}; give a path, or a name on the PATH")

    def _started(self) -> subprocess.Popen[bytes]:
        if self._running is None:
            try:
                self._running = subprocess.Popen(
                    self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
                )
            except OSError as error:
                if isinstance(error, FileNotFoundError):  # The program is there: `check` has looked.
                    raise CrashedError("the interpreter named in its first line does not exist") from None
                raise CrashedError(error.strerror or one_line(error)) from None
        return self._running

    def _exchanged(self, process: subprocess.Popen[bytes], message: bytes) -> bytes:
        """Return the content of the message that a program answers a message with."""
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(message)
            process.stdin.flush()
        except OSError:
            raise CrashedError(_ended(process)) from None
        head = process.stdout.read(LENGTH.size)
        if len(head) < LENGTH.size:
            raise CrashedError(_ended(process))
        (length,) = LENGTH.unpack(head)
        if length > LONGEST:
            raise CrashedError(
                f"its output is not an answer: it begins with {head!r}, which as a length is {length:,} bytes"
            )
        content = process.stdout.read(length)
        if len(content) < length:
            raise CrashedError(_ended(process))
        return content


def _ended(process: subprocess.Popen[bytes]) -> int | str:
    """Return the code with which a program ended; words if it lives and has closed its pipe, and end it then."""
    try:
        return process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        return "it closed its standard output without an answer"


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):  # What was not written yet cannot be any more.
                pipe.close()


def _bytes_lines(content: bytes) -> list[str]:
    texts = (content[i : i + _WIDTH // 2].hex(" ", 4) for i in range(0, len(content), _WIDTH // 2))
    return [f'    bytes.fromhex("{text}"),' for text in texts]
