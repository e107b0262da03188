"""Programs behind `command:`: the messages in both directions, and how programs end."""

from __future__ import annotations

import ast
import os
import re
import struct
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.conformance.asking import message, operation, same_bits
from tests.conformance.runtimes.pipe_program import divided
from tests.processes import output_of, python
from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.runtimes.backends import MAKER, runtime
from vinculum.conformance.runtimes.command import LENGTH, answered, operation_pieces
from vinculum.errors import AttributeValueError, ModelError, SpecLookupError
from vinculum.sandbox import Answer, CrashedError, End, Isolated, Limits, UnsupportedError
from vinculum.spec.onnx_div import DIV_6, DIV_14
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.spec.sonnx_div import DIV_REAL

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no signals, and no such programs")

PROGRAM = Path(__file__).with_name("pipe_program.py")
FIVE_THIRDS = operation(DIV_14, np.array([5.0, -1.0]), np.array([3.0, 4.0]))


def command(*arguments: str) -> str:
    return f"command:'{sys.executable}' '{PROGRAM}' {' '.join(arguments)}"


def asked(backend: str, *operations: Operation, limits: Limits | None = None) -> list[tuple[End, str]]:
    """Return how the calls of one process for several operations end."""
    with Isolated(MAKER, backend, limits=limits) as isolated:
        answers: list[Answer] = [isolated.call("answer", each) for each in operations]
    return [(answer.end, answer.words) for answer in answers]


def in_process(asked: Operation) -> NDArray[Any]:
    """Return the quotient of the program for an operation, without starting it."""
    length, content = b"".join(operation_pieces(asked))[:8], b"".join(operation_pieces(asked))[8:]
    assert LENGTH.unpack(length) == (len(content),)
    return answered(divided(content)[8:])


class TestAnswers:
    """A program answers with a quotient, "not supported" or a refusal."""

    def test_a_quotient(self) -> None:
        quotient = np.array([5 / 3, -0.25])
        with Isolated(MAKER, command()) as isolated:
            assert same_bits(isolated.call("answer", FIVE_THIRDS).value, quotient)
        assert same_bits(in_process(FIVE_THIRDS), quotient)

    def test_every_byte_of_an_operation_arrives(self) -> None:
        """The program describes what it read: standard, version, rounding, attributes of each kind, and operands."""
        a = np.array([[-3], [7]], np.int8)
        divide = operation(DIVIDE_1, a, a, constant=(True, False), m_pythondiv=True, auto_broadcast="numpy")
        div = operation(DIV_6, a.astype(np.int32), a.astype(np.int32), axis=-1, consumed_inputs=(0, 9))
        of_divide, of_div = (message(ModelError, partial(in_process, one)) for one in (divide, div))
        attributes = [("m_pythondiv", (1,)), ("auto_broadcast", "numpy")]
        tensor = (3, [2, 1], [-3, 7])
        assert of_divide.replace("\0", "").split() == f"openvino Divide 1 2 {attributes} {tensor}".split()
        tensor = (6, [2, 1], [-3, 7])
        assert of_div.split() == f"onnx Div 6 1 {[('axis', (-1,)), ('consumed_inputs', (0, 9))]} {tensor}".split()

    def test_reals_are_not_covered(self) -> None:
        made = runtime(command())
        assert made.covers(FIVE_THIRDS)
        assert not made.covers(operation(DIV_REAL, np.array([1], object), np.array([1], object)))


@pytest.mark.parametrize(
    ("way", "words"),
    [
        ("--signal", "SIGFPE"),
        ("--half", "exit code 7"),
        (
            "--garbage",
            "its output is not an answer: it begins with b'hello, w', "
            "which as a length is 8,583,909,746,840,200,552 bytes",
        ),
    ],
)
def test_a_crash(way: str, words: str) -> None:
    """A crash is the answer to one operation; a new process answers the next one."""
    ends = asked(command(way), FIVE_THIRDS, FIVE_THIRDS, FIVE_THIRDS)
    assert ends == [(End.RETURNED, ""), (End.CRASHED, words), (End.RETURNED, "")]


def content(status: int, code: int, *dims: int, rest: bytes = b"") -> bytes:
    return struct.pack(f"<IIII{len(dims)}q", status, code, len(dims), 0, *dims) + rest


