"""Exact division for tensor programs.

Every division operator of ONNX, OpenVINO and SONNX, right to the last bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vinculum import sonnx
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
from vinculum.kernels.threads import get_threads, set_threads, threads
from vinculum.ops.flooring import divmod, floor_divide, remainder
from vinculum.ops.onnx import div, reciprocal
from vinculum.ops.openvino import divide
from vinculum.ops.operator import Operator

if TYPE_CHECKING:
    from vinculum import backend as backend
    from vinculum import openvino as openvino
    from vinculum import stored as stored
    from vinculum.analysis import check as check
    from vinculum.analysis import trace as trace
    from vinculum.models import load as load
    from vinculum.models.engines.reference.operators import reference_ops as reference_ops
    from vinculum.models.rewritten import convert as convert
    from vinculum.models.rewritten import harden as harden

__version__ = "0.2.0"

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
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    # The onnx package takes longer to import than everything else here; only a model needs it.
    if name == "load":
        from vinculum.models import load

        return load
    if name in ("check", "trace"):
        from vinculum import analysis

        return getattr(analysis, name)
    if name in ("convert", "harden"):
        from vinculum.models import rewritten

        return getattr(rewritten, name)
    if name in ("backend", "openvino", "stored"):
        from importlib import import_module

        return import_module(f"vinculum.{name}")
    if name == "reference_ops":
        from vinculum.models.engines.reference.operators import reference_ops

        return reference_ops
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
