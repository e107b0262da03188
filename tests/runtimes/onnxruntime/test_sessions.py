"""Sessions that have the library: registering, threads, processes, subnormals and versions."""

from __future__ import annotations

import os

import numpy as np
import onnx.parser
import onnxruntime
import pytest

import vinculum
from tests.kernels.comparing import assert_same
from tests.kernels.many_threads import in_threads
from tests.processes import importing, python, run
from tests.runtimes.onnxruntime.sessions import Session, text_of
from vinculum.onnxruntime import get_library_path


class TestRegistering:
    """The library is registered once with session options, which have their own policies."""

    def test_defaults_are_those_of_register(self) -> None:
        options = onnxruntime.SessionOptions()
        options.register_custom_ops_library(get_library_path())
        model = onnx.parser.parse_model(text_of("c = Div(a, b)", "int32")).SerializeToString()
        session, smallest = onnxruntime.InferenceSession(model, options), np.array([[-(2**31)]], np.int32)
        assert session.run(None, {"a": smallest, "b": np.array([[-1]], np.int32)})[0] == smallest
        with pytest.raises(Exception, match="1 of 1 divisors are zero"):
            session.run(None, {"a": smallest, "b": smallest * 0})

    def test_sessions_of_other_policies_beside_each_other(self) -> None:
        chosen = {"zero": 0, "saturate": np.iinfo(np.int32).max}
        sessions = {policy: Session(text_of("c = Div(a, b)", "int32"), zero_divisor=policy) for policy in chosen}
        plain = Session(text_of("c = Div(a, b)", "int32"), exact=False)
        for _ in range(3):
            for policy, quotient in chosen.items():
                assert sessions[policy](np.array([[9]], np.int32), np.array([[0]], np.int32)).tolist() == [[quotient]]
            assert plain(np.array([[9]], np.int32), np.array([[2]], np.int32)).tolist() == [[4]]


def printed(program: str) -> str:
    """Return what a Python program prints, which must end well and write no message."""
    ended = run(python(program, "-W", "ignore"), env=importing())
    assert (ended.returncode, ended.stderr) == (0, "")
    return str(ended.stdout)


class TestThreads:
    """Many threads may run a session while other sessions and our own functions divide."""

    A, B = np.arange(-150_000, 150_000, dtype=np.int64).reshape(3, -1), np.array([[7], [-3], [11]], np.int64)

    def test_two_sessions_and_divisions_without_a_session(self) -> None:
        sessions = [Session(text_of(f"c = {op}(a, b)", "int64"), threads=2) for op in ("Div", "Mod")]
        expected = [vinculum.div(self.A, self.B), vinculum.remainder(self.A, self.B)]

        def work(number: int) -> None:
            for _ in range(20):
                if number < 6:
                    assert_same(sessions[number % 2](self.A, self.B), expected[number % 2])
                else:
                    assert_same(vinculum.div(self.A, self.B), expected[0])

        in_threads(work, range(8))

    @pytest.mark.parametrize("threads", [1, 2, 4])
    def test_one_session_and_errors_in_some(self, threads: int) -> None:
        """A run that fails disturbs no other run of the session, neither at the same time nor later."""
        session, expected = Session(text_of("c = Div(a, b)", "int64"), threads=threads), vinculum.div(self.A, self.B)

        def work(number: int) -> None:
            for _ in range(20):
                if number % 2:
                    with pytest.raises(
                        Exception, match=r"100000 of 300000 divisors are zero, the first at index .1, 0."
                    ):
                        session(self.A, np.array([[7], [0], [11]], np.int64))
                else:
                    assert_same(session(self.A, self.B), expected)

        in_threads(work, range(8))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system forks no processes")
@pytest.mark.parametrize("before", ["", "divide()", "vinculum.div(A, B)", "divide(); vinculum.div(A, B)"])
def test_sessions_after_a_fork(before: str) -> None:
    """Whatever divided before the fork: each session starts threads of its own."""
    program = f"""
import os
import numpy as np
import vinculum
from tests.runtimes.onnxruntime.sessions import Session, text_of
A, B = np.arange(300_000, dtype=np.int64).reshape(3, -1), np.array([[7], [-3], [11]], np.int64)
def divide():
    quotients = Session(text_of("c = Div(a, b)", "int64"), threads=2)(A, B)
    assert (quotients == vinculum.div(A, B)).all()
{before}
child = os.fork()
divide()
if child == 0:
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print("divided in both")
"""
    assert printed(program) == "divided in both\n"


def test_subnormals_where_sessions_flush_them() -> None:
    """Our operators keep them, even if other operators flush them. The first session of a process decides that."""
    program = """
import numpy as np
from tests.kernels.comparing import DTYPES
from tests.runtimes.onnxruntime.sessions import Session, text_of
def run(node, name):
    session = Session(text_of(node, name), entries={"session.set_denormal_as_zero": "1"}, threads=2)
    dtype = DTYPES[name]
    tiny = np.full((300, 400), 12, f"u{dtype.itemsize}").view(dtype)
    return session(tiny, np.full((1, 1), 3, dtype)).view(f"u{dtype.itemsize}")
assert not run("c = Mul(a, b)", "float32").any()
for name in ("float32", "float64", "float16", "bfloat16"):
    assert (run("c = Div(a, b)", name) == 4).all(), name
    assert (run("c = Mod <fmod=1> (a, b)", name) == 12).all(), name
assert not run("c = Mul(a, b)", "float32").any()
print("kept")
"""
    assert printed(program) == "kept\n"


def test_messages_of_registration() -> None:
    """Nothing: an older ONNX Runtime would complain if it were asked for a version of the interface that it lacks."""
    program = """
import onnxruntime, vinculum.onnxruntime
vinculum.onnxruntime.register(onnxruntime.SessionOptions())
"""
    assert printed(program) == ""
