"""The child process of `isolated`: makes an object and calls its methods until the pipe closes.

It is run as a file, with the import path as an argument. Its output is discarded. When the pipe of the calls closes,
the process ends, even if it is busy. Both sides exchange frames: a mark, a number, a length, and that many bytes.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from queue import SimpleQueue
from threading import Thread
from typing import Any, BinaryIO

APART, HERE = b"apart", b"here"
"""The first line of the frame of a call: whether a copy of the process may answer it."""
_HEADER = struct.Struct("<4sQQ")
_MARK = b"\x93vnc"

Outcome = tuple[str, Any, str]
"""The name of an `End`, the value returned, and words."""


def write_frame(pipe: BinaryIO, number: int, content: bytes) -> None:
    """Write a frame; OSError if the pipe is closed."""
    pipe.write(_HEADER.pack(_MARK, number, len(content)))
    pipe.write(content)
    pipe.flush()


def read_frame(pipe: BinaryIO, number: int) -> bytes:
    """Return the content of the next frame.

    EOFError if the pipe ends before the frame does. ValueError if it is no frame, or one with another number.
    """
    mark, given, length = _HEADER.unpack(_read(pipe, _HEADER.size))
    if (mark, given) != (_MARK, number):
        raise ValueError("the bytes written are not the frame expected")
    return _read(pipe, length)


def _read(pipe: BinaryIO, length: int) -> bytes:
    content = pipe.read(length)
    if len(content) < length:
        raise EOFError
    return content


def main() -> None:
    """Answer calls; the first makes the object."""
    # Importing OpenVINO sends telemetry, which forks the process and needs the network; a call here must do neither.
    sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]  # how Python refuses to import a module
    calls_pipe, answers_pipe = _own_pipes()
    calls: SimpleQueue[bytes] = SimpleQueue()
    # A thread reads, so that the end of the pipe ends a process that is busy or hangs.
    Thread(target=_read_calls, args=(calls_pipe, calls), daemon=True).start()
    path, maker, arguments = pickle.loads(calls.get())
    sys.path[:] = path
    own, number = os.getpid(), 0
    made: list[Any] = []
    content = _answer(partial(_make, maker, arguments, made), making=True)
    while True:
        if os.getpid() != own:  # A copy of this process, forked in a call, must not answer too.
            os._exit(0)
        write_frame(answers_pipe, number, content)
        number += 1
        apart, frame = calls.get().split(b"\n", 1)
        action = partial(_call, made, frame)
        content = _in_a_copy(action) if apart == APART and _may_be_copied(made[0]) else _answer(action)


def _own_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Keep standard input and output for the frames; the output of a runtime is not an answer."""
    calls, answers = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
    return os.fdopen(calls, "rb"), os.fdopen(answers, "wb")


def _read_calls(pipe: BinaryIO, calls: SimpleQueue[bytes]) -> None:
    number = 0
    try:
        while True:
            calls.put(read_frame(pipe, number))
            number += 1
    finally:
        _end_all()


def _end_all() -> None:
    """End this process and its children, such as a runtime's process, which does not notice that the pipe closes."""
    if os.name == "posix" and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def _make(maker: str, arguments: bytes, made: list[Any]) -> None:
    module, _, attribute = maker.partition(":")
    made.append(getattr(import_module(module), attribute)(*pickle.loads(arguments)))


def _call(made: list[Any], frame: bytes) -> Any:
    method, arguments = pickle.loads(frame)
    return getattr(made[0], method)(*arguments)


def _may_be_copied(made: Any) -> bool:
    """Tell whether an object is the same in a copy of the process, to which no thread is copied."""
    return sys.platform == "linux" and getattr(made, "survives_fork", False) is True


def _in_a_copy(action: Callable[[], Any]) -> bytes:
    """Return the outcome, as bytes, of an action in a copy of this process, so that it can only end the copy."""
    from vinculum.sandbox.answer import death_words
    from vinculum.sandbox.plain import dumped

    reading, writing = os.pipe()
    copy = os.fork()
    if not copy:
        own, content = os.getpid(), _answer(action)
        if os.getpid() == own:  # A copy of the copy must not answer too.
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(content)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        content = pipe.read()
    code = os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1])
    return content if content and not code else dumped(("CRASHED", None, death_words(code)))


def _answer(action: Callable[[], Any], *, making: bool = False) -> bytes:
    """Return the outcome of an action as bytes."""
    from vinculum.sandbox.plain import dumped

    outcome = _outcome(action, making)
    try:
        return dumped(outcome)
    except BaseException as error:  # The result may be of any class, with any attributes.
        return dumped(("REFUSED", None, f"its result cannot be sent: {_words(error)}"))


def _outcome(action: Callable[[], Any], making: bool) -> Outcome:
    from vinculum.errors import VinculumError
    from vinculum.sandbox.answer import CrashedError, UnsupportedError

    try:
        return "RETURNED", action(), ""
    except SystemExit as error:
        os._exit(_exit_code(error.code))
    except UnsupportedError as error:
        return "UNSUPPORTED", None, _words(error)
    except CrashedError as error:
        return "CRASHED", None, _words(error)
    except MemoryError as error:
        return "OUT_OF_MEMORY", None, _words(error)
    except BaseException as error:  # Extensions may raise errors outside Exception, such as a panic in Rust.
        ours = making and isinstance(error, VinculumError)
        return "REFUSED", error if ours else None, _words(error)


def _exit_code(code: object) -> int:
    """Return the exit code that Python gives a process for the argument of `sys.exit`."""
    if code is None:
        return 0
    return code & 0xFF if isinstance(code, int) else 1


def _words(error: BaseException) -> str:
    from vinculum.text import one_line

    try:
        return one_line(error)
    except Exception:  # Foreign classes may fail to make their text.
        return f"{type(error).__name__}, which cannot be printed"


if __name__ == "__main__":
    main()
