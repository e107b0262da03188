"""Operands whose elements lie apart are read by whole vectors, but never beyond the first and the last."""

from __future__ import annotations

import signal
import sys

import pytest

from tests.processes import output_of, python, run

NAMES = ("int8", "uint16", "int32", "int64", "float16", "float64")
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
# Divides operands that fill such memory to the first and to the last byte.
DIVISIONS = f"""
import vinculum

STEPS, NAMES = {STEPS}, {NAMES}
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
        assert output_of(python(PAGES + DIVISIONS)) == "untouched\n"

    def test_the_pages_are_forbidden(self) -> None:
        """Else the test above would prove nothing."""
        beyond = "np.lib.stride_tricks.as_strided(between_forbidden_pages(), (BYTES + 1,))[-1]"
        assert run(python(PAGES + beyond)).returncode == -signal.SIGSEGV
