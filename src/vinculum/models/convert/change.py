"""What a conversion hands back: the model, and what was changed in it and why."""

from __future__ import annotations

from dataclasses import dataclass

from onnx import ModelProto
from onnx.defs import onnx_opset_version

from vinculum.errors import AttributeValueError

Reason = tuple[str, str]
"""What was done to a node, and what asked for it."""


@dataclass(frozen=True)
class Change:
    """One node that is not what it was.

    Attributes
    ----------
    node : str
        What messages call it: ``"node 'ratio' (Div-14)"``.
    what : str
        What was done, in words: ``"operands cast to int32, quotient cast back"``.
    why : str
        What asked for it: ``"Div-13 has no int8"``.
    """

    node: str
    what: str
    why: str


@dataclass(frozen=True, eq=False)
class OnnxConversion:
    """A model that was of another operator set or format.

    Attributes
    ----------
    model : ModelProto
        Of the operator set that was asked for.
    changes : tuple of Change
        Every node that is not only written as it was, and every input that is declared otherwise.
    """

    model: ModelProto
    changes: tuple[Change, ...]


def check_opset(opset: int) -> None:
    """Refuse an operator set that the onnx package does not know."""
    if not 1 <= opset <= onnx_opset_version():
        raise AttributeValueError(f"operator set {opset} is not known; allowed: 1 to {onnx_opset_version()}")
