"""What the analysis proves about the operands of integer divisions: constants, no zero divisor, no MIN/-1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, anything, constant
from vinculum.analysis.domain.formats import NUMPY_INTEGERS
from vinculum.analysis.hazards.hazard import divided
from vinculum.analysis.hazards.integers import MinOverMinusOne
from vinculum.analysis.interpreter import Interpreter, Site
from vinculum.analysis.transfer.call import named_type
from vinculum.errors import VinculumError
from vinculum.models.onnx.inference import with_types
from vinculum.models.onnx.tensors import array_of
from vinculum.spec.element_types import INT32

Place = tuple[str, str]
"""The path of a scope, and the name of a value there."""
Values = NDArray[Any] | None
"""The distinct values of an operand that is the same in every run, in one dimension; None for any other operand."""
Never = Literal["zero", "minus one", "overflow", "inverse", "beyond int32"]
"""What does not occur in any run: a divisor of 0 or of -1; MIN/-1; a dividend that a runtime finds to be the constant 1
without folding the division; an operand outside int32."""


@dataclass(frozen=True, eq=False)
class Bounds:
    """What is proved about an integer division, for every input of the declared types and every size."""

    never: frozenset[Never] = frozenset()
    low: float = 0.0  # Of the divisors.
    high: float = 0.0
    dividend: Values = None
    divisor: Values = None

    def and_also(self, other: Bounds) -> Bounds:
        """Return what is proved about both of two calls of the same division."""
        return Bounds(
            self.never & other.never,
            min(self.low, other.low),
            max(self.high, other.high),
            _joined(self.dividend, other.dividend),
            _joined(self.divisor, other.divisor),
        )

    def __str__(self) -> str:
        return f"every divisor lies in [{self.low:.6g}, {self.high:.6g}]"


UNKNOWN = Bounds()


def bounds_of(model: ModelProto) -> Mapping[Place, Bounds]:
    """Return what is proved about the integer divisions and remainders that a run may reach, by their results.

    No ranges are assumed: an input may have any value of its type, even if it has an initializer, and a dimension
    without a number may have any size, including 0.
    """
    found: dict[Place, Bounds] = {}
    inputs = frozenset(value.name for value in model.graph.input)

    def look(site: Site) -> None:
        dividend, divisor, _ = divided(site)
        if site.node.domain or site.node.op_type not in MinOverMinusOne.operators or divisor is None:
            return
        if dividend is None or divisor.element_type not in NUMPY_INTEGERS:
            return
        low, high = divisor.box.hull()
        ends = (*dividend.box.hull(), low, high)
        # A dividend matters only if the division is not folded. The inputs of a function may be computed beforehand.
        varies = not site.scope.function and _varies(site.node.input[0], site.scope.producers, inputs)
        folded = divisor.constant is not None and dividend.box.hull() != (1.0, 1.0)
        may: dict[Never, bool] = {
            "zero": divisor.may_zero,
            "minus one": bool(((divisor.low <= -1) & (divisor.high >= -1) & (divisor.mag <= 1)).any()),
            "overflow": MinOverMinusOne().look(site) is not None,
            "inverse": not (varies or folded),
            "beyond int32": min(ends) < INT32.minimum or max(ends) > INT32.maximum,
        }
        never = frozenset(one for one, may_be in may.items() if not may_be)
        known = Bounds(never, low, high, _distinct(dividend), _distinct(divisor))
        place = (site.scope.path, site.node.output[0])
        found[place] = found[place].and_also(known) if place in found else known

    try:
        small = with_types(model)
        Interpreter(small, small, _known_inputs(model, small), {}, open_sizes=(0, np.inf), look=look).run()
    except VinculumError:
        return {}
    return found


def _known_inputs(model: ModelProto, small: ModelProto) -> Mapping[str, AbstractTensor]:
    """Return what is known about inputs: nothing for one with an initializer, and the value of large constants.

    `small` has large constants as inputs. Only integers are decoded, since other constants do not matter.
    """
    declared, kept = ({value.name for value in group} for group in (model.graph.input, small.graph.initializer))
    known: dict[str, AbstractTensor] = {}
    for tensor in model.graph.initializer:
        name = named_type(tensor.data_type)
        if tensor.name in declared:
            known[tensor.name] = anything(name, None)
        elif tensor.name not in kept and name in NUMPY_INTEGERS:
            known[tensor.name] = constant(array_of(tensor))
    return known


def _varies(value: str, producers: Mapping[str, NodeProto], inputs: frozenset[str]) -> bool:
    """Return whether a value is computed from the elements of an input, not only from its shape, which may be fixed."""
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


def _distinct(value: AbstractTensor) -> Values:
    return None if value.constant is None else np.unique(value.constant)


def _joined(one: Values, other: Values) -> Values:
    return None if one is None or other is None else np.union1d(one, other)
