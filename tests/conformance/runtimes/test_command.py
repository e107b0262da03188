"""Any program behind `command:`: the bytes that it is asked with, what it answers, and every way in which it ends."""

from __future__ import annotations

import ast
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.conformance.asking import message, operation
from tests.processes import output_of, python
from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.runtimes.backends import MAKER, runtime
from vinculum.errors import AttributeValueError, ModelError, SpecLookupError
from vinculum.sandbox import Answer, End, Isolated, Limits
from vinculum.spec.onnx_div import DIV_6, DIV_14
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.spec.sonnx_div import DIV_REAL

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no signals, and no such programs")

PROGRAM = Path(__file__).with_name("pipe_program.py")
SOURCE = Path(__file__).parents[3] / "examples" / "divider.c"
FIVE_THIRDS = operation(DIV_14, np.array([5.0, -1.0]), np.array([3.0, 4.0]))


def command(*arguments: str) -> str:
    return f"command:'{sys.executable}' '{PROGRAM}' {' '.join(arguments)}"


def asked(backend: str, *operations: Operation, limits: Limits | None = None) -> list[tuple[End, str]]:
    """Return how the answers to operations end, of one process that is asked one after the other."""
    with Isolated(MAKER, backend, limits=limits) as isolated:
        answers: list[Answer] = [isolated.call("answer", each) for each in operations]
    return [(answer.end, answer.words) for answer in answers]


def given(asked: Operation) -> NDArray[Any]:
    """Return the quotient that the program gives."""
    with Isolated(MAKER, command()) as isolated:
        quotient: NDArray[Any] = isolated.call("answer", asked).value
    return quotient


class TestAnswers:
    """What a program answers is a quotient, not supported, or a refusal, each as it says."""

    def test_a_quotient(self) -> None:
        quotient = given(FIVE_THIRDS)
        assert (quotient.dtype.name, quotient.tobytes()) == ("float64", np.array([5 / 3, -0.25]).tobytes())

    def test_every_byte_of_an_operation_arrives(self) -> None:
        """It tells what it reads: the standard, version, rounding, attributes of each kind, and the operands."""
        a = np.array([[-3], [7]], np.int8)
        divide = operation(DIVIDE_1, a, a, constant=(True, False), m_pythondiv=True, auto_broadcast="numpy")
        div = operation(DIV_6, a.astype(np.int32), a.astype(np.int32), axis=-1, consumed_inputs=(0, 9))
        (_, of_divide), (end, of_div) = asked(command(), divide, div)
        assert end is End.REFUSED
        attributes = [("m_pythondiv", (1,)), ("auto_broadcast", "numpy")]
        tensor = (3, [2, 1], [-3, 7])
        assert of_divide.replace("\0", "").split() == f"openvino Divide 1 2 {attributes} {tensor}".split()
        tensor = (6, [2, 1], [-3, 7])
        assert of_div.split() == f"onnx Div 6 1 {[('axis', (-1,)), ('consumed_inputs', (0, 9))]} {tensor}".split()

    def test_reals_are_not_covered(self) -> None:
        made = runtime(command())
        assert made.covers(FIVE_THIRDS)
        assert not made.covers(operation(DIV_REAL, np.array([1], object), np.array([1], object)))


class TestEnds:
    """However it ends, that is what became of the one operation, and the next is asked of a new process."""

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
            ("--status", "the status of its answer is 9; allowed: 0 quotient, 1 not supported, 2 refused"),
            ("--short", "its answer has 1 bytes; one has at least 16"),
        ],
    )
    def test_a_crash(self, way: str, words: str) -> None:
        ends = asked(command(way), FIVE_THIRDS, FIVE_THIRDS, FIVE_THIRDS)
        assert ends == [(End.RETURNED, ""), (End.CRASHED, words), (End.RETURNED, "")]

    def test_answers_that_do_not_fit(self, tmp_path: Path) -> None:
        """Elements that are too few, dimensions below zero, and a type that is none."""
        program = tmp_path / "wrong.py"
        for code, dims, data, words in (
            (1, [2], bytes(4), "its answer holds 4 bytes of quotients; float32 of shape (2,) has 8"),
            (1, [1], bytes(12), "its answer holds 12 bytes of quotients; float32 of shape (1,) has 4"),
            (1, [-1], b"", "its answer holds 0 bytes of quotients; float32 of shape (-1,) has -4"),
            (77, [], bytes(8), "its answer is of element type 77, which is not an element type number"),
        ):
            program.write_text(
                "import struct, sys\n"
                "sys.stdin.buffer.read(*struct.unpack('<Q', sys.stdin.buffer.read(8)))\n"
                f"content = struct.pack('<IIII{len(dims)}q', 0, {code}, {len(dims)}, 0, *{dims}) + {data!r}\n"
                "sys.stdout.buffer.write(struct.pack('<Q', len(content)) + content)\n"
            )
            assert asked(f"command:{shlex.join([sys.executable, str(program)])}", FIVE_THIRDS) == [(End.CRASHED, words)]


class TestRefused:
    """What cannot be started is one clear line, before anything is asked."""

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
    """What is written down of a program."""

    def test_the_reproducer_asks_the_same(self) -> None:
        program = runtime(command()).reproducer(FIVE_THIRDS)
        assert "a.tobytes()" in program
        last = output_of(python(program)).splitlines()[-1]
        given = ast.literal_eval(last.partition("answer ")[2].join("''")).replace(" ", "")
        assert bytes.fromhex(given).endswith(np.array([5 / 3, -0.25]).tobytes())

    def test_options_are_arguments(self) -> None:
        made = runtime("command:printf x[width=7,way=a=b]")
        assert "['printf', 'x', '--width=7', '--way=a=b']" in made.reproducer(FIVE_THIRDS)
