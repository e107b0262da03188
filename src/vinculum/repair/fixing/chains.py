"""Chains of divisions, such as (x / d) / e, whose guards share what keeps the last quotient finite.

With the least epsilon in its guard, x / d may be almost the largest finite number, so that e would have to be almost 1.
But the last quotient depends on the product of the epsilons alone. So each divisor gets an epsilon that is the same
fraction of its declared range: for float32, x in [-1, 1], d and e in [0, 1], both are kept at least 2^-63 from zero.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log2

from onnx import NodeProto

from vinculum.models.onnx.scopes import Scope, inputs_of, name_of


@dataclass(frozen=True)
class Link:
    """A guarded divisor of a chain."""

    epsilon: float  # What its guard has, or would need if the other guards stayed as they are.
    least: float  # The smallest epsilon that it can have.
    largest: float  # The largest magnitude in its declared range.


def shared(scope: Scope, last: NodeProto, need: Link, guarded: Mapping[str, Link]) -> dict[str, float]:
    """Return an epsilon for each division of the chain that ends in a node, by their names; none if there is no chain.

    - `need`: the divisor of the last division.
    - `guarded`: the guarded divisors of the other divisions in the scope, by the names of their nodes.
    """
    chain, before = [need], list(_nearest(scope, last, guarded))
    while before:  # Along the smallest epsilons.
        node = min(before, key=lambda node: guarded[name_of(node)].epsilon)
        chain.append(guarded[name_of(node)])
        before = list(_nearest(scope, node, guarded))
    fraction = _fraction(chain)
    found = {name_of(last): _epsilon(need, fraction)}
    # A larger fraction, rounded up to a power of two, could be the whole range.
    if len(chain) == 1 or fraction > 0.5 or found[name_of(last)] >= need.epsilon:
        return {}
    waiting = [last]
    while waiting:
        for node in _nearest(scope, waiting.pop(), guarded):
            if name_of(node) not in found:
                found[name_of(node)] = _epsilon(guarded[name_of(node)], fraction)
                waiting.append(node)
    return found


def _nearest(scope: Scope, division: NodeProto, guarded: Collection[str]) -> Iterator[NodeProto]:
    """Yield the guarded divisions that a dividend is computed from, but none of those before them."""
    waiting, seen = list(division.input[:1] if division.op_type == "Div" else ()), set[str]()
    while waiting:
        name = waiting.pop()
        made = scope.producers.get(name)
        if made is None or name in seen:
            continue
        seen.add(name)
        if name_of(made) in guarded:
            yield made
        else:
            waiting += made.input[:1] if made.op_type == "Div" else inputs_of(made)


def _fraction(chain: Sequence[Link]) -> float:
    """Return the fraction of its range that each divisor is kept from zero, so that the product of epsilons stays.

    A link whose least epsilon is a larger fraction keeps that one.
    """
    wanted = sum(log2(link.epsilon) for link in chain)
    links = sorted(chain, key=lambda link: link.least / link.largest)
    while True:
        level = (wanted - sum(log2(link.largest) for link in links)) / len(links)
        if len(links) == 1 or level >= log2(links[-1].least / links[-1].largest):
            return float(2.0**level)
        wanted -= log2(links.pop().least)


def _epsilon(link: Link, fraction: float) -> float:
    return max(link.least, float(2.0 ** ceil(log2(fraction * link.largest))))
