"""An object in another process: every call returns, says how it ended, and leaves no process behind."""

from __future__ import annotations

import gc
import os
import pickle
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import psutil
import pytest

from vinculum.errors import AttributeValueError, ModelError
from vinculum.sandbox import Answer, End, Isolated, Limits
from vinculum.sandbox.process import ChildProcess

OBJECTS = "tests.sandbox.isolated_objects"
REFUSE, EXIT = "raise ValueError('two\\nlines')", "sys.exit(given)"
DIE = "os.kill(os.getpid(), signal.Signals[given])"
HANG = "time.sleep(FOREVER)"
SAY_MUCH = """
print("noise " * 1000, flush=True)
print("noise " * 1000, file=sys.stderr, flush=True)
os.write(1, b"noise")
run(python("print('noise')"), stdout=None, stderr=None)
"""
LEAVE_A_COPY = f"""
if os.fork():
    os._exit(3)
{HANG}
"""
SUBJECT = f"{OBJECTS}:Subject"
PROGRAM = "builtins:exec"
"""It makes no object, but runs a program in its place."""
NEVER_MADE = "import time; time.sleep(600)"
TPU = "import vinculum.errors; raise vinculum.errors.AttributeValueError('device is TPU; allowed: CPU')"
MIB = 1 << 20
A_WHILE = 60.0  # Seconds; nothing takes them, but on a machine that does much else.

posix = pytest.mark.skipif(os.name != "posix", reason="Windows has neither signals nor fork")


@pytest.fixture(scope="module")
def subject() -> Iterator[Isolated]:
    """Return an object in another process, with generous limits.

    Tests share it; a test that ends its process leaves a new object to the next.
    """
    with Isolated(SUBJECT, limits=Limits(seconds=A_WHILE)) as isolated:
        yield isolated


def ended(answer: Answer) -> tuple[End, str]:
    assert answer.value is None
    return answer.end, answer.words


class TestReturned:
    """Results are returned, and the object keeps its state between calls."""

    def test_it_is_made_once(self) -> None:
        with Isolated(SUBJECT, 40) as isolated:
            answers = [isolated.call("count") for _ in range(2)]
        assert [(answer.end, answer.value, answer.words) for answer in answers] == [
            (End.RETURNED, 41, ""),
            (End.RETURNED, 42, ""),
        ]


