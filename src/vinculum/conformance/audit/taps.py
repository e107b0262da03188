"""The divisions that an audit observes, and how their operands and quotients leave the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

from vinculum.models.execution import Division
from vinculum.models.inner_divisions import InnerDivision
from vinculum.models.onnx.rewriter import names_in, unique_name
from vinculum.models.onnx.scopes import subgraphs
from vinculum.models.values import ModelTensor
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import AttributeValue
from vinculum.tensors.storage import dtype_of


@dataclass(frozen=True, eq=False)
class Source:
    """The source of a value: an input of the model, a constant of its file, or an output of the runtime.

    - `input`: The input that has the value, if the input is given.
    - `constant`: The value in the file.
    - `place`: The position among the exposed values.
    """

    input: str | None = None
    constant: NDArray[Any] | None = None
    place: int | None = None

    def value(self, inputs: Mapping[str, Any], exposed: Sequence[Any]) -> Any:
        """Return the value in one run."""
        if self.input is not None and self.input in inputs:
            return inputs[self.input]
        return self.constant if self.place is None else exposed[self.place]

    def is_constant(self, inputs: Mapping[str, Any]) -> bool:
        """Tell whether the value is the same in every run, so that a runtime may fold it."""
        return self.constant is not None and self.input not in inputs


class Layout(Enum):
    """How a runtime returns the exposed values of a division."""

    AS_THEY_ARE = "as they are"
    STACKED = "all iterations of a Loop together"
    BRANCH = "as the branch of an If returns them"


@dataclass(frozen=True, eq=False)
class Tap:
    """A division of the model.

    - `sources`: The sources of its operands, then of its quotient.
    - `divisor`: The input of the model by which it divides, in a body too; None if that is another value.
    - `unobserved`: Why its values cannot be exposed; None if they can.
    - `guarded`: Whether it is a guard by which `vinculum harden` replaced a division.
    """

    division: Division
    attributes: Mapping[str, AttributeValue]
    sources: tuple[Source, ...] = ()
    divisor: str | None = None
    unobserved: str | None = None
    layout: Layout = Layout.AS_THEY_ARE
    guarded: bool = False


@dataclass(frozen=True, eq=False)
class AuditedModel:
    """A model to audit.

    - `taps`: The divisions, in the file's order.
    - `exposed`: The model with the exposed values after its own outputs; None if the runtime itself exposes them.
    - `inner`: The nodes that divide internally.
    - `expanded`: How many of those were replaced by their function bodies.
    """

    file: Path
    inputs: tuple[ModelTensor, ...]
    outputs: tuple[str, ...]
    taps: tuple[Tap, ...]
    exposed: ModelProto | None
    inner: tuple[InnerDivision, ...] = ()
    expanded: int = 0


def distinct_name(name: str, path: str, taken: set[tuple[str, str]]) -> str:
    """Return the name of a division, numbered if it is taken at this path, and add it to the taken names."""
    wanted, number = name, 1
    while (path, name) in taken:
        number += 1
        name = f"{wanted} ({number})"
    taken.add((path, name))
    return name


def inside_body(path: str) -> str:
    """Return the reason why a division at a path inside a body is not observed."""
    operator, _, attribute = path.rpartition("/")[2].partition(":")
    article = "an" if operator[:1] in "AEIO" else "a"
    return f"inside the {attribute} of {article} {operator.partition('#')[0]}"


NOT_TAKEN = (-1,)
"""The shape that marks a value that does not exist."""
_TAKES_EVERY_CONSTANT = 9
"""The first operator set in which a Constant can have any element type."""


class Bodies:
    """Adds outputs to the nodes of a model's main graph that hold subgraphs.

    A Loop stacks the values of its iterations. An If has two outputs for each value: the value flattened to one
    dimension, and its shape. For the branch that is not taken the shape is ``NOT_TAKEN``.

    - `model`: The model; it is modified.
    """

    def __init__(self, model: ModelProto, opset: int) -> None:
        self._taken = names_in(model)
        self._opset = opset
        self._nodes: dict[str, tuple[NodeProto, str]] = {}
        seen: Counter[str] = Counter()
        for node in model.graph.node:
            inner = [name for name, _ in subgraphs(node)]
            seen[node.op_type] += bool(inner)
            number = f"#{seen[node.op_type]}" if seen[node.op_type] > 1 else ""
            self._nodes |= {f"{node.op_type}{number}:{name}": (node, name) for name in inner}

    def is_stacked(self, path: str) -> bool:
        """Tell whether values at a path are stacks over all iterations."""
        return self._nodes[path][0].op_type == "Loop"

    def can_expose(self, path: str) -> bool:
        """Tell whether values at a path, as in `Division.path`, can be exposed."""
        node, _ = self._nodes.get(path, (NodeProto(), ""))
        return not node.domain and node.op_type in ("If", "Loop") and self._opset >= _TAKES_EVERY_CONSTANT

    def expose(self, path: str, values: Sequence[str], element_type: ElementType) -> list[str]:
        """Expose values of one element type and return their names in the main graph: for an If two per value."""
        node, attribute = self._nodes[path]
        code = element_type.onnx_code or 0
        ((_, body), *_) = ((name, graph) for name, graph in subgraphs(node) if name == attribute)
        if self.is_stacked(path):
            self._complete(node, len(body.output) - 1)  # The body's loop condition is not an output of the node.
            return [self._exposed(node, body, self._added(body, "Identity", value), code) for value in values]
        self._complete(node, len(body.output))
        ((_, other), *_) = ((name, graph) for name, graph in subgraphs(node) if name != attribute)
        names: list[str] = []
        for value in values:
            flat = self._added(body, "Reshape", value, self._constant(body, np.array([-1])))
            names.append(self._exposed(node, body, flat, code))
            self._add_output(other, self._constant(other, np.empty(0, dtype_of(element_type))), code)
            names.append(self._exposed(node, body, self._added(body, "Shape", value), TensorProto.INT64))
            self._add_output(other, self._constant(other, np.array(NOT_TAKEN)), TensorProto.INT64)
        return names

    def _complete(self, node: NodeProto, outputs: int) -> None:
        while len(node.output) < outputs:  # A node may omit its last outputs.
            node.output.append(unique_name("left_out", self._taken))

    def _exposed(self, node: NodeProto, graph: GraphProto, value: str, code: int) -> str:
        self._add_output(graph, value, code)
        node.output.append(unique_name("exposed", self._taken))
        return str(node.output[-1])

    def _add_output(self, graph: GraphProto, value: str, code: int) -> None:
        graph.output.append(helper.make_tensor_value_info(value, code, None))

    def _added(self, graph: GraphProto, operator: str, *operands: str) -> str:
        name = unique_name("handed_out", self._taken)
        graph.node.append(helper.make_node(operator, operands, [name], unique_name(f"{name}_node", self._taken)))
        return name

    def _constant(self, graph: GraphProto, array: NDArray[Any]) -> str:
        name = unique_name("constant", self._taken)
        value = numpy_helper.from_array(array)
        title = unique_name(f"{name}_node", self._taken)
        graph.node.append(helper.make_node("Constant", [], [name], title, value=value))
        return name


def taken_branch(exposed: Sequence[NDArray[Any]]) -> list[NDArray[Any]] | None:
    """Return the values of an If's branch from pairs of flat value and shape; None if the other branch was taken.

    ValueError if a shape is invalid or does not match the value.
    """
    if np.array_equal(exposed[1], NOT_TAKEN):
        return None
    pairs = zip(exposed[::2], exposed[1::2], strict=True)
    return [flat.reshape(_sizes(shape)) for flat, shape in pairs]


def _sizes(shape: NDArray[Any]) -> list[int]:
    sizes = [int(size) for size in shape.reshape(-1)]
    if shape.ndim != 1 or any(size < 0 for size in sizes):
        raise ValueError("no shape")
    return sizes
