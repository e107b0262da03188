"""The result of a conversion: the model, what was changed in it, and why."""

from __future__ import annotations

from dataclasses import dataclass

from onnx import ModelProto
from onnx.defs import onnx_opset_version

from vinculum.errors import AttributeValueError

FIRST_TARGET = 7
"""The first operator set that models are converted to: runtimes have no kernels of the divisions before."""
Reason = tuple[str, str]
"""What was done to a node, and why."""


@dataclass(frozen=True)
class Change:
    """A change to one node.

    Attributes
    ----------
    node : str
        Its title in messages: ``"node 'ratio' (Div-14)"``.
    what : str
        What was done: ``"operands cast to int32, quotient cast back"``.
    why : str
        The reason: ``"Div-13 has no int8"``.
    """

    node: str
    what: str
    why: str


@dataclass(frozen=True, eq=False)
class OnnxConversion:
    """A model converted from another operator set or format.

    Attributes
    ----------
    model : ModelProto
        In the requested operator set.
    changes : tuple of Change
        Every node that was rewritten, and every input whose declaration changed.
    """

    model: ModelProto
    changes: tuple[Change, ...]


def check_opset(opset: int) -> None:
    """Refuse a target operator set that the onnx package does not support, or that has Div-1 or Div-6."""
    if not FIRST_TARGET <= opset <= onnx_opset_version():
        raise AttributeValueError(
            f"models are not converted to operator set {opset}; allowed: {FIRST_TARGET} to {onnx_opset_version()}"
        )
