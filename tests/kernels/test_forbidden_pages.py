"""Vectors of operands and quotients never extend beyond the first and the last element."""

from __future__ import annotations

import signal
import sys

import pytest

from tests.processes import importing, output_of, python, run

# Of each size; and those that are divided by vectors of their own.
NAMES = ("int8", "uint16", "int32", "int64", "float16", "bfloat16", "float64")
STEPS = (-5, -4, -3, -2, -1, 1, 2, 3, 4, 5)

# Makes memory of which every byte may be touched, between pages that nobody may touch.
PAGES = """
import ctypes, itertools, mmap
import numpy as np

PAGE, BYTES = mmap.PAGESIZE, 4 * mmap.PAGESIZE
protect = ctypes.CDLL(None, use_errno=True).mprotect
protect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int

def between_forbidden_pages():
    memory = np.frombuffer(mmap.mmap(-1, BYTES + 2 * PAGE), np.uint8)
    begin = memory.__array_interface__["data"][0]
    for page in begin, begin + PAGE + BYTES:
        assert protect(page, PAGE, 0) == 0, ctypes.get_errno()
    return memory[PAGE : PAGE + BYTES]

"""
# Divides operands that fill such memory to the first and to the last byte, and has quotients fill it.
DIVISIONS = f"""
from vinculum.kernels import backends
from tests.kernels.witness import DTYPES, arithmetic

STEPS, NAMES = {STEPS}, {NAMES}
dividends, divisors, quotients = (between_forbidden_pages() for _ in range(3))
divisions = [backend.division(arithmetic()) for backend in backends()]

def check(*case):
    # What is beside the first and the last element belongs to nobody.
    for division in divisions:
        for a, b, out in ((x, y, None), (x, y[:1], None), (x[:1], y, None), (whole, ones, z), (whole, one, z)):
            result = division(a, b, out)
            assert result is not None and (result == a).all(), (*case, division, a.strides, b.strides)

def at_an_end(memory, shape, strides, at_end):
    span = sum((size - 1) * abs(step) for size, step in zip(shape, strides)) + elements.itemsize
    begin = memory.nbytes - span if at_end else 0
    begin += sum((size - 1) * -step for size, step in zip(shape, strides) if step < 0)
    return np.ndarray(shape, elements.dtype, memory, begin, strides)

for name in NAMES:
    elements = dividends.view(DTYPES[name])
    elements[:] = 1
    divisors.view(DTYPES[name])[:] = 1
    one, size = np.ones((), DTYPES[name]), elements.itemsize
    in_line = 64 // size
    for step, lines, more, at_end in itertools.product(STEPS, (0, 1, 2, 40), (0, 1, in_line - 1), (False, True)):
        count = lines * in_line + more
        if not 0 < count * abs(step) < elements.size:
            continue
        whole = ones = np.ones(count, DTYPES[name])
        x, y, z = (at_an_end(m, whole.shape, (step * size,), at_end) for m in (dividends, divisors, quotients))
        check(name, step, lines, more, at_end)
    # Columns are read by squares.
    for rows, columns, at_end in itertools.product((16, 33, 70), (1, 7, 16, 29), (False, True)):
        whole = ones = np.ones((columns, rows), DTYPES[name])
        strides = size, columns * size
        x, y, z = (at_an_end(m, whole.shape, strides, at_end) for m in (dividends, divisors, quotients))
        check(name, rows, columns, at_end)
print("untouched")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="pages are forbidden by mprotect")
class TestForbiddenPages:
    """No target accesses memory before the first element or after the last, at any stride."""

    def test_beside_the_elements(self) -> None:
        assert output_of(python(PAGES + DIVISIONS), env=importing()) == "untouched\n"

    def test_the_pages_are_forbidden(self) -> None:
        """Else the test above would prove nothing."""
        beyond = "np.lib.stride_tricks.as_strided(between_forbidden_pages(), (BYTES + 1,))[-1]"
        assert run(python(PAGES + beyond)).returncode == -signal.SIGSEGV
