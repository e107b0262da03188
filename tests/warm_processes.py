"""Processes of the sandbox that need not import everything anew: each is forked from a server that has.

Run as a program with the address of a socket this file is that server. A forked process has folder, variables, pipes,
session and end of its own, as one that the sandbox starts; `tests.sandbox` is about those, and has no others.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import os
import pickle
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, NoReturn

from tests import fake_runtime, processes
from vinculum.sandbox import child, process

IMPORTED = (
    "onnx.reference",
    "vinculum.analysis.tracing.trace",
    "vinculum.analysis.witness.search",
    "vinculum.conformance.audit.audit",
    "vinculum.conformance.audit.onnx_subject",
    "vinculum.conformance.audit.openvino_subject",
    "vinculum.conformance.run.suite",
    "vinculum.conformance.runtimes.onnx_loaders",
    "vinculum.conformance.runtimes.onnxruntime",
    "vinculum.conformance.runtimes.openvino",
    "vinculum.conformance.runtimes.vinculum_itself",
    "vinculum.models.engines.model_runner",
    "vinculum.models.engines.openvino.reading",
)
"""What processes of the sandbox import."""
FOREIGN = ("openvino", "torch", "jax.numpy")
"""And in tests of real runtimes. ONNX Runtime starts a thread as it is imported, which no copy would have."""
_SESSION = 7200.0  # Seconds that a server may live.
_READY = b"ready"
_THREADED = b"threads"  # What was imported has started threads, which would not be in the copies.


class WarmProcess:
    """A process forked from the server, as `vinculum.sandbox.process` wants one."""

    def __init__(self, address: str) -> None:
        their_calls, calls = os.pipe()
        answers, their_answers = os.pipe()
        self._server = socket.socket(socket.AF_UNIX)
        self._server.connect(address)
        surroundings = pickle.dumps((str(Path.cwd()), dict(os.environ)))
        socket.send_fds(self._server, [len(surroundings).to_bytes(8)], [their_calls, their_answers])
        self._server.sendall(surroundings)
        os.close(their_calls)
        os.close(their_answers)
        self.stdin: BinaryIO = os.fdopen(calls, "wb")
        self.stdout: BinaryIO = os.fdopen(answers, "rb")
        number = self._server.recv(8, socket.MSG_WAITALL)
        assert len(number) == 8, "the server of processes has ended"
        self.pid = int.from_bytes(number)
        self.returncode: int | None = None
        self._waiting = Lock()  # One thread reads how it ended; others wait for that thread.

    def poll(self) -> int | None:
        """Return the exit code if it has ended."""
        with suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it ends."""
        if not self._waiting.acquire(timeout=-1 if timeout is None else timeout):
            raise subprocess.TimeoutExpired("a process of the server", timeout or 0)
        try:
            if self.returncode is None:
                self._server.settimeout(timeout)
                try:
                    status = self._server.recv(4)  # It is sent at once.
                except (TimeoutError, BlockingIOError):
                    raise subprocess.TimeoutExpired("a process of the server", timeout or 0) from None
                # The server ends with the tests, before the last objects do, which kill their processes.
                self.returncode = os.waitstatus_to_exitcode(int.from_bytes(status)) if status else -signal.SIGKILL
                self._server.close()
            return self.returncode
        finally:
            self._waiting.release()

    def kill(self) -> None:
        """End it."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


class Server:
    """A server of processes, which is started for the first of them; a context manager."""

    def __init__(self) -> None:
        self._started = ExitStack()
        self._starting = Lock()
        self._address: str | None = None

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self._started.close()

    def address(self) -> str:
        """Return where it listens; empty where processes cannot be forked or waited for, and are started instead."""
        with self._starting:
            if self._address is None and not hasattr(os, "pidfd_open"):
                self._address = ""
            if self._address is None:
                folder = self._started.enter_context(tempfile.TemporaryDirectory())
                address = str(Path(folder) / "server")
                told, telling = os.pipe()
                command = [sys.executable, "-P", __file__, address, str(telling)]
                options: dict[str, Any] = {
                    "env": processes.importing(),
                    "pass_fds": [telling],
                    "stdin": subprocess.PIPE,
                }
                self._started.enter_context(processes.started(command, limit=_SESSION, **options))
                os.close(telling)
                with os.fdopen(told, "rb") as pipe:
                    answer = pipe.read()
                assert answer in (_READY, _THREADED), "the server of processes has not started"
                self._address = address if answer == _READY else ""
            return self._address


def fork_from(address: Callable[[], str]) -> None:
    """Have this process's sandbox fork what it starts from the server that listens there."""
    new = process.start
    process.start = lambda: WarmProcess(found) if (found := address()) else new()  # type: ignore[assignment,return-value]


def serve(address: str, told: int) -> None:
    """Fork a process for each connection, and tell how it ended, until whoever started this one is gone."""
    fake_runtime.hide_runtimes()
    sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]  # it would fork and use the network
    for name in (*IMPORTED, *(name for name in FOREIGN if importlib.util.find_spec(name.partition(".")[0]))):
        importlib.import_module(name)
    if len(list(Path("/proc/self/task").iterdir())) > 1:
        os.write(told, _THREADED)
        return
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listener, selectors.DefaultSelector() as selector:
        listener.bind(address)
        listener.listen(64)
        with os.fdopen(told, "wb") as pipe:
            pipe.write(_READY)
        selector.register(listener, selectors.EVENT_READ)
        selector.register(sys.stdin, selectors.EVENT_READ)  # its end: nothing is written there
        while True:
            for key, _ in selector.select():
                if key.fileobj is sys.stdin:
                    return
                if key.fileobj is listener:
                    connection, _ = listener.accept()
                    if (number := os.fork()) == 0:
                        _run(connection)
                    selector.register(os.pidfd_open(number), selectors.EVENT_READ, (number, connection))
                else:
                    number, connection = key.data
                    selector.unregister(key.fd)
                    os.close(key.fd)
                    _, status = os.waitpid(number, 0)
                    with connection, suppress(OSError):  # nobody may wait for it any more
                        connection.sendall(status.to_bytes(4))


def _run(connection: socket.socket) -> NoReturn:
    """Be the process that was asked for."""
    try:
        os.setsid()
        size, pipes, _, _ = socket.recv_fds(connection, 8, 2)
        folder, variables = pickle.loads(connection.recv(int.from_bytes(size), socket.MSG_WAITALL))
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(variables)
        fake_runtime.hide_runtimes()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for place, descriptor in enumerate((*pipes, nowhere)):
            os.dup2(descriptor, place)
        connection.sendall(os.getpid().to_bytes(8))
        os.closerange(3, 1024)
        child.main()
    finally:  # Whatever it was, the process ends here.
        os._exit(1)


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
