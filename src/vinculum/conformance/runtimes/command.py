"""Any program as a runtime: operations are sent over a pipe, and termination by a signal counts as a crash."""

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
_PATIENCE = 5.0  # Seconds to wait for a program that has closed its pipe to exit.
_WIDTH = 64


class Command:
    """A program, started for the first operation and restarted for the next one after it exits.

    - `command`: A path or a name on the PATH, and arguments, quoted as in a shell.
    - `options`: Options, each passed as an additional argument ``--name=value``.

    AttributeValueError if the command cannot be split, or is empty.
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
        """Raise ModelError if the program does not exist, or does not answer when asked for 1/1.

        "Not supported" and a refusal count as answers.
        """
        self._program()
        asked_elsewhere("start", f"{__name__}:Command", *self._given, called=quoted(self.title))

    def versions(self) -> Mapping[str, str]:
        """Return the beginning of the digest of the program's file."""
        program = self._program()
        return {program.name: f"sha256 {sha256(program.read_bytes()).hexdigest()[:16]}"}

    def covers(self, operation: Operation) -> bool:
        """Tell whether the operands can be sent: all operations are covered except those on reals."""
        return not any(operand.dtype.hasobject for operand in operation.operands)

    def start(self) -> None:
        """Divide 1 by 1."""
        with suppress(UnsupportedError, ModelError):
            self.answer(ONE_BY_ONE)

    def answer(self, operation: Operation) -> NDArray[Any]:
        """Return the quotient that the program gives.

        UnsupportedError, ModelError if the program answers that. CrashedError if it exits, or writes an invalid answer;
        it is restarted for the next operation.
        """
        process = self._started()
        try:
            return answered(self._exchanged(process, operation_bytes(operation)))
        except CrashedError:
            _end(process)
            self._running = None
            raise

    def reproducer(self, operation: Operation) -> str:
        """Return Python source that sends the operation to the program, and prints its exit code and output."""
        names = operand_names(operation)
        pieces: list[str] = []
        for place, piece in enumerate(operation_pieces(operation)):
            pieces += [f"    {names[place // 2]}.tobytes(),"] if place % 2 else _bytes_lines(piece)
        return python_program(
            "import subprocess",
            *operand_lines(operation),
            "operation = [",
            *pieces,
            "]",
            f'done = subprocess.run({self._words!r}, input=b"".join(operation), stdout=subprocess.PIPE)',
            'print("return code", done.returncode, "answer", done.stdout.hex(" ", 8))',
        )

    def _program(self) -> Path:
        found = shutil.which(self.title)
        if found is not None:
            return Path(found)
        if Path(self.title).is_dir():
            raise ModelError(f"{quoted(self.title)} is a folder; give the path of a program")
        if Path(self.title).is_file():
            raise ModelError(f"the program {quoted(self.title)} is not executable; chmod +x makes it so")
        raise ModelError(f"there is no program {quoted(self.title)}; give a path, or a name on the PATH")

    def _started(self) -> subprocess.Popen[bytes]:
        if self._running is None:
            try:
                self._running = subprocess.Popen(
                    self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
                )
            except OSError as error:
                if isinstance(error, FileNotFoundError):  # The program itself exists: `check` found it.
                    raise CrashedError("the interpreter named in its first line does not exist") from None
                raise CrashedError(error.strerror or one_line(error)) from None
        return self._running

    def _exchanged(self, process: subprocess.Popen[bytes], message: bytes) -> bytes:
        """Send a message to a program, and return the content of its answer."""
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
    """Return the exit code of a program, or a text if it has closed its pipe and still runs."""
    try:
        return process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        return "it closed its standard output without an answer"


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):  # Buffered input cannot be written to a dead program.
                pipe.close()


def _bytes_lines(content: bytes) -> list[str]:
    texts = (content[i : i + _WIDTH // 2].hex(" ", 4) for i in range(0, len(content), _WIDTH // 2))
    return [f'    bytes.fromhex("{text}"),' for text in texts]
