"""One node as a transfer function sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onnx import NodeProto, TensorProto, helper

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, anything
from vinculum.analysis.domain.dimensions import LARGEST_DECLARED, Dimension, Shape, unknown_size, variable
from vinculum.analysis.domain.numbering import Numbering


@dataclass(frozen=True, slots=True)
class Expected:
    """What ONNX's own inference says of a value: its element type, empty if it is not known, and its shape."""

    element_type: str = ""
    shape: Shape | None = None


NOTHING = Expected()
"""What inference says of a value that it does not know."""


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One node: operator, attributes, what its results are declared to be, and the values known so far."""

    operator: str  # Its name, without a domain.
    opset: int  # The version of the operator set that it is of.
    attributes: Mapping[str, Any]  # Those that are set, by name.
    results: tuple[Expected, ...]  # One for each output, those left out included.
    values: Numbering  # How operands are computed.
    narrowed: str = "float32"  # What float32 is taken for.
    in_body: bool = False  # Whether it is in the body that defines an operator; runtimes have their own ways there.

    def attribute(self, name: str, default: Any) -> Any:
        """Return an attribute, or what it is where it is not set."""
        return self.attributes.get(name, default)

    def element_type(self, code: int) -> str:
        """Return the element type of a number of ONNX's."""
        return named_type(code, self.narrowed)

    def expected(self, place: int = 0) -> Expected:
        """Return what an output is declared to be."""
        return self.results[place] if place < len(self.results) else NOTHING

    def anything(self, place: int = 0) -> AbstractTensor:
        """Return what may be anything that the output is declared to be."""
        return anything(self.expected(place).element_type, self.expected(place).shape)


def key_of(node: NodeProto) -> tuple[str, str]:
    """Return a node's operator as tables have it: its domain, empty for ONNX's own, and its name."""
    return "" if node.domain == "ai.onnx" else node.domain, node.op_type


Operand = AbstractTensor | None
Result = AbstractTensor | Sequence[AbstractTensor]
Transfer = Callable[..., Result]
"""Takes a call and its operands, None for one that is left out."""

_NAMES = {
    code: "string" if code == TensorProto.STRING else helper.tensor_dtype_to_np_dtype(code).name
    for code in TensorProto.DataType.values()
    if code != TensorProto.UNDEFINED
}


def named_type(code: int, narrowed: str = "float32") -> str:
    """Return the name of a number of ``onnx.TensorProto.DataType``; empty if it is none."""
    name = _NAMES.get(code, "")
    return narrowed if name == "float32" else name


def size_of(
    dimension: Any, sizes: Mapping[str, tuple[float, float]], least: float, most: float = LARGEST_DECLARED
) -> Dimension:
    """Return a declared size; an open one by its name and its bounds, which are `least` and `most` by default."""
    size, name = int(dimension.dim_value), str(dimension.dim_param)
    if size > 0 or (size == 0 and dimension.HasField("dim_value")):
        return size
    return variable(name, *sizes.get(name, (least, most))) if name else unknown_size(least, most)


def onnx_code(element_type: str) -> int:
    """Return the number of an element type; 0 if it is none."""
    return next((code for code, name in _NAMES.items() if name == element_type), 0)
