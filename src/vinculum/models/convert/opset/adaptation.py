"""A node at the boundary between two operator sets, its context there, and what a conversion changed and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray
from onnx import AttributeProto, ModelProto, NodeProto, helper
from onnx.defs import OpSchema

from vinculum.models.convert.opset.operator_versions import default_of
from vinculum.models.onnx.rewriter import Rewriter
from vinculum.models.onnx.scopes import Scope
from vinculum.models.onnx.tensors import array_of
from vinculum.tensors.shapes import SymbolicShape
from vinculum.text import quoted

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


@dataclass
class Adaptation:
    """A node in conversion between two versions of its operator: adjacent ones, or the original and the final version.

    Methods raise ValueError with the reason where the node cannot be adapted.
    """

    node: NodeProto  # A copy, which the version adapter may change.
    newer: OpSchema  # The target version of an upgrade, the source version of a downgrade.
    older: OpSchema  # The source version of an upgrade, the target version of a downgrade.
    up: bool
    scope: Scope  # The node's.
    rewriter: Rewriter  # Collects constants and nodes to run before this one, in the final operator set of the model.
    opset: int  # That operator set.
    reasons: list[Reason] = field(default_factory=list)  # What a version adapter reports of its changes.

    @property
    def source(self) -> OpSchema:
        """The version that the node has."""
        return self.older if self.up else self.newer

    @property
    def target(self) -> OpSchema:
        """The version that it is converted to."""
        return self.newer if self.up else self.older

    def given(self, name: str) -> bool:
        """Return whether the node has an attribute explicitly."""
        return any(attribute.name == name for attribute in self.node.attribute)

    def value(self, name: str) -> Any:
        """Return an attribute's value, explicit or by default; None if it has neither."""
        for attribute in self.node.attribute:
            if attribute.name == name:
                if attribute.ref_attr_name:
                    raise ValueError(f"its {quoted(name)} is an attribute of its function; inline the function")
                return helper.get_attribute_value(attribute)
        return default_of(self.source, name)

    def give(self, name: str, value: Any) -> None:
        """Set an attribute of the node."""
        self.drop(name)
        kind = AttributeProto.INTS if value == [] else None  # An empty list does not show its type.
        self.node.attribute.append(helper.make_attribute(name, value, attr_type=kind))

    def drop(self, *names: str) -> None:
        """Remove attributes from the node."""
        kept = NodeProto(attribute=[a for a in self.node.attribute if a.name not in names])
        del self.node.attribute[:]
        self.node.attribute.extend(kept.attribute)

    def operand(self, place: int) -> str:
        """Return the name of an operand, empty if it is omitted."""
        return self.node.input[place] if place < len(self.node.input) else ""

    def set_operands(self, names: list[str]) -> None:
        """Replace the operands of the node; empty names at the end are dropped."""
        while names and not names[-1]:
            names.pop()
        self.node.input[:] = names

    def constant(self, name: str) -> NDArray[Any] | None:
        """Return a value's elements, if they are the same in every run."""
        tensor = self.rewriter.constants.get(name) or self.scope.constants.get(name)
        return None if tensor is None else array_of(tensor)

    def shape(self, name: str) -> SymbolicShape | None:
        """Return a value's shape, as far as it is known, else None."""
        made = self.rewriter.constants.get(name)
        return self.scope.shape_of(name) if made is None else tuple(made.dims)

    def rank(self, name: str) -> int | None:
        """Return a value's rank, if it is known."""
        shape = self.shape(name)
        return None if shape is None else len(shape)

    def element_type(self, name: str) -> int:
        """Return the TensorProto number of a value's element type, 0 if it is not known."""
        made = self.rewriter.constants.get(name)
        return self.scope.code_of(name) if made is None else made.data_type
