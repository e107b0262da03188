"""Divides stored arrays in processes that kill themselves by SIGKILL at a moment: ``python killed.py A B``.

It reads lines with a moment and the name of a result, forks a process that divides, and writes how that ended and how
many moments there were. A moment is a call that changes a file or brings it to the disk, counted from 1; what is
written then is written by half. With moment 0 it lives.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
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
PIPES: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}


def divided(process: Any, moment: int, out: str) -> tuple[int, int]:
    """Let this program, started with PIPES, divide; return the exit code and the moments there were, 0 if killed."""
    print(moment, out, file=process.stdin, flush=True)
    code, moments = process.stdout.readline().split()
    return int(code), int(moments)


def main() -> None:
    """Fork a process for each line."""
    import vinculum.stored  # noqa: F401 - what is imported is no moment, and takes long

    a, b = sys.argv[1:]
    for line in sys.stdin:
        moment, out = line.rstrip("\n").split(" ", 1)
        if out.endswith("zarr"):
            import_module("zarr")
        their_end, end = os.pipe()
        if not (child := os.fork()):
            os.write(end, b"%d" % divide(int(moment), a, b, out))
            os._exit(0)
        os.close(end)
        with os.fdopen(their_end) as pipe:
            moments = int(pipe.read() or 0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), moments, flush=True)


def divide(fatal: int, a: str, b: str, c: str) -> int:
    """Divide, as far as that goes, and return how many moments there were."""
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

    from vinculum import stored

    for name in CHANGING:
        setattr(os, name, counted(getattr(os, name), name))
    fcntl.flock = counted(fcntl.flock, "flock")
    stored.divide(a, b, c, task_bytes=TASK_BYTES)
    return moments


if __name__ == "__main__":
    main()
