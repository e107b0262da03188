"""The floating-point environment of IEEE 754 around NumPy's division, whatever other libraries left in the processor.

A library built with -ffast-math, or a call such as PyTorch's ``set_flush_denormal``, switches the processor to flush
subnormal numbers to zero; the switch holds for every division of the thread.
"""

from __future__ import annotations

import ctypes
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


def _functions() -> tuple[Any, Any, Any] | None:
    """Return C's fegetenv, fesetenv and FE_DFL_ENV where it is known what the C library means by that, else None."""
    try:
        if sys.platform == "darwin":
            library = ctypes.CDLL(None)
            return library.fegetenv, library.fesetenv, ctypes.byref(ctypes.c_char.in_dll(library, "_FE_DFL_ENV"))
        if sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64"):
            try:
                library = ctypes.CDLL("libm.so.6")
            except OSError:  # not glibc but musl, which is one library
                library = ctypes.CDLL(None)
            return library.fegetenv, library.fesetenv, ctypes.c_void_p(-1)
    except (AttributeError, OSError, ValueError):
        pass
    return None


_FUNCTIONS = _functions()


@contextmanager
def ieee_754() -> Iterator[None]:
    """Compute to nearest, with subnormals and without traps and warnings, and leave the environment as it was.

    Raises
    ------
    FloatingPointError
        If the processor computes otherwise, on a platform where this cannot switch it: other than Linux on x86-64 and
        AArch64, and macOS.
    """
    if _FUNCTIONS is None:
        with np.errstate(all="ignore"):
            if not _rounds_to_nearest():
                raise FloatingPointError(
                    "the processor flushes subnormals or does not round to nearest, and cannot be switched here; "
                    "look for what switched it, such as torch.set_flush_denormal(True)"
                )
            yield
        return
    get, set_to, default = _FUNCTIONS
    others = (ctypes.c_uint64 * 16)()  # no C library's fenv_t is larger
    get(others)
    set_to(default)
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        set_to(others)


def _rounds_to_nearest() -> bool:
    """Whether the smallest subnormal is kept, and thirds of either sign are rounded to nearest."""
    quotients = np.array([1, 0x3F80_0000, 0xBF80_0000], np.uint32).view(np.float32) / np.array([1, 3, 3], np.float32)
    return bool(quotients.view(np.uint32).tolist() == [1, 0x3EAA_AAAB, 0xBEAA_AAAB])
