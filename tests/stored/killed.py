"""Divides stored arrays in processes that kill themselves at a given moment: ``python killed.py A B``.

It reads lines with a moment and the name of a result, forks a process that divides, and writes how that ended. A moment
is two numbers: how many lines with finished blocks the process has added to the journal, and how many calls it has then
begun that change a file or bring it to the disk; the last one writes one half. With 0 calls it lives.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any

CHANGING = (
    *("write", "pwrite", "ftruncate", "posix_fallocate", "fsync", "fdatasync"),
    *("open", "rename", "replace", "link", "unlink", "rmdir", "mkdir"),
)
TASK_BYTES = 4096
PIPES: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}


def divided(process: Any, lines: int, calls: int, out: str) -> int:
    """Let this program, started with PIPES, divide; return the exit code."""
    print(lines, calls, out, file=process.stdin, flush=True)
    return int(process.stdout.readline())


def finished(journal: Path) -> list[int]:
    """Return the finished blocks by the journal; none without a journal."""
    whole = journal.read_bytes().split(b"\n")[:-1] if journal.exists() else []
    return [json.loads(line.partition(b" ")[2])["start"] for line in whole if b'{"start":' in line]


def main() -> None:
    """Fork a process for each line."""
    import vinculum.stored  # noqa: F401 - what is imported is no moment, and takes long

    a, b = sys.argv[1:]
    for line in sys.stdin:
        lines, calls, out = line.rstrip("\n").split(" ", 2)
        if "zarr" in a + out:
            import_module("zarr")
        if not (child := os.fork()):
            divide(int(lines), int(calls), a, b, out)
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def divide(lines: int, calls: int, a: str, b: str, c: str) -> None:
    """Divide until the moment comes."""
    lock = Lock()
    left = [lines, calls]

    def counted(call: Callable[..., Any], name: str) -> Callable[..., Any]:
        def instead(*arguments: Any, **options: Any) -> Any:
            with lock:
                if left[0] <= 0:
                    left[1] -= 1
                    if left[1] == 0:
                        if name in ("write", "pwrite"):
                            call(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2], *arguments[2:])
                        os.kill(os.getpid(), signal.SIGKILL)
                if name == "write" and b'{"start":' in bytes(arguments[1]):
                    left[0] -= 1
                    return call(*arguments, **options)  # before any thread may end the process
            return call(*arguments, **options)

        return instead

    from vinculum import stored

    for name in CHANGING:
        setattr(os, name, counted(getattr(os, name), name))
    fcntl.flock = counted(fcntl.flock, "flock")
    stored.divide(a, b, c, task_bytes=TASK_BYTES)


if __name__ == "__main__":
    main()
