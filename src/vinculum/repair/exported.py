"""Integer divisions that an exporter wrote in floats: Cast, Div, an optional Floor or truncation, Cast.

PyTorch's exporter writes `div(a, b, rounding_mode="trunc")` and `"floor"` in this form. Quotients can be wrong, because
float32 does not represent every integer above 2^24.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto

from vinculum.models.onnx.inference import inner_first
from vinculum.models.onnx.rewriter import Rewriter, names_in, set_nodes, unique_name
from vinculum.models.onnx.scopes import Scope, inputs_of, name_of
from vinculum.repair.bounds import Place
from vinculum.spec.element_types import ELEMENT_TYPES, INT64, UINT64, ElementType, Kind
from vinculum.tensors.storage import dtype_of

_PRECISION = {
    each.onnx_code: each.binary_format.significand_bits
    for each in ELEMENT_TYPES
    if each.binary_format and each.bits >= 16
}
"""The precision of the float types, in bits."""
_INTEGERS = {each.onnx_code: each for each in ELEMENT_TYPES if each.is_integer and each.bits >= 8}

Operand = tuple[str, ElementType] | NDArray[Any]


@dataclass(frozen=True, eq=False)
class Exported:
    """An integer division written in floats."""

    division: NodeProto
    result: NodeProto  # The Cast back to integers.
    operands: tuple[Operand, ...]  # Each is the name of an integer value and its type, or a constant.
    element_type: ElementType  # A type that holds both operands.
    floor: bool  # Whether the quotient is rounded down; else towards 0.
    precision: int  # Of the floats, in bits.

    @property
    def risk(self) -> str:
        """A description of the fault."""
        wrong = f"wrong above 2^{self.precision}"
        return f"the exporter wrote a division of {self.element_type} in floats, which is {wrong}"


def exported_divisions(scope: Scope) -> Iterator[Exported]:
    """Yield the integer divisions in a scope that are written in floats and are wrong for some integers."""
    makers = {name: node for node in scope.holder.node if node.domain == "" for name in node.output}
    for node in scope.holder.node:
        if node.domain or node.op_type != "Cast":
            continue
        rounded = _rounded(node.input[0], makers)
        if rounded is None or _cast_target(node) not in _INTEGERS:
            continue
        division, floor = rounded
        found = _operands(division, makers, scope)
        if found is not None:
            operands, element_type, precision = found
            if element_type.bits >= 32 and element_type.maximum > 1 << precision:
                signed = element_type.kind is Kind.SIGNED
                yield Exported(division, node, operands, element_type, floor and signed, precision)


def replace_exported(model: ModelProto) -> dict[Place, Exported]:
    """Rewrite each such division as an integer Div, and return the originals by the place of their quotients.

    For a floor division the new Div is only a placeholder, which `Guards` replaces.
    """
    replaced: dict[Place, Exported] = {}
    taken = names_in(model)
    for scope in inner_first(model):
        found = {id(each.result): each for each in exported_divisions(scope)}
        nodes: list[NodeProto] = []
        initializers: list[TensorProto] = []
        for node in scope.holder.node:
            if id(node) not in found:
                nodes.append(node)
                continue
            rewriter = Rewriter(scope.holder, scope.opsets[""], taken, name_of(found[id(node)].division))
            replaced[scope.path, _in_integers(rewriter, found[id(node)])] = found[id(node)]
            nodes += rewriter.nodes
            initializers += rewriter.initializers
        if found:
            kept = _without_unused(nodes, scope.holder)
            old = {id(node) for node in scope.holder.node}
            standing = {node.name for node in kept if id(node) in old}
            for node in kept:
                if id(node) not in old and node.name and node.name in standing:
                    node.name = unique_name(node.name, taken)
                standing.add(node.name)
            set_nodes(scope.holder, kept, initializers)
    return replaced


def _in_integers(rewriter: Rewriter, exported: Exported) -> str:
    """Add the division of integers, and return the name of its quotient."""
    element_type, result = exported.element_type, exported.result
    operands = [_as_integers(rewriter, operand, element_type) for operand in exported.operands]
    same = _cast_target(result) == element_type.onnx_code
    quotient = result.output[0] if same else rewriter.fresh("quotient")
    division = deepcopy(exported.division)
    del division.input[:], division.output[:]
    division.input.extend(operands)
    division.output.append(quotient)
    rewriter.nodes.append(division)
    if not same:
        final = deepcopy(result)
        final.input[0] = quotient
        rewriter.nodes.append(final)
    return quotient


def _as_integers(rewriter: Rewriter, operand: Operand, element_type: ElementType) -> str:
    if not isinstance(operand, tuple):
        return rewriter.constant(operand, "integers")
    name, own = operand
    return name if own is element_type else rewriter.cast(name, element_type, "operand")


def _without_unused(nodes: list[NodeProto], holder: GraphProto | FunctionProto) -> list[NodeProto]:
    """Return the nodes without those whose results were used only before the rewrite."""
    outputs = {value if isinstance(value, str) else value.name for value in holder.output}
    before = {name for node in holder.node for name in inputs_of(node)} - outputs
    while True:
        unused = before.difference(*map(inputs_of, nodes))
        kept = [node for node in nodes if not node.output or not unused.issuperset(node.output)]
        if len(kept) == len(nodes):
            return kept
        nodes = kept


def _rounded(name: str, makers: Mapping[str, NodeProto]) -> tuple[NodeProto, bool] | None:
    """Return the Div that computes a value, and whether its quotient is rounded down; None if there is none."""
    made = makers.get(name)
    floor = made is not None and made.op_type == "Floor"
    if made is not None and floor:
        made = makers.get(made.input[0])
    elif made is not None and made.op_type == "Mul":
        made = _truncated(made, makers)
    return (made, floor) if made is not None and made.op_type == "Div" and len(made.input) == 2 else None


def _truncated(product: NodeProto, makers: Mapping[str, NodeProto]) -> NodeProto | None:
    """Return the node that computes x if the product is Floor(Abs(x)) * Sign(x), PyTorch's form of truncation."""
    factors = {node.op_type: node for name in product.input if (node := makers.get(name)) is not None}
    if set(factors) != {"Floor", "Sign"}:
        return None
    magnitude = makers.get(factors["Floor"].input[0])
    same = magnitude is not None and magnitude.op_type == "Abs" and magnitude.input[0] == factors["Sign"].input[0]
    return makers.get(factors["Sign"].input[0]) if same else None


