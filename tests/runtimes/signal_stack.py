"""The alternate stack on which Python handles signals, which OpenVINO can leave unmapped.

Each of its CPU plugins installs a stack of its own, and restores the previous one when it ends. If plugins do not end
last in, first out, the restored stack belongs to a plugin that has ended; the next signal then kills the process.
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
