"""ONNX Cast between types that divide, rounded once, and with one meaning where the standard leaves it open.

The reference evaluator rounds some values twice on their way to bfloat16, and leaves floats beyond an integer type to
the processor. Here both are as in `vinculum.models.conversion`, which the layer Convert of OpenVINO follows too: so a
model and its conversion to the other format give the same bits.
"""

from __future__ import annotations

from typing import Any

from onnx.reference.op_run import OpRun
from onnx.reference.ops import load_op

from vinculum.errors import SpecLookupError
from vinculum.models.conversion import convert
from vinculum.spec.element_types import REAL, ElementType, by_onnx_code
from vinculum.tensors.storage import element_type_of_dtype

BOOL = 9
"""The number of bool in ``onnx.TensorProto.DataType``."""


class Cast(OpRun):
    """ONNX Cast; what this package does not convert, the evaluator's own does."""

    def _run(self, x: Any, to: int | None = None, **options: Any) -> Any:
        target = _target(to)
        if target is not None and _is_ours(element_type_of_dtype(x.dtype), x.dtype == bool, target, options):
            return (convert(x, target),)
        # The newest one has the attributes of all, and their defaults are what the older ones do.
        return load_op("", "Cast")._run(self, x, to=to, **options)


def _target(to: int | None) -> ElementType | str | None:
    if to == BOOL:
        return "bool"
    try:
        return by_onnx_code(to or 0)
    except SpecLookupError:
        return None


def _is_ours(source: ElementType | None, boolean: bool, target: ElementType | str, options: dict[str, Any]) -> bool:
    if source is REAL or (source is None and not boolean):
        return False  # Objects are strings here.
    if isinstance(target, str):
        return True
    if target.binary_format is not None:
        # Saturating is the standard's default for types of 8 bits, and only theirs.
        return target.bits > 8 or not options.get("saturate", 1)
    # ONNX's own tests expect that floats beyond a type of 4 bits lose their high bits.
    return target.bits > 4 or source is None or source.is_integer
