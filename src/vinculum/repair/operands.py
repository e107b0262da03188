"""What is known of the operands of divisions before a run.

The analysis proves that no run has a zero divisor, or MIN/-1; constants are found through nodes that only reshape them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import FunctionProto, ModelProto, NodeProto, TensorProto, helper

from vinculum.analysis.domain.abstract_tensor import anything
from vinculum.analysis.hazards.hazard import divided
from vinculum.analysis.hazards.integers import MinOverMinusOne
from vinculum.analysis.interpreter import Interpreter, Site
from vinculum.analysis.transfer.call import named_type
from vinculum.errors import VinculumError
from vinculum.models.onnx.inference import with_types
from vinculum.models.onnx.scopes import Scope
from vinculum.models.onnx.tensors import array_of
from vinculum.spec.element_types import INT32

Place = tuple[str, str]
"""The path of a scope, and the name of a value there."""
_KEEP_VALUES = ("Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Transpose", "Expand", "Tile", "Cast")
_INTEGERS = frozenset(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))


@dataclass(frozen=True)
class Bounds:
    """What is proved of an integer division, for every input of the declared types and every size."""

    never_zero: bool = False  # No divisor is 0.
    never_minus_one: bool = False  # No divisor is -1.
    never_overflows: bool = False  # No quotient is MIN/-1.
    low: float = 0.0  # Of the divisors.
    high: float = 0.0
    within_int32: bool = False  # Whether int32 holds both operands.
    dividend_varies: bool = False  # Whether it is computed from an input, so that no runtime finds it constant.

    def and_also(self, other: Bounds) -> Bounds:
        """Return what is proved of two calls of the same division."""
        return Bounds(
            self.never_zero and other.never_zero,
            self.never_minus_one and other.never_minus_one,
            self.never_overflows and other.never_overflows,
            min(self.low, other.low),
            max(self.high, other.high),
            self.within_int32 and other.within_int32,
            self.dividend_varies and other.dividend_varies,
        )

    def __str__(self) -> str:
        """Return the bounds of the divisors."""
        return f"every divisor lies in [{self.low:.6g}, {self.high:.6g}]"


UNKNOWN = Bounds()


def bounds_of(model: ModelProto) -> Mapping[Place, Bounds]:
    """Return what is proved of the integer divisions and remainders that a run may reach, by their results.

    Nothing is declared: an input may be any of its type, even one with an initializer, and a dimension without a
    number may have any size, 0 too.
    """
    found: dict[Place, Bounds] = {}
    initializers = {tensor.name for tensor in model.graph.initializer}
    overridden = {
        value.name: anything(named_type(value.type.tensor_type.elem_type), None)
        for value in model.graph.input
        if value.name in initializers
    }
    inputs = frozenset(value.name for value in model.graph.input)
    functions = {function.name for function in model.functions}  # Their parameters may be called as an input is.

    def look(site: Site) -> None:
        dividend, divisor, _ = divided(site)
        if site.node.domain or site.node.op_type not in MinOverMinusOne.operators or divisor is None:
            return
        if dividend is None or divisor.element_type not in _INTEGERS:
            return
        low, high = divisor.box.hull()
        ends = (*dividend.box.hull(), low, high)
        in_function = site.scope.path.partition("/")[0] in functions
        known = Bounds(
            never_zero=not divisor.may_zero,
            never_minus_one=not bool(((divisor.low <= -1) & (divisor.high >= -1) & (divisor.mag <= 1)).any()),
            never_overflows=MinOverMinusOne().look(site) is None,
            low=low,
            high=high,
            within_int32=INT32.minimum <= min(ends) and max(ends) <= INT32.maximum,
            dividend_varies=not in_function and _varies(site.node.input[0], site.scope.producers, inputs),
        )
        place = (site.scope.path, site.node.output[0])
        found[place] = found[place].and_also(known) if place in found else known

    try:
        small = with_types(model)
        Interpreter(small, small, overridden, {}, least_size=0, look=look).run()
    except VinculumError:
        return {}
    return found


def _varies(value: str, producers: Mapping[str, NodeProto], inputs: frozenset[str]) -> bool:
    """Return whether a value is computed from the elements of an input, not only from its sizes, which may be fixed."""
    waiting, seen = [value], set[str]()
    while waiting:
        name = waiting.pop()
        if name in inputs:
            return True
        node = producers.get(name)
        if node is not None and node.op_type not in ("Shape", "Size") and name not in seen:
            seen.add(name)
            waiting += node.input
    return False


class ConstantValues:
    """The distinct values of the constants in scope."""

    def __init__(self, scope: Scope) -> None:
        self._tensors = scope.constants
        self._makers = scope.producers
        while scope.around is not None:
            scope = scope.around
        self._parameters = set(scope.holder.input) if isinstance(scope.holder, FunctionProto) else set[str]()
        self._found: dict[str, NDArray[Any] | None] = {}

    def of(self, name: str) -> NDArray[Any] | None:
        """Return the distinct values in one dimension; None if they are not known."""
        origin, steps = self._traced(name)
        values = self._own(origin)
        for node in reversed(steps):
            values = None if values is None else _after(node, values)
        return values

    def may_be_found(self, dividend: str, divisor: str) -> bool:
        """Whether a runtime may find a constant dividend that is not known here, and yet not fold the division.

        A call may pass a constant to a function, and functions are inlined before constants are folded. A division by a
        divisor of unknown size is not folded.
        """
        origin, _ = self._traced(dividend)
        if origin in self._parameters:
            return True
        _, steps = self._traced(divisor)
        sized = all(name in self._tensors for node in steps for name in node.input[1:])
        return not sized and (self._makers.get(origin) is not None or origin in self._tensors)

    def _traced(self, name: str) -> tuple[str, list[NodeProto]]:
        """Return the value at the start of a chain of nodes that keep its elements, and these nodes, last one first."""
        steps: list[NodeProto] = []
        while name not in self._tensors:
            node = self._makers.get(name)
            if node is None or node.domain or not node.input or node.op_type not in _KEEP_VALUES:
                break
            steps.append(node)
            name = node.input[0]
        return name, steps

    def _own(self, name: str) -> NDArray[Any] | None:
        if name not in self._found:
            tensor = self._tensors.get(name)
            self._found[name] = None if tensor is None else _distinct(tensor)
        return self._found[name]


def cast_target(cast: NodeProto) -> int:
    """Return the number of a Cast's element type, 0 if it is an attribute of the function."""
    return next((a.i for a in cast.attribute if a.name == "to" and not a.ref_attr_name), TensorProto.UNDEFINED)


def _after(node: NodeProto, values: NDArray[Any]) -> NDArray[Any] | None:
    if node.op_type != "Cast":
        return values
    code = cast_target(node)
    if code not in (TensorProto.INT32, TensorProto.INT64):
        return None
    dtype = helper.tensor_dtype_to_np_dtype(code)
    # A Cast that changes a value would need its rule here.
    same = values.dtype.kind in "iu" and bool(np.all(values.astype(dtype) == values))
    return values.astype(dtype) if same else None


def _distinct(tensor: TensorProto) -> NDArray[Any] | None:
    if helper.tensor_dtype_to_np_dtype(tensor.data_type).kind not in "iu":
        return None  # Only integers matter; the data may be large and is not decoded.
    return np.unique(array_of(tensor))
