"""Operands whose elements lie apart or in the other byte order are gathered by vectors: rightly, never too far."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import vinculum
from tests.kernels.comparing import DTYPES, FLOATS, assert_same, random_encodings
from tests.kernels.layouts import byte_swapped
from tests.kernels.processes import run, same_cache

NAMES = ("int8", "uint16", "int32", "int64", "float16", "float64")
STEPS = (-5, -4, -3, -2, -1, 1, 2, 3, 4, 5)

# Divides operands that fill their pages to the first and to the last byte, pages around them that nobody may touch.
PROGRAM = f"""
import ctypes, itertools, mmap, sys
import numpy as np
import vinculum

STEPS, NAMES = {STEPS}, {NAMES}
PAGE, BYTES = mmap.PAGESIZE, 4 * mmap.PAGESIZE
protect = ctypes.CDLL(None, use_errno=True).mprotect
protect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int

def between_forbidden_pages():
    memory = np.frombuffer(mmap.mmap(-1, BYTES + 2 * PAGE), np.uint8)
    begin = memory.__array_interface__["data"][0]
    for page in begin, begin + PAGE + BYTES:
        assert protect(page, PAGE, 0) == 0, ctypes.get_errno()
    return memory[PAGE : PAGE + BYTES]

if sys.argv[1:] == ["beyond"]:
    memory = between_forbidden_pages()
    np.lib.stride_tricks.as_strided(memory, (BYTES + 1,))[-1]

dividends, divisors = between_forbidden_pages(), between_forbidden_pages()
for name in NAMES:
    elements, ones = dividends.view(name), divisors.view(name)
    elements[:] = np.arange(elements.size) % 50
    ones[:] = 1
    in_line = 64 // elements.itemsize
    for step, lines, more in itertools.product(STEPS, (0, 1, 2, 40), (0, 1, in_line - 1)):
        span = (lines * in_line + more) * abs(step)
        if not 0 < span < elements.size:
            continue
        # What the last element is followed by belongs to nobody.
        for at_end in False, True:
            cut = slice(elements.size - span + abs(step) - 1, None) if at_end else slice(span - abs(step) + 1)
            x, y = elements[cut][::step], ones[cut][::step]
            assert np.array_equal(vinculum.div(x, y), x), (name, step, lines, more, at_end)
print("untouched")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="pages are forbidden by mprotect")
class TestForbiddenPages:
    """Vectors are read whole, but nothing before the first element or after the last."""

    def test_beside_the_operands(self) -> None:
        assert run(["-c", PROGRAM], same_cache()) == "untouched\n"

    def test_the_pages_are_forbidden(self) -> None:
        """Else the test above would prove nothing."""
        with pytest.raises(AssertionError, match="exit code -11"):
            run(["-c", PROGRAM, "beyond"], same_cache())


@pytest.mark.parametrize("name", [name for name in DTYPES if name != "bfloat16"])  # ml_dtypes knows one order of it
class TestByteOrder:
    """Quotients of operands in the other byte order are those of copies in this one."""

    @pytest.mark.parametrize("step", STEPS)
    def test_at_any_distance(self, name: str, step: int) -> None:
        policies: dict[str, Any] = {} if name in FLOATS else {"zero_divisor": "saturate", "overflow": "saturate"}
        a, b = (random_encodings(name, (5003,), seed)[::step] for seed in (1, 2))
        x, y = byte_swapped(a), byte_swapped(b)
        expected = vinculum.divide(a, b, **policies)
        for dividend, divisor in ((x, y), (x, b), (a, y), (np.repeat(x, abs(step))[:: abs(step)], y)):
            assert_same(vinculum.divide(dividend, divisor, **policies), expected)
        one = vinculum.divide(a, b[:1], **policies)
        assert_same(vinculum.divide(x, y[:1], **policies), one)
        assert_same(vinculum.divide(a, y[:1], **policies), one)

    def test_in_place(self, name: str) -> None:
        """The result takes the memory that held the dividends in the other order."""
        a = np.ones(3001, DTYPES[name])
        foreign = a.view(a.dtype.newbyteorder())
        foreign[:] = np.arange(3001) % 100
        expected = foreign.astype(a.dtype)
        assert vinculum.div(foreign, np.ones_like(a), out=a) is a
        assert_same(a, expected)

    def test_the_result_is_in_this_order(self, name: str) -> None:
        ones = byte_swapped(np.ones(3, DTYPES[name]))
        assert ones.dtype.isnative == (name in ("int8", "uint8"))
        results = [vinculum.div(ones, ones)] + ([vinculum.reciprocal(ones)] if name in FLOATS else [])
        for result in results:
            assert (result.dtype, result.dtype.isnative) == (DTYPES[name], True)
            assert result.tolist() == [1, 1, 1]
