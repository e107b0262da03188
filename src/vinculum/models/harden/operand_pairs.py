"""Dividends and divisors on which a rewrite is proven."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.models.harden.decision import Runtime
from vinculum.models.harden.facts import Facts, Values
from vinculum.models.sampling.edge_values import edge_values
from vinculum.spec.element_types import INT32, ElementType
from vinculum.tensors.storage import dtype_of

_RANDOM = 2000
_MULTIPLES = 2000
_MOST_CONSTANTS = 60  # Of an operand that is constant in the model: a weight may have millions.


@dataclass(frozen=True, eq=False)
class Pairs:
    """Operands of one shape, in one dimension.

    Attributes
    ----------
    a, b : ndarray
        Dividends and divisors.
    """

    a: NDArray[Any]
    b: NDArray[Any]


def pairs_for(facts: Facts, runtime: Runtime) -> Pairs:
    """Return operands that try a rewrite, always the same.

    Every edge value meets every other: zeros, units, the ends of the type, the neighbours of the powers of 2 at which a
    type or a significand ends. Then random pairs, and pairs next to a whole quotient, where rounding would show. An
    operand that is constant in the model keeps its values. For OpenVINO operands and quotients lie within int32.
    """
    generator = np.random.default_rng(0)
    firsts = _values(facts.dividend, facts.element_type)
    seconds = _values(facts.divisor, facts.element_type)
    a, b = (x.ravel() for x in np.meshgrid(firsts, seconds))
    if facts.element_type.is_integer:
        more = [_random(facts, generator)]
        if facts.dividend is None:
            more.append(_near_multiples(facts, seconds, generator))
        a, b = np.concatenate([a, *(pair[0] for pair in more)]), np.concatenate([b, *(pair[1] for pair in more)])
        if runtime == "openvino":
            kept = _within_int32(a, b, facts.element_type)
            a, b = a[kept], b[kept]
    return Pairs(np.ascontiguousarray(a), np.ascontiguousarray(b))


def _values(constant: Values, element_type: ElementType) -> NDArray[Any]:
    if constant is None:
        return edge_values(element_type)
    if constant.size <= _MOST_CONSTANTS:
        return constant
    places = np.linspace(0, constant.size - 1, _MOST_CONSTANTS).astype(np.intp)  # They are sorted: both ends are there.
    special = constant[np.isin(constant, np.array([-1, 0, 1]).astype(constant.dtype))]
    return np.unique(np.concatenate([constant[places], special]))


def _random(facts: Facts, generator: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
    return (
        _drawn(facts.dividend, facts.element_type, generator),
        _drawn(facts.divisor, facts.element_type, generator),
    )


def _drawn(constant: Values, element_type: ElementType, generator: np.random.Generator) -> NDArray[Any]:
    """Return numbers of every magnitude."""
    if constant is not None:
        return generator.choice(constant, _RANDOM)
    dtype = dtype_of(element_type)
    wide = generator.integers(element_type.minimum, element_type.maximum, _RANDOM, dtype, endpoint=True)
    return np.asarray(wide >> generator.integers(0, element_type.bits, _RANDOM).astype(dtype))


def _near_multiples(
    facts: Facts, divisors: NDArray[Any], generator: np.random.Generator
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return dividends that are a multiple of their divisor, or one off; what overflows wraps."""
    b = generator.choice(divisors, _MULTIPLES)
    if facts.divisor is None:
        b = np.where(generator.integers(0, 2, _MULTIPLES) == 1, _drawn(None, facts.element_type, generator), b)
    quotient = _drawn(None, facts.element_type, generator)
    return quotient * b + generator.integers(0, 3, _MULTIPLES).astype(b.dtype) - b.dtype.type(1), b


def _within_int32(a: NDArray[Any], b: NDArray[Any], element_type: ElementType) -> NDArray[np.bool_]:
    if element_type.maximum <= INT32.maximum:
        return np.ones(a.shape, bool)
    inside = (a <= INT32.maximum) & (b <= INT32.maximum)
    if element_type.minimum:
        inside &= (a >= INT32.minimum) & (b >= INT32.minimum) & ~((a == INT32.minimum) & (b == -1))
    return np.asarray(inside)