@pytest.mark.usefixtures("started_anew")
class TestStarted:
    """The process has our import path, but not our standard streams."""

    def test_modules_are_found_where_ours_are(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Except in the folder of the program of the process."""
        (tmp_path / "of_the_working_folder.py").write_text("class Thing:\n    def three(self):\n        return 3\n")
        monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
        with Isolated("of_the_working_folder:Thing") as isolated:
            assert isolated.call("three").value == 3
        with Isolated("messages:one_line") as isolated, pytest.raises(ModelError, match="No module named 'messages'"):
            isolated.call("strip")

    def test_nothing_is_printed_or_read(self, capfd: pytest.CaptureFixture[str]) -> None:
        with Isolated(SUBJECT) as isolated:
            assert [isolated.call("do", SAY_MUCH).end, isolated.call("count").value] == [End.RETURNED, 1]
            assert isolated.call("do", "answer = sys.stdin.read()").value == ""
        assert capfd.readouterr() == ("", "")


class TestRefused:
    """An error is a refusal with a message of one line, and the process goes on."""

    @pytest.mark.parametrize(
        ("program", "words"),
        [
            (REFUSE, "two lines"),
            ("raise ForeignPanic('called `unwrap()` on a `None` value')", "called `unwrap()` on a `None` value"),
            ("def nest(): nest()\nnest()", "it is nested too deeply"),
            ("import vinculum; raise vinculum.VinculumError('ours')", "ours"),
            ("raise WithoutWordsError", "WithoutWordsError, which cannot be printed"),
            ("answer = Subject().no_such", "'Subject' object has no attribute 'no_such'"),
        ],
    )
    def test_an_error(self, subject: Isolated, program: str, words: str) -> None:
        before = subject.call("count").value
        assert ended(subject.call("do", program)) == (End.REFUSED, words)
        assert subject.call("count").value == before + 1

    def test_what_a_runtime_lacks(self, subject: Isolated) -> None:
        lack = "raise UnsupportedError('no such\\noperator')"
        assert ended(subject.call("do", lack)) == (End.UNSUPPORTED, "no such operator")

    @pytest.mark.parametrize(
        ("value", "words"),
        [("lambda: None", "builtins.function is neither text"), ("ExitsWhereItIsRead()", "")],
    )
    def test_an_answer_that_is_no_data(self, subject: Isolated, value: str, words: str) -> None:
        before = subject.call("count").value
        end, said = ended(subject.call("do", f"answer = {value}"))
        assert end is End.REFUSED
        assert said.startswith(f"its result cannot be sent: {words}")
        assert "\n" not in said
        assert subject.call("count").value == before + 1


class TestCrashed:
    """A crash is a result that names it; the next call finds a new object."""

    @posix
    @pytest.mark.parametrize("name", ["SIGFPE", "SIGSEGV", "SIGABRT", "SIGKILL"])
    def test_a_signal(self, subject: Isolated, name: str) -> None:
        subject.call("count")
        assert ended(subject.call("do", DIE, name)) == (End.CRASHED, name)
        assert subject.call("count").value == 1

    @posix
    @pytest.mark.parametrize(("how", "words"), [(-8, "SIGFPE"), (7, "exit code 7"), ("it is gone", "it is gone")])
    def test_a_crash_that_is_reported(self, subject: Isolated, how: int | str, words: str) -> None:
        """The object may report the crash of a process of its own, and goes on."""
        count = subject.call("count").value
        assert ended(subject.call("do", "raise CrashedError(given)", how)) == (End.CRASHED, words)
        assert subject.call("count").value == count + 1

    @pytest.mark.parametrize(
        ("program", "code", "words"),
        [
            (EXIT, 7, "exit code 7"),
            (EXIT, None, "exit code 0"),
            (EXIT, "farewell", "exit code 1"),
            ("os._exit(given)", 7, "exit code 7"),
        ],
    )
    def test_an_exit(self, subject: Isolated, program: str, code: object, words: str) -> None:
        assert ended(subject.call("do", program, code)) == (End.CRASHED, words)
        assert subject.call("count").value == 1

    @posix
    def test_a_copy_that_holds_the_pipes(self, subject: Isolated) -> None:
        assert ended(subject.call("do", LEAVE_A_COPY)) == (End.CRASHED, "exit code 3")
        assert subject.call("count").value == 1

    @posix
    def test_a_copy_that_comes_back_does_not_answer(self, subject: Isolated) -> None:
        before = subject.call("count").value
        assert subject.call("do", "os.fork()").end is End.RETURNED
        assert [subject.call("count").value - before for _ in range(3)] == [1, 2, 3]
        assert subject.call("do", "answer = os.waitpid(-1, 0)[1]").value == 0


@pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only")
class TestApart:
    """A call that may end the process is made in a copy of it, if the object allows that."""

    def test_a_copy_ends_alone(self) -> None:
        with Isolated(f"{OBJECTS}:Copied", 40) as isolated:
            process = isolated.call("process").value
            assert isolated.call("process", apart=True).value != process
            assert [isolated.call("count", apart=True).value for _ in range(2)] == [41, 41]
            assert ended(isolated.call("do", DIE, "SIGFPE", apart=True)) == (End.CRASHED, "SIGFPE")
            assert ended(isolated.call("do", "os._exit(0)", apart=True)) == (End.CRASHED, "exit code 0")
            assert isolated.call("do", REFUSE, apart=True).words == "two lines"
            assert isolated.call("process").value == process

    def test_a_copy_that_hangs(self) -> None:
        with Isolated(f"{OBJECTS}:Copied") as isolated:
            assert isolated.call("do", HANG, apart=True, seconds=0.5).end is End.HUNG
            assert isolated.call("count").value == 1

    def test_not_without_leave(self, subject: Isolated) -> None:
        process = subject.call("process").value
        assert subject.call("process", apart=True).value == process


class TestLimits:
    """A process that exceeds a limit is ended; tests/machine tests the large limits."""

    @pytest.mark.parametrize("program", [HANG, "while True: pass"])
    def test_no_answer(self, program: str) -> None:
        with Isolated(SUBJECT, limits=Limits(seconds=A_WHILE)) as isolated:
            process = isolated.call("process").value
            assert ended(isolated.call("do", program, seconds=0.2)) == (End.HUNG, "no answer within 0.2 seconds")
            assert not psutil.pid_exists(process)
            assert isolated.call("count").value == 1

    def test_it_is_never_made(self) -> None:
        with (
            Isolated(PROGRAM, NEVER_MADE, limits=Limits(start=0.2)) as isolated,
            pytest.raises(ModelError, match=r"within 0\.2 seconds$"),
        ):
            isolated.call("count")

    def test_memory_is_refused(self, subject: Isolated) -> None:
        words = "there is not enough memory (8 EiB)"
        assert ended(subject.call("do", "raise MemoryError('8 EiB')")) == (End.OUT_OF_MEMORY, words)

    def test_an_answer_that_is_too_large_here(self, subject: Isolated, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("vinculum.sandbox.isolated.loaded", Mock(side_effect=MemoryError()))
        assert ended(subject.call("count")) == (End.OUT_OF_MEMORY, "there is not enough memory")

    @pytest.mark.parametrize("seconds", [float("nan"), 0.0, -1.0])
    def test_a_limit_that_is_none(self, seconds: float) -> None:
        with pytest.raises(AttributeValueError, match="seconds; give a number above 0"):
            Limits(seconds=seconds)


class TestMaking:
    """If the object cannot be made, every call raises an error of one line."""

    @pytest.mark.parametrize(
        ("maker", "words"),
        [
            (("no_such_package:Thing",), "No module named 'no_such_package'"),
            ((f"{OBJECTS}:NoSuchThing",), f"module '{OBJECTS}' has no attribute 'NoSuchThing'"),
            ((PROGRAM, "raise RuntimeError('no\\nlicence')"), "no licence"),
            pytest.param((PROGRAM, "import os; os.kill(os.getpid(), 11)"), "the process ended: SIGSEGV", marks=posix),
        ],
    )
    def test_foreign_errors(self, maker: tuple[str, ...], words: str) -> None:
        called = maker[0] if len(maker) == 1 else repr(maker[1])
        with Isolated(*maker) as isolated:
            for _ in range(2):
                with pytest.raises(ModelError) as caught:
                    isolated.call("count")
                assert str(caught.value) == f"{called} could not be started in a subprocess: {words}"

    def test_errors_of_ours(self) -> None:
        with Isolated(PROGRAM, TPU) as isolated, pytest.raises(AttributeValueError, match=r"^device is TPU"):
            isolated.call("count")

    def test_it_is_called_by_its_name(self) -> None:
        """The message does not say how it is made."""
        limits = Limits(memory=MIB)
        with (
            Isolated(PROGRAM, NEVER_MADE, limits=limits, called="OpenVINO") as isolated,
            pytest.raises(ModelError) as caught,
        ):
            isolated.call("count")
        words = "OpenVINO could not be started in a subprocess: it took more than 1 MiB of memory"
        assert str(caught.value) == words

    def test_it_cannot_be_made_again(self, tmp_path: Path) -> None:
        with Isolated(f"{OBJECTS}:Once", str(tmp_path / "made")) as isolated:
            assert isolated.call("die").end is End.CRASHED
            with pytest.raises(ModelError, match="File exists"):
                isolated.call("die")

    def test_arguments_that_cannot_be_sent(self, subject: Isolated) -> None:
        before = subject.call("count").value
        with pytest.raises((AttributeError, TypeError, ValueError, pickle.PicklingError), match=r"pickle|local object"):
            subject.call("same", lambda: None)
        assert subject.call("count").value == before + 1


class TestTheEnd:
    """Nothing is left behind: no process, no thread, no open file."""

    def test_closing_twice(self) -> None:
        isolated = Isolated(SUBJECT)
        process = isolated.call("process").value
        isolated.close()
        isolated.close()
        assert not psutil.pid_exists(process)
        with pytest.raises(ValueError, match="closed"):
            isolated.call("count")

    def test_it_is_forgotten(self) -> None:
        isolated = Isolated(SUBJECT)
        process = isolated.call("process").value
        del isolated  # no cycle holds it
        assert not psutil.pid_exists(process)

    @pytest.mark.parametrize("program", ["", EXIT, REFUSE])
    def test_threads_and_files(self, program: str) -> None:
        def held() -> tuple[int, int]:
            """Return the numbers of threads and open files after a process has ended."""
            with Isolated(SUBJECT) as isolated:
                for _ in range(2):
                    isolated.call("do", program)
            return threading.active_count(), psutil.Process().num_fds() if os.name == "posix" else 0

        gc.disable()  # What other tests have left must not make room for what is left here.
        try:
            before = held()
            for _ in range(2):
                assert all(now <= then for now, then in zip(held(), before, strict=True))
        finally:
            gc.enable()

    def test_asking_what_was_ended_meanwhile(self) -> None:
        """An interruption may end a process between its start and its first call."""
        process = ChildProcess()
        process.end()
        assert isinstance(process.ask(b"", A_WHILE, MIB), Answer)

    @posix
    def test_it_does_not_hear_our_interruptions(self, subject: Isolated) -> None:
        assert subject.call("do", "answer = os.getpgid(0)").value != os.getpgid(0)
