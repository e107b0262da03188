"""The stack of this thread on which Python handles signals, which OpenVINO can leave unmapped.

Each of its CPU plugins sets one of its own while it exists, then the one that it found. Where two plugins do not end in
the opposite order of their beginnings, that is the stack of the other, which is gone: the next signal ends the process.
"""

from __future__ import annotations

import ctypes
import sys


class _Stack(ctypes.Structure):
    """`stack_t` of Linux."""

    _fields_ = (("start", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t))


_remembered = _Stack()


def remember() -> None:
    """Remember the stack of this thread."""
    if sys.platform == "linux":
        ctypes.CDLL(None).sigaltstack(None, ctypes.byref(_remembered))


def restore() -> None:
    """Set the remembered stack again."""
    if sys.platform == "linux":
        ctypes.CDLL(None).sigaltstack(ctypes.byref(_remembered), None)
