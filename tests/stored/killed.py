"""Divides stored arrays and kills itself by SIGKILL at a moment: ``python killed.py MOMENT A B C``.

A moment is a call that changes a file or brings it to the disk, counted from 1; what is written then is written by
half. With moment 0 it lives, and prints how many there were.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from itertools import count
from threading import Lock
from typing import Any

CHANGING = (
    *("write", "pwrite", "ftruncate", "posix_fallocate", "fsync", "fdatasync"),
    *("open", "rename", "replace", "unlink", "rmdir", "mkdir"),
)
TASK_BYTES = 4096


def main() -> None:
    """Divide, as far as that goes."""
    fatal, a, b, c = int(sys.argv[1]), *sys.argv[2:5]
    numbers, lock = count(1), Lock()
    moments = 0

    def counted(call: Callable[..., Any], name: str) -> Callable[..., Any]:
        def instead(*arguments: Any, **options: Any) -> Any:
            nonlocal moments
            with lock:
                moments = next(numbers)
                if moments == fatal:
                    if name in ("write", "pwrite"):
                        call(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2], *arguments[2:])
                    os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments, **options)

        return instead

    from vinculum.stored import divide  # what is imported is no moment

    if c.endswith("zarr"):
        import_module("zarr")
    for name in CHANGING:
        setattr(os, name, counted(getattr(os, name), name))
    fcntl.flock = counted(fcntl.flock, "flock")
    divide(a, b, c, task_bytes=TASK_BYTES)
    print(moments)


if __name__ == "__main__":
    main()
