"""Sessions of ONNX Runtime, created only here. Child processes import this module too, so it imports little."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from types import ModuleType
from typing import Any

from vinculum.errors import ModelError
from vinculum.text import one_line

IR_VERSION = 10  # The newest that all supported versions of ONNX Runtime read.


@cache
def onnxruntime() -> ModuleType:
    """Return the onnxruntime package; ModelError if it cannot be imported."""
    try:
        import onnxruntime as package
    except ImportError as error:
        raise ModelError(
            f"the engine 'onnxruntime' needs the package onnxruntime ({one_line(error)}); "
            "install it: pip install 'vinculum-div[onnxruntime]'"
        ) from None
    return package  # type: ignore[no-any-return]  # it ships no types


def new_session(
    model: bytes | str, *, threads: int = 0, initializers: Mapping[str, Any] | None = None, short_runs: bool = False
) -> Any:
    """Return a session on the CPU that writes nothing to standard error.

    - `model`: serialised, or the path of a file.
    - `threads`: their number, 0 for ONNX Runtime's default.
    - `initializers`: those that the model declares as external; they must live as long as the session.
    - `short_runs`: whether the session is one of many with short runs, one after the other.
    """
    options = onnxruntime().SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    if short_runs:
        for name, value in _settings().items():
            options.add_session_config_entry(name, value)
        options.enable_mem_pattern = False  # Planning memory costs short runs more than it saves.
    else:  # The session runs once or twice: threads that spin for the next run only take time from others.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if initializers:
        options.add_external_initializers(list(initializers), list(initializers.values()))
    # With fallback, ONNX Runtime would print a message and then try the same provider again.
    return onnxruntime().InferenceSession(model, options, providers=["CPUExecutionProvider"], enable_fallback=0)


@cache
def _settings() -> dict[str, str]:
    """Return the settings measured to be the fastest for many sessions with short runs, one after the other.

    An idle thread spins for 30 microseconds and then sleeps: longer spinning would take a processor from the divisions
    and from the other sessions' threads. All sessions compute in one arena, so that each finds the results of the one
    before in the caches. Weights are outside the arena, so that their memory is freed with the model.
    """
    settings = {"session.intra_op.spin_duration_us": "30", "session.force_spinning_stop": "1"}
    runtime = onnxruntime()
    arena = runtime.OrtAllocatorType.ORT_ARENA_ALLOCATOR
    try:
        # Only sessions with the entries below use it.
        runtime.create_and_register_allocator(runtime.OrtMemoryInfo("Cpu", arena, 0, runtime.OrtMemType.DEFAULT), None)
    except Exception:  # Its exceptions have no common base. Without the shared arena, each session has its own.
        return settings
    return {**settings, "session.use_env_allocators": "1", "session.use_device_allocator_for_initializers": "1"}


def reason_of(error: Exception) -> str:
    """Return ONNX Runtime's message without its codes and source locations."""
    words = re.sub(r"\[ONNXRuntimeError\] : \d+ : \w+ : ", "", str(error))
    words = re.sub(r"Non-zero status code returned while running .*? Status Message: ", "", words)
    words = re.sub(r"/\S+\.(cc|h):\d+ [^)]*\)( const)?( \[with [^\]]*\])? ", "", words)
    return one_line(Exception(words.strip().rstrip(".")))
