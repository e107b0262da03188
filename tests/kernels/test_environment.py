"""The floating-point environment that others left in the thread: results stay exact, and it is kept."""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pytest

import vinculum
from tests import processes
from tests.kernels.comparing import DTYPES, FLOATS, INTEGERS, assert_same
from tests.kernels.many_threads import in_threads
from tests.kernels.samples import operands, quotients

Array = npt.NDArray[Any]
Result = TypeVar("Result")

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or platform.libc_ver()[0] != "glibc",
    reason="reads and writes the control word by glibc's fegetenv for x86-64; kernels switch it on x86 only",
)

# MXCSR: two bits for the rounding direction, results flushed to zero, operands flushed to zero.
DOWN, UP, TO_ZERO, FLUSH_RESULTS, FLUSH_OPERANDS = 0x2000, 0x4000, 0x6000, 0x8000, 0x0040
CONTROL = TO_ZERO | FLUSH_RESULTS | FLUSH_OPERANDS
SETTINGS = {
    "down": DOWN,
    "up": UP,
    "to zero": TO_ZERO,
    "flush results": FLUSH_RESULTS,
    "flush operands": FLUSH_OPERANDS,
    "up, flush both": UP | FLUSH_RESULTS | FLUSH_OPERANDS,
}
_CONTROL_WORD = 7  # its place in glibc's fenv_t, after the seven words of the x87


class _Environment:
    """The control word of this thread, by the C library."""

    def __init__(self) -> None:
        self._libm = ctypes.CDLL("libm.so.6")
        self._words = (ctypes.c_uint32 * 8)()

    def read(self) -> int:
        self._libm.fegetenv(self._words)
        return self._words[_CONTROL_WORD] & CONTROL

    def write(self, control: int) -> None:
        self._libm.fegetenv(self._words)
        self._words[_CONTROL_WORD] = (self._words[_CONTROL_WORD] & ~CONTROL) | control
        self._libm.fesetenv(self._words)


@contextmanager
def switched_to(control: int) -> Iterator[None]:
    """Run with a control word in force, and check that what ran has kept it."""
    environment = _Environment()
    before = environment.read()
    environment.write(control)
    try:
        yield
        assert environment.read() == control
    finally:
        environment.write(before)


def in_a_thread_of_its_own(run: Callable[[int], Result], control: int) -> Result:
    """Keep what happens to the environment away from the other tests."""
    return in_threads(run, [control])[0]


@pytest.mark.clause("ieee-754")
@pytest.mark.clause("truncating-division")
class TestEnvironment:
    """Correct rounding, to nearest with subnormals kept, whatever other libraries switched the processor to."""

    def test_the_settings_matter(self) -> None:
        """The tester is tested: NumPy's own division does change."""
        a, b = operands("float32")
        with np.errstate(all="ignore"):
            expected = a / b

        def divided_by_numpy(control: int) -> Array:
            with switched_to(control), np.errstate(all="ignore"):
                quotient: Array = a / b
                return quotient

        for control in SETTINGS.values():
            with pytest.raises(AssertionError):
                assert_same(in_a_thread_of_its_own(divided_by_numpy, control), expected)

    @pytest.mark.parametrize("name", [*FLOATS, *INTEGERS])
    def test_quotients_stay_the_same(self, name: str) -> None:
        expected = quotients(name)

        def divided(control: int) -> list[Array]:
            with switched_to(control):
                return quotients(name)

        for control in SETTINGS.values():
            results = in_a_thread_of_its_own(divided, control)
            for result, other in zip(results, expected, strict=True):
                assert_same(result, other)

    @pytest.mark.parametrize("name", ["float16", "float32", "float64"])
    @pytest.mark.clause("zero-by-zero-error-condition")
    def test_sonnx_stays_the_same(self, name: str) -> None:
        a, b = (x[:8].copy() for x in operands(name))
        b[0, :3], a[0, :2] = 0, 0

        def everything() -> tuple[Any, ...]:
            accuracy = vinculum.sonnx.accuracy(a, b, 0.0, 0.0)
            bounds = (accuracy.propagated, accuracy.introduced, accuracy.total)
            return vinculum.sonnx.div(a, b), vinculum.sonnx.error_conditions(a, b), bounds

        expected = everything()

        def computed(control: int) -> tuple[Any, ...]:
            with switched_to(control):
                return everything()

        for control in SETTINGS.values():
            quotient, conditions, bounds = in_a_thread_of_its_own(computed, control)
            assert_same(quotient, expected[0])
            assert conditions == expected[1]
            for bound, other in zip(bounds, expected[2], strict=True):
                assert_same(bound, other)

    def test_pytorch_flushing_subnormals(self, torch_or_skip: ModuleType) -> None:
        expected = {name: quotients(name) for name in FLOATS}

        def divided(switch: int) -> dict[str, list[Array]]:
            assert torch_or_skip.set_flush_denormal(bool(switch))
            results = {name: quotients(name) for name in FLOATS}
            assert torch_or_skip.tensor([1e-38]).div(8).item() == 0  # it is still switched on
            return results

        results = in_a_thread_of_its_own(divided, 1)
        for name in FLOATS:
            for result, other in zip(results[name], expected[name], strict=True):
                assert_same(result, other)

    def test_c_rounding_direction(self) -> None:
        libm = ctypes.CDLL("libm.so.6")
        expected = {name: quotients(name) for name in DTYPES}

        def divided(direction: int) -> dict[str, list[Array]]:
            assert libm.fesetround(direction) == 0
            results = {name: quotients(name) for name in DTYPES}
            assert libm.fegetround() == direction
            libm.fesetround(0)
            return results

        for direction in (0x400, 0x800, 0xC00):  # down, up, toward zero
            results = in_a_thread_of_its_own(divided, direction)
            for name in DTYPES:
                for result, other in zip(results[name], expected[name], strict=True):
                    assert_same(result, other)

    def test_exceptions_that_would_kill_the_process(self) -> None:
        """A debugging aid, feenableexcept, makes the processor signal x/0, 0/0 and overflow."""
        program = (
            "import ctypes, numpy, vinculum\n"
            "a, b = numpy.float32([1, 0, 1e38, 1]), numpy.float32([0, 0, 1e-38, 3])\n"
            "ctypes.CDLL('libm.so.6').feenableexcept(1 | 4 | 8)\n"
            "print(vinculum.div(a, b).view(numpy.uint32)[[0, 2, 3]].tolist())"
        )
        done = processes.run(processes.python(program))
        assert (done.returncode, done.stdout.strip()) == (0, str([0x7F80_0000, 0x7F80_0000, 0x3EAA_AAAB])), done.stderr
