"""Exact division for tensor programs.

Every division operator of ONNX, OpenVINO and SONNX, right to the last bit.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import threading
from typing import TYPE_CHECKING, Any

from vinculum.errors import (
    AttributeValueError,
    BroadcastError,
    ConstraintError,
    DifferenceError,
    DivisionByZeroError,
    ElementTypeError,
    IntegerOverflowError,
    ModelError,
    SpecLookupError,
    VinculumError,
)
from vinculum.version import __version__ as __version__

if TYPE_CHECKING:
    from vinculum import backend as backend
    from vinculum import onnxruntime as onnxruntime
    from vinculum import openvino as openvino
    from vinculum import sonnx as sonnx
    from vinculum import stored as stored
    from vinculum.analysis import check as check
    from vinculum.analysis import trace as trace
    from vinculum.conformance.audit.audit import audit as audit
    from vinculum.kernels.threads import get_threads as get_threads
    from vinculum.kernels.threads import set_threads as set_threads
    from vinculum.kernels.threads import threads as threads
    from vinculum.models import load as load
    from vinculum.models.engines.reference.operators import reference_ops as reference_ops
    from vinculum.models.rewritten import convert as convert
    from vinculum.ops.flooring import divmod as divmod
    from vinculum.ops.flooring import floor_divide as floor_divide
    from vinculum.ops.flooring import remainder as remainder
    from vinculum.ops.onnx import div as div
    from vinculum.ops.onnx import reciprocal as reciprocal
    from vinculum.ops.openvino import divide as divide
    from vinculum.ops.operator import Operator as Operator
    from vinculum.repair.file_hardening import harden as harden

__all__ = [
    "AttributeValueError",
    "BroadcastError",
    "ConstraintError",
    "DifferenceError",
    "DivisionByZeroError",
    "ElementTypeError",
    "IntegerOverflowError",
    "ModelError",
    "Operator",
    "SpecLookupError",
    "VinculumError",
    "audit",
    "backend",
    "check",
    "convert",
    "div",
    "divide",
    "divmod",
    "floor_divide",
    "get_threads",
    "harden",
    "load",
    "onnxruntime",
    "openvino",
    "reciprocal",
    "reference_ops",
    "remainder",
    "set_threads",
    "sonnx",
    "stored",
    "threads",
    "trace",
]


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__") and name.endswith("__"))})


# Imported on first use: importing NumPy takes most of the time of --help, and onnx longer than everything else.
_HOMES = {
    **{name: f"vinculum.{name}" for name in ("backend", "onnxruntime", "openvino", "sonnx", "stored")},
    **dict.fromkeys(("check", "trace"), "vinculum.analysis"),
    "audit": "vinculum.conformance.audit.audit",
    **dict.fromkeys(("get_threads", "set_threads", "threads"), "vinculum.kernels.threads"),
    "load": "vinculum.models",
    "reference_ops": "vinculum.models.engines.reference.operators",
    "convert": "vinculum.models.rewritten",
    "harden": "vinculum.repair.file_hardening",
    **dict.fromkeys(("divmod", "floor_divide", "remainder"), "vinculum.ops.flooring"),
    **dict.fromkeys(("div", "reciprocal"), "vinculum.ops.onnx"),
    "divide": "vinculum.ops.openvino",
    "Operator": "vinculum.ops.operator",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = importlib.import_module(_HOMES[name])
    found: Any = home if home.__name__ == f"vinculum.{name}" else getattr(home, name)
    globals()[name] = found
    return found


def _finish_imports() -> None:
    """Finish before a fork the imports of a first division: a child would wait for ever for another thread's import."""
    if threading.active_count() == 1:
        return
    for name in ("vinculum.ops.onnx", "vinculum.ops.openvino", "vinculum.kernels.compiled"):
        with contextlib.suppress(ModuleNotFoundError):  # there may be no compiled core
            importlib.import_module(name)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_finish_imports)