class TestContents:
    """The contents of answers, which any program may have written."""

    @pytest.mark.parametrize(
        ("given", "quotient"),
        [
            (content(0, 1, rest=struct.pack("<f", 2.5)), np.array(2.5, np.float32)),
            (content(0, 6, 2, 1, rest=struct.pack("<ii", -3, 7)), np.array([[-3], [7]], np.int32)),
            (content(0, 2, 3, rest=b"\1\2\3" + bytes(5)), np.array([1, 2, 3], np.uint8)),
            (content(0, 3, 3, rest=b"\1\2\xff"), np.array([1, 2, -1], np.int8)),
            (content(0, 9, 2, rest=b"\0\1"), np.array([False, True])),
            (content(0, 1, 0), np.zeros(0, np.float32)),
            (content(0, 1, *[1] * 64, rest=bytes(4)), np.zeros([1] * 64, np.float32)),
        ],
        ids=lambda one: "",
    )
    def test_a_quotient(self, given: bytes, quotient: NDArray[Any]) -> None:
        assert same_bits(answered(given), quotient)

    @pytest.mark.parametrize(
        ("given", "kind", "words"),
        [
            (bytes(15), CrashedError, "its answer has 15 bytes; one has at least 16"),
            (content(9, 0), CrashedError, "status of its answer is 9; allowed: 0 quotient, 1 not supported, 2 refused"),
            (content(1, 0, rest=b"no\n\0float"), UnsupportedError, "no float"),
            (content(2, 0), ModelError, "it gave no reason"),
            (content(0, 1, 2, rest=bytes(4)), CrashedError, "holds 4 bytes of quotients; float32 of shape (2,) has 8"),
            (content(0, 1, 1, rest=bytes(12)), CrashedError, "12 bytes of quotients; float32 of shape (1,) has 4"),
            (content(0, 1, -1), CrashedError, "its answer holds 0 bytes of quotients; float32 of shape (-1,) has -4"),
            (content(0, 1, -1, -1, rest=bytes(4)), CrashedError, "float32 of shape (-1, -1) has 4"),
            (content(0, 1, *[1] * 65, rest=bytes(4)), CrashedError, "bytes, too few for the 65 dimensions"),
            (struct.pack("<IIIIq", 0, 1, 2, 0, 1), CrashedError, "has 24 bytes, too few for the 2 dimensions"),
            (content(0, 77), CrashedError, "is of element type 77, which is not an element type number"),
        ],
        ids=lambda one: one if isinstance(one, str) else "",
    )  # fmt: skip
    def test_none(self, given: bytes, kind: type[Exception], words: str) -> None:
        with pytest.raises(kind, match=re.escape(words)):
            answered(given)


class TestRefused:
    """A program that cannot be started is refused in one line, before anything is asked."""

    @pytest.mark.parametrize(
        ("content", "told"),
        [
            (None, "there is no program '{0}'; give a path, or a name on the PATH"),
            ("-", "the program '{0}' is not executable; chmod +x makes it so"),
            ("no script", "'{0}' cannot be started: Exec format error"),
            ("#!/no/interpreter\n", "'{0}' cannot be started: the interpreter named in its first line does not exist"),
            ("#!/usr/bin/env true\n", "'{0}' cannot be started: the process ended: exit code 0"),
        ],
        ids=["none", "not executable", "no script", "no interpreter", "ends at once"],
    )
    def test_what_is_no_program(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None, told: str
    ) -> None:
        monkeypatch.chdir(tmp_path)
        if content is not None:
            Path("divider").write_text(content)
            Path("divider").chmod(0o644 if content == "-" else 0o755)
        assert message(ModelError, runtime("command:./divider").check) == told.format("./divider")

    def test_others(self, tmp_path: Path) -> None:
        told = message(ModelError, runtime(f"command:{tmp_path}").check)
        assert told.endswith("is a folder; give the path of a program")
        told = message(ModelError, runtime("command:yes").check)
        assert told.startswith("'yes' cannot be started: its output is not an answer: ")

    @pytest.mark.parametrize(
        ("backend", "part"), [("command: ", "names no program"), ("command:'a", "cannot be split")]
    )
    def test_malformed(self, backend: str, part: str) -> None:
        with pytest.raises((AttributeValueError, SpecLookupError), match=part):
            runtime(backend)


class TestReports:
    """Reproducers of programs."""

    def test_the_reproducer_asks_the_same(self) -> None:
        program = runtime(command()).reproducer(FIVE_THIRDS)
        assert "a.tobytes()" in program
        last = output_of(python(program)).splitlines()[-1]
        given = ast.literal_eval(last.partition("answer ")[2].join("''")).replace(" ", "")
        assert bytes.fromhex(given).endswith(np.array([5 / 3, -0.25]).tobytes())

    def test_options_are_arguments(self) -> None:
        made = runtime("command:printf x[width=7,way=a=b]")
        assert "['printf', 'x', '--width=7', '--way=a=b']" in made.reproducer(FIVE_THIRDS)
