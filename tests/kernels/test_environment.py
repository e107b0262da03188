"""Other floating-point environments: results stay exact, and the environment is restored."""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pytest

import vinculum
from tests.kernels.comparing import FLOATS, assert_same, random_encodings
from tests.kernels.many_threads import in_threads
from vinculum.conformance.arithmetic.catalogue import catalogue
from vinculum.errors import AttributeValueError
from vinculum.spec.element_types import by_numpy_name

Array = npt.NDArray[Any]
Result = TypeVar("Result")

pytestmark = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "aarch64") or platform.libc_ver()[0] != "glibc",
    reason="reads and writes the control word by glibc's fegetenv for x86-64 and AArch64; kernels switch it there only",
)

# Two bits for the rounding direction, results flushed to zero, operands flushed to zero.
if platform.machine() == "aarch64":  # FPCR, in which one bit flushes both
    DOWN, UP, TO_ZERO, FLUSH_RESULTS, FLUSH_OPERANDS = 0x80_0000, 0x40_0000, 0xC0_0000, 0x100_0000, 0x100_0000
    _CONTROL_WORD = 0  # its place in glibc's fenv_t
else:  # MXCSR
    DOWN, UP, TO_ZERO, FLUSH_RESULTS, FLUSH_OPERANDS = 0x2000, 0x4000, 0x6000, 0x8000, 0x0040
    _CONTROL_WORD = 7  # after the seven words of the x87
CONTROL = TO_ZERO | FLUSH_RESULTS | FLUSH_OPERANDS
SETTINGS = {
    "down": DOWN,
    "up": UP,
    "to zero": TO_ZERO,
    "flush results": FLUSH_RESULTS,
    "flush operands": FLUSH_OPERANDS,
    "up, flush both": UP | FLUSH_RESULTS | FLUSH_OPERANDS,
}


class _Environment:
    """The control word of this thread, read and written by the C library."""

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
    """Run with a control word, and check that it is unchanged afterwards."""
    environment = _Environment()
    before = environment.read()
    environment.write(control)
    try:
        yield
        assert environment.read() == control
    finally:
        environment.write(before)


# The encodings up to here are subnormal, or normal of the least exponents.
_TINY = {"float16": 0x07FF, "bfloat16": 0x00FF, "float32": 0x00FF_FFFF, "float64": 0x001F_FFFF_FFFF_FFFF}


def operands(name: str, shape: tuple[int, int] = (16, 67)) -> tuple[Array, Array]:
    """Return operands: half of the floats are tiny, so that operands and quotients are subnormal."""
    a, b = random_encodings(name, shape, 0), random_encodings(name, shape, 1)
    if name in FLOATS:
        for x in (a, b):
            bits = x.view(f"u{x.dtype.itemsize}")
            sign = bits.dtype.type(1 << (8 * x.dtype.itemsize - 1))
            bits[: len(bits) // 2] &= sign | bits.dtype.type(_TINY[name])
    return a, b


def in_a_thread_of_its_own(run: Callable[[int], Result], control: int) -> Result:
    """Run in a thread, so that other tests keep their environment."""
    return in_threads(run, [control])[0]


def in_every_setting(run: Callable[[], Result]) -> Iterator[Result]:
    """Yield what a function returns in each environment."""

    def switched(control: int) -> Result:
        with switched_to(control):
            return run()

    for control in SETTINGS.values():
        yield in_a_thread_of_its_own(switched, control)


class TestEnvironment:
    """Results are rounded to nearest and keep subnormals in every environment."""

    def test_the_settings_matter(self) -> None:
        """The tester is tested: NumPy's own division does change."""
        a, b = operands("float32")
        with np.errstate(all="ignore"):
            expected = a / b

        def divided_by_numpy() -> Array:
            with np.errstate(all="ignore"):
                quotient: Array = a / b
                return quotient

        for quotient in in_every_setting(divided_by_numpy):
            with pytest.raises(AssertionError):
                assert_same(quotient, expected)

    @pytest.mark.parametrize("name", ["float16", "float32", "float64"])
    def test_sonnx_stays_the_same(self, name: str) -> None:
        a, b = (x[:8].copy() for x in operands(name))
        b[0, :3], a[0, :2] = 0, 0

        def everything() -> tuple[Any, ...]:
            accuracy = vinculum.sonnx.accuracy(a, b, 0.0, 0.0)
            bounds = (accuracy.propagated, accuracy.introduced, accuracy.total)
            return vinculum.sonnx.div(a, b), vinculum.sonnx.error_conditions(a, b), bounds

        expected = everything()
        for quotient, conditions, bounds in in_every_setting(everything):
            assert_same(quotient, expected[0])
            assert conditions == expected[1]
            for bound, other in zip(bounds, expected[2], strict=True):
                assert_same(bound, other)

    @pytest.mark.parametrize("name", ["float16", "float32", "float64", "python", "scalar", "list"])
    def test_errors_of_operands_may_be_subnormal(self, name: str) -> None:
        """They are read by their encodings, whatever their type."""
        ones = np.ones(3)
        dtype = name if name.startswith("float") else "float32" if name in ("scalar", "list") else "float64"
        array = np.array([1, 5, 9], f"u{np.dtype(dtype).itemsize}").view(dtype)
        smallest = {"float16": -24, "float32": -149, "float64": -1074}[dtype]
        given: Any = {"python": array.tolist(), "scalar": array[1], "list": list(array)}.get(name, array)
        expected = np.ldexp(np.array([5.0] * 3 if name == "scalar" else [1.0, 5.0, 9.0]), smallest)
        for bounds in in_every_setting(lambda: vinculum.sonnx.accuracy(ones, ones, given, 0).propagated):
            assert_same(bounds, expected)

    @pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64"])
    def test_what_verdicts_are_drawn_from(self, name: str) -> None:
        """The models of arithmetic with which a runtime's quotients are compared."""
        a, b = operands(name, (8, 67))
        element_type = by_numpy_name(name)

        def everything() -> list[Array]:
            return [way.quotients(a, b) for way in catalogue(element_type)[::20]]

        expected = everything()
        for found in in_every_setting(everything):
            for one, other in zip(found, expected, strict=True):
                assert_same(one, other)

    @pytest.mark.parametrize("below", [-5e-324, np.float32(-1e-45), np.array([-5e-324]), [np.float32(-1e-45)]])
    def test_errors_below_zero_are_refused(self, below: Any) -> None:
        def refused() -> bool:
            with pytest.raises(AttributeValueError, match=r"^a_err holds "):
                vinculum.sonnx.accuracy(np.ones(1), np.ones(1), below, 0)
            return True

        assert all(in_every_setting(refused))
