"""Divisions of integers that an exporter has written in floats: Cast, Div, perhaps Floor or a truncation, Cast.

PyTorch's exporter writes `div(a, b, rounding_mode="trunc")` and `"floor"` so. Above 2^24 float32 does not hold every
integer, and the quotient is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, numpy_helper

from vinculum.errors import SpecLookupError
from vinculum.models.harden.constant_values import cast_target
from vinculum.models.onnx.inference import inner_first
from vinculum.models.onnx.rewriter import Rewriter, names_in, set_nodes, unique_name
from vinculum.models.onnx.scopes import Scope, inputs_of, name_of
from vinculum.spec.element_types import INT64, UINT64, ElementType, Kind, by_onnx_code
from vinculum.tensors.storage import dtype_of

_PRECISION: dict[int, int] = {
    TensorProto.FLOAT: 24,
    TensorProto.DOUBLE: 53,
    TensorProto.FLOAT16: 11,
    TensorProto.BFLOAT16: 8,
}
"""Of the float types, in bits."""

Operand = tuple[str, ElementType] | NDArray[Any]


@dataclass(frozen=True, eq=False)
class Exported:
    """A division of integers in floats."""

    division: NodeProto
    result: NodeProto  # The Cast back to integers.
    operands: tuple[Operand, ...]  # Names of integers and their types, or a constant.
    element_type: ElementType  # That holds both.
    floor: bool  # Whether it is rounded down; else towards 0.
    precision: int  # How many bits of an integer the floats hold.

    @property
    def risk(self) -> str:
        """What is wrong with it, in words."""
        return (
            f"the exporter wrote a division of {self.element_type} in floats, which is wrong above 2^{self.precision}"
        )


Place = tuple[str, str]
"""The path of a scope, and the name of a value there."""


def exported_divisions(scope: Scope) -> Iterator[Exported]:
    """Yield the divisions in a scope that are written in floats and wrong for some integers.

    - `scope`: with types, as `typed_scopes` yields it.
    """
    makers = {name: node for node in scope.holder.node if node.domain == "" for name in node.output}
    for node in scope.holder.node:
        if node.domain or node.op_type != "Cast":
            continue
        target = _integer(cast_target(node))
        rounded = _rounded(node.input[0], makers)
        if target is None or rounded is None:
            continue
        division, floor = rounded
        found = _operands(division, makers, scope)
        if found is not None:
            operands, element_type, precision = found
            if element_type.bits >= 32 and element_type.maximum > 1 << precision:
                signed = element_type.kind is Kind.SIGNED
                yield Exported(division, node, operands, element_type, floor and signed, precision)


def replace_exported(model: ModelProto) -> dict[Place, Exported]:
    """Write each such division as a Div of integers, and return what each was, by the place of its quotient.

    The Div of a floor division stands for one: it is still to be floored.
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
    """Add the division, and return the name of its quotient."""
    wanted, result = exported.element_type, exported.result
    operands = [_as_integers(rewriter, operand, wanted) for operand in exported.operands]
    same = cast_target(result) == wanted.onnx_code
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
    """Return nodes without those that were used in a graph or function, and are not any more."""
    outputs = {value if isinstance(value, str) else value.name for value in holder.output}
    before = {name for node in holder.node for name in inputs_of(node)} - outputs
    while True:
        unused = before.difference(*map(inputs_of, nodes))
        kept = [node for node in nodes if not node.output or not unused.issuperset(node.output)]
        if len(kept) == len(nodes):
            return kept
        nodes = kept


def _rounded(name: str, makers: Mapping[str, NodeProto]) -> tuple[NodeProto, bool] | None:
    """Return the division whose quotient a value is, rounded down or not; None if it is none."""
    made = makers.get(name)
    floor = made is not None and made.op_type == "Floor"
    if made is not None and floor:
        made = makers.get(made.input[0])
    elif made is not None and made.op_type == "Mul":
        made = _truncated(made, makers)
    return (made, floor) if made is not None and made.op_type == "Div" and len(made.input) == 2 else None


def _truncated(product: NodeProto, makers: Mapping[str, NodeProto]) -> NodeProto | None:
    """Return what makes x of Floor(Abs(x)) * Sign(x), as PyTorch's exporter writes a truncation."""
    factors = {node.op_type: node for name in product.input if (node := makers.get(name)) is not None}
    if set(factors) != {"Floor", "Sign"}:
        return None
    magnitude = makers.get(factors["Floor"].input[0])
    same = magnitude is not None and magnitude.op_type == "Abs" and magnitude.input[0] == factors["Sign"].input[0]
    return makers.get(factors["Sign"].input[0]) if same else None


def _operands(
    division: NodeProto, makers: Mapping[str, NodeProto], scope: Scope
) -> tuple[tuple[Operand, ...], ElementType, int] | None:
    """Return the integers that are divided, the type that holds them, and the precision of the floats."""
    operands: list[Operand] = []
    types: set[ElementType] = set()
    precision = 0
    for name in division.input:
        cast = makers.get(name)
        declared = scope.types.get(cast.input[0]) if cast is not None and cast.op_type == "Cast" else None
        source = None if declared is None else _integer(declared.tensor_type.elem_type)
        if cast is not None and source is not None:
            operands.append((cast.input[0], source))
            types.add(source)
            precision = _PRECISION.get(cast_target(cast), 0)
        elif name in scope.constants and scope.constants[name].data_type in _PRECISION:
            operands.append(numpy_helper.to_array(scope.constants[name]).astype(np.float64))
        else:
            return None
    if not types or not precision or (len(types) > 1 and UINT64 in types):
        return None
    common = types.pop() if len(types) == 1 else INT64
    whole = [found for operand in operands if (found := _whole(operand, common)) is not None]
    return (tuple(whole), common, precision) if len(whole) == len(operands) else None


def _whole(operand: Operand, element_type: ElementType) -> Operand | None:
    """Return a constant as integers of a type; None if it holds others."""
    if isinstance(operand, tuple):
        return operand
    low, high = element_type.minimum, min(element_type.maximum, 1 << 53)  # Beyond, floats are not one integer's.
    whole = (operand == np.trunc(operand)) & (operand >= low) & (operand <= high)
    return operand.astype(dtype_of(element_type)) if np.all(whole) else None


def _integer(code: int) -> ElementType | None:
    try:
        found = by_onnx_code(code)
    except SpecLookupError:
        return None
    return found if found.is_integer and found.bits >= 8 else None