def _operands(
    division: NodeProto, makers: Mapping[str, NodeProto], scope: Scope
) -> tuple[tuple[Operand, ...], ElementType, int] | None:
    """Return the integer operands, a type that holds them, and the precision of the floats."""
    operands: list[Operand] = []
    types: dict[ElementType, int] = {}  # With the precision of the floats that they are cast to.
    for name in division.input:
        cast = makers.get(name)
        source = None if cast is None or cast.op_type != "Cast" else _INTEGERS.get(scope.code_of(cast.input[0]))
        if cast is not None and source is not None:
            operands.append((cast.input[0], source))
            types[source] = _PRECISION.get(_cast_target(cast), 0)
        elif (constant := scope.constant(name)) is not None and scope.code_of(name) in _PRECISION:
            operands.append(constant.astype(np.float64))
        else:
            return None
    precision = min(types.values(), default=0)
    if not precision or (len(types) > 1 and UINT64 in types):
        return None
    common = INT64 if len(types) > 1 else next(iter(types))
    whole = [found for operand in operands if (found := _whole(operand, common)) is not None]
    return (tuple(whole), common, precision) if len(whole) == len(operands) else None


def _whole(operand: Operand, element_type: ElementType) -> Operand | None:
    """Return a constant as integers of a type; None if the type does not hold all of its values."""
    if isinstance(operand, tuple):
        return operand
    # Above 2^53, several integers have the same float.
    low, high = element_type.minimum, min(element_type.maximum, 1 << 53)
    whole = (operand == np.trunc(operand)) & (operand >= low) & (operand <= high)
    return operand.astype(dtype_of(element_type)) if np.all(whole) else None


def _cast_target(cast: NodeProto) -> int:
    """Return the code of a Cast's element type; 0 if each call of the function gives it."""
    return next((a.i for a in cast.attribute if a.name == "to" and not a.ref_attr_name), TensorProto.UNDEFINED)
