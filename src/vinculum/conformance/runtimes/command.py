"""Any program as a runtime: operations are sent over a pipe, and termination by a signal counts as a crash.

Everything in the pipe is little-endian and aligned to 8 bytes. Messages in both directions consist of a length as a
uint64 and that number of bytes.
"""

from __future__ import annotations

import math
import shlex
import shutil
import struct
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation, integer_rounding
from vinculum.conformance.runtimes.protocol import ONE_BY_ONE, asked_elsewhere
from vinculum.conformance.runtimes.reproducer import operand_lines, operand_names, python_program
from vinculum.errors import AttributeValueError, ModelError
from vinculum.sandbox import CrashedError, UnsupportedError
from vinculum.spec.element_types import by_onnx_code
from vinculum.spec.model import AttributeValue, IntegerRounding
from vinculum.tensors.storage import dtype_of, element_type_of
from vinculum.text import one_line, quoted

LENGTH = struct.Struct("<Q")
LONGEST = 1 << 32
"""The largest answer in bytes; a greater length means that the output is not an answer."""

_QUESTION = struct.Struct("<16s16sIIII")
_ATTRIBUTE = struct.Struct("<32sII")
_TENSOR = struct.Struct("<IIII")
_ANSWER = struct.Struct("<IIII")
_BOOL_CODE = 9
_ROUNDINGS = {None: 0, IntegerRounding.TRUNCATING: 1, IntegerRounding.FLOOR: 2}
_QUOTIENT, _UNSUPPORTED, _REFUSED = range(3)


def operation_pieces(operation: Operation) -> list[bytes]:
    """Return the message for an operation in pieces; every second piece is the elements of an operand."""
    spec = operation.spec
    head = _QUESTION.pack(
        spec.dialect.value.encode(),
        spec.name.encode(),
        spec.since_version,
        _ROUNDINGS[integer_rounding(operation)],
        len(operation.attributes),
        len(operation.operands),
    )
    attributes = [_attribute(name, value) for name, value in operation.attributes.items()]
    pieces = [b"".join([head, *attributes])]
    for array, constant in zip(operation.operands, operation.constant, strict=True):
        # 4-bit elements take a byte each.
        little = array if array.dtype.itemsize == 1 else array.astype(array.dtype.newbyteorder("<"), copy=False)
        elements, code = little.tobytes(), element_type_of(array).onnx_code or 0
        pieces[-1] += _TENSOR.pack(code, constant, array.ndim, 0) + struct.pack(f"<{array.ndim}q", *array.shape)
        pieces += [elements, bytes(-len(elements) % 8)]
    return [LENGTH.pack(sum(map(len, pieces))) + pieces[0], *pieces[1:]]


def answered(content: bytes) -> NDArray[Any]:
    """Return the quotient in the content of an answer.

    UnsupportedError, ModelError if the answer is "not supported" or a refusal. CrashedError if it is malformed.
    """
    if len(content) < _ANSWER.size:
        raise CrashedError(f"its answer has {len(content)} bytes; one has at least {_ANSWER.size}")
    status, code, rank, _ = _ANSWER.unpack_from(content)
    if status in (_UNSUPPORTED, _REFUSED):
        words = " ".join(content[_ANSWER.size :].decode(errors="replace").replace("\0", " ").split())
        raise (UnsupportedError if status == _UNSUPPORTED else ModelError)(words or "it gave no reason")
    if status != _QUOTIENT:
        raise CrashedError(f"the status of its answer is {status}; allowed: 0 quotient, 1 not supported, 2 refused")
    return _quotient(content, code, rank)


def _quotient(content: bytes, code: int, rank: int) -> NDArray[Any]:
    dtype, start = _dtype(code), _ANSWER.size + 8 * rank
    if rank > 64 or len(content) < start:
        raise CrashedError(f"its answer has {len(content)} bytes, too few for the {rank} dimensions that it declares")
    shape: Sequence[int] = struct.unpack_from(f"<{rank}q", content, _ANSWER.size)
    needed = math.prod(shape) * dtype.itemsize
    if any(size < 0 for size in shape) or not needed <= len(content) - start < needed + 8:
        given = f"{len(content) - start} bytes of quotients"
        raise CrashedError(f"its answer holds {given}; {dtype} of shape {tuple(shape)} has {needed}")
    elements = np.frombuffer(content, dtype.newbyteorder("<"), math.prod(shape), start)
    return elements.astype(dtype, copy=True).reshape(shape)


def _dtype(code: int) -> np.dtype[Any]:
    if code == _BOOL_CODE:
        return np.dtype(np.bool_)
    try:
        return dtype_of(by_onnx_code(code))
    except LookupError:
        raise CrashedError(f"its answer is of element type {code}, which is not an element type number") from None


def _attribute(name: str, value: AttributeValue) -> bytes:
    """Return the bytes of an attribute, with its kind: 1 integer, 2 list of integers, 3 text, 4 Boolean."""
    if isinstance(value, str):
        text = value.encode()
        return _ATTRIBUTE.pack(name.encode(), 3, len(text)) + text + bytes(-len(text) % 8)
    if isinstance(value, tuple):
        return _ATTRIBUTE.pack(name.encode(), 2, len(value)) + struct.pack(f"<{len(value)}q", *value)
    return _ATTRIBUTE.pack(name.encode(), 4 if isinstance(value, bool) else 1, 1) + struct.pack("<q", value)


PREFIX = "command:"
_PATIENCE = 5.0  # Seconds to wait for a program that has closed its pipe to exit.
_BYTES = 32  # in a line


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
            return answered(self._exchanged(process, b"".join(operation_pieces(operation))))
        except CrashedError:
            _end(process)
            self._running = None
            raise

    def reproducer(self, operation: Operation) -> str:
        """Return Python source that sends the operation to the program, and prints its exit code and output."""
        names = operand_names(operation)
        pieces: list[str] = []
        for place, piece in enumerate(operation_pieces(operation)):
            texts = [piece[i : i + _BYTES].hex(" ", 4) for i in range(0, len(piece), _BYTES)]
            own = [f'    bytes.fromhex("{text}"),' for text in texts]
            pieces += [f"    {names[place // 2]}.tobytes(),"] if place % 2 else own
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
            pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
            try:
                self._running = subprocess.Popen(self._words, stdin=pipe, stdout=pipe, stderr=nowhere)
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
            words = f"it begins with {head!r}, which as a length is {length:,} bytes"
            raise CrashedError(f"its output is not an answer: {words}")
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
