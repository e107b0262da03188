"""Sessions of ONNX Runtime, created only here.

Child processes import this module too, so it imports little.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache
from types import ModuleType
from typing import Any

from vinculum.errors import MissingPackageError
from vinculum.text import one_line, pip_install

IR_VERSION = 10  # The newest that all supported versions of ONNX Runtime read.
NUMBERS = {"float16": "float16", "float32": "float", "float64": "double", "bool": "bool"}
NUMBERS |= {f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
"""NumPy's own types, and ONNX Runtime's names for them."""
TENSORS = {f"tensor({name})" for name in NUMBERS.values()}


@cache
def onnxruntime() -> ModuleType:
    """Return the onnxruntime package; MissingPackageError if it cannot be imported."""
    try:
        import onnxruntime as package
    except ImportError as error:
        raise MissingPackageError(
            f"the engine 'onnxruntime' needs the package onnxruntime ({one_line(error)}); "
            f"install it: {pip_install('onnxruntime')}"
        ) from None
    return package  # type: ignore[no-any-return]  # it ships no types


def new_session(
    model: bytes | str,
    *,
    options: Any = None,
    threads: int = 0,
    initializers: Mapping[str, Any] | None = None,
    disabled: Collection[str] = (),
) -> Any:
    """Return a session on the CPU that writes nothing to standard error.

    - `model`: serialised, or the path of a file.
    - `options`: its `SessionOptions`; without them, the session is for one or two runs.
    - `threads`: their number, 0 for ONNX Runtime's default.
    - `initializers`: those that the model declares as external; they must live as long as the session.
    - `disabled`: the optimizers to switch off.
    """
    if options is None:
        options = onnxruntime().SessionOptions()
        # Threads that spin for the next run only take time from others.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    if initializers:
        options.add_external_initializers(list(initializers), list(initializers.values()))
    # With fallback, ONNX Runtime would print a message and then try the same provider again.
    return onnxruntime().InferenceSession(
        model, options, providers=["CPUExecutionProvider"], enable_fallback=0, disabled_optimizers=list(disabled)
    )


def reason_of(error: Exception) -> str:
    """Return ONNX Runtime's message without its codes and source locations."""
    words = re.sub(r"\[ONNXRuntimeError\] : \d+ : \w+ : ", "", str(error))
    words = re.sub(r"Non-zero status code returned while running .*? Status Message: ", "", words)
    words = re.sub(r"/\S+\.(cc|h):\d+ [^)]*\)( const)?( \[with [^\]]*\])? ", "", words)
    return one_line(Exception(words.strip().rstrip(".")))
