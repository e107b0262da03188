"""Sessions of ONNX Runtime, which only this file makes. It imports little: children that run models do too."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from types import ModuleType
from typing import Any

from vinculum.errors import ModelError
from vinculum.text import one_line

IR_VERSION = 10  # The newest that every version of ONNX Runtime reads that we allow.


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
    """Return a session on the CPU that says nothing on standard error.

    - `model`: serialised, or the path of a file.
    - `threads`: how many it has, 0 for as many as ONNX Runtime likes best.
    - `initializers`: the model's initializers that it declares as external; they must live as long as the session.
    - `short_runs`: whether it is one of many that run for a short time, one after the other.
    """
    options = onnxruntime().SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    if short_runs:
        for name, value in _settings().items():
            options.add_session_config_entry(name, value)
        options.enable_mem_pattern = False  # To plan memory ahead costs short runs more than it saves.
    else:  # It is run once or twice: threads that stay awake for the next run only take time from others.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if initializers:
        options.add_external_initializers(list(initializers), list(initializers.values()))
    # With fallback it would print, and then try the same again.
    return onnxruntime().InferenceSession(model, options, providers=["CPUExecutionProvider"], enable_fallback=0)


@cache
def _settings() -> dict[str, str]:
    """Return what is measured to be best for many short runs, one after the other, in sessions of their own.

    An idle thread waits 30 microseconds for the next operator and then sleeps: awake it would take a processor from
    the divisions and from the other sessions' threads. What the sessions compute lies in one arena, so that each finds
    in the caches what the one before has left. Weights do not: a model that is dropped gives their memory back.
    """
    settings = {"session.intra_op.spin_duration_us": "30", "session.force_spinning_stop": "1"}
    runtime = onnxruntime()
    arena = runtime.OrtAllocatorType.ORT_ARENA_ALLOCATOR
    try:
        # Of the sessions in the process only those with the entries below use it.
        runtime.create_and_register_allocator(runtime.OrtMemoryInfo("Cpu", arena, 0, runtime.OrtMemType.DEFAULT), None)
    except Exception:  # Its exceptions have no base in common; without an arena for all, each session has its own.
        return settings
    return {**settings, "session.use_env_allocators": "1", "session.use_device_allocator_for_initializers": "1"}


def reason_of(error: Exception) -> str:
    """Return what ONNX Runtime says, without its codes and the places in its sources."""
    words = re.sub(r"\[ONNXRuntimeError\] : \d+ : \w+ : ", "", str(error))
    words = re.sub(r"Non-zero status code returned while running .*? Status Message: ", "", words)
    words = re.sub(r"/\S+\.(cc|h):\d+ [^)]*\)( const)?( \[with [^\]]*\])? ", "", words)
    return one_line(Exception(words.strip().rstrip(".")))
