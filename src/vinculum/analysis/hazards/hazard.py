"""The base of every hazard."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, ClassVar

from onnx import NodeProto

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, anything, join
from vinculum.analysis.interpreter import Scope, Site
from vinculum.analysis.transfer.call import key_of
from vinculum.analysis.transfer.operators import operator_of
from vinculum.analysis.transfer.relations import refine

PROFILES = ("sonnx", "flushing", "narrowing", "domains")
"""SONNX's constraints; targets that treat subnormal numbers as 0, or narrow integers; functions other than division."""


DIVISOR = {"Div": 1, "Mod": 1, "Reciprocal": 0}
"""The place of the operand that an operator divides by."""


@dataclass(frozen=True, eq=False)
class Found:
    """A hazard at a node."""

    operand: int  # The position of the operand in question.
    certain: bool = False  # Whether every run shows it.
    detail: Mapping[str, Any] = field(default_factory=dict)  # Numbers that belong to it.
    value: AbstractTensor | None = None  # The value in question, if it is computed inside the node.


class Hazard:
    """What can go wrong; a subclass's docstring is the message."""

    code: ClassVar[str]  # Its name in reports.
    operators: ClassVar[tuple[str, ...]]  # Those where it can occur.
    fix: ClassVar[str]  # What to do.
    profile: ClassVar[str] = ""  # The one of `PROFILES` that it belongs to; empty for every target.

    def look(self, site: Site) -> Found | None:
        """Return what is found at a node; None if nothing is found, or if that is unknown."""
        raise NotImplementedError

    @classmethod
    def message(cls) -> str:
        """Return what it means, in a sentence."""
        return " ".join((cls.__doc__ or "").split("\n\n")[0].split())


class HazardOfDivisions(Hazard):
    """What can go wrong where something is divided."""

    def look(self, site: Site) -> Found | None:
        """Return what is found of the operands, if there are results."""
        site = _where_kept(site)
        dividend, divisor, place = divided(site)
        return None if divisor is None or is_empty(site) else self.divided(site, dividend, divisor, place)

    def divided(self, site: Site, dividend: AbstractTensor | None, divisor: AbstractTensor, place: int) -> Found | None:
        """Return what is found of the operands; the dividend is None where it is 1, or not known."""
        raise NotImplementedError


def typings(site: Site) -> Iterator[Site]:
    """Yield a site and, if it has operands of unknown element type, the same site with floats and with integers."""
    yield site
    if any(operand is not None and not operand.element_type for operand in site.operands):
        for name in (site.call.narrowed, "int64"):
            operands = [
                operand if operand is None or operand.element_type
                else anything(name, operand.shape).known(number=operand.number)
                for operand in site.operands
            ]  # fmt: skip
            yield replace(site, operands=operands)


def divided(site: Site) -> tuple[AbstractTensor | None, AbstractTensor | None, int]:
    """Return the dividend, the divisor and its place; the dividend of Reciprocal is None, and is 1."""
    if site.node.op_type == "Reciprocal":
        return None, site.operands[0] if site.operands else None, 0
    both = [*site.operands[:2], None, None][:2]
    return both[0], both[1], 1


def _where_kept(site: Site) -> Site:
    """Return a division of floats as it is in the elements that are kept, if none of their divisors is zero.

    ``Where(d == 0, 0, x / d)`` discards quotients by zero. Integers may have crashed the runtime before that.
    """
    _, divisor, place = divided(site)
    users = site.scope.users.get(site.node.output[0], ())
    known = operator_of(*site.key)
    if divisor is None or divisor.form is None or known is None or not users:
        return site
    if not divisor.may_zero or site.node.output[0] in site.scope.leaving:
        return site
    kept = [_chosen_divisor(site, node, divisor) for node in users]
    if any(one.may_zero for one in kept):
        return site
    operands = [*site.operands[:place], reduce(join, kept), *site.operands[place + 1 :]]
    result = known.transfer(site.call, *operands)
    return replace(site, operands=operands, results=[result] if isinstance(result, AbstractTensor) else list(result))


def _chosen_divisor(site: Site, node: NodeProto, divisor: AbstractTensor) -> AbstractTensor:
    """Return the divisor in those elements whose quotients a Where chooses; all of it for any other node."""
    condition = site.scope.values.get(node.input[0])
    places = [place for place, name in enumerate(node.input) if name == site.node.output[0]]
    if key_of(node) != ("", "Where") or condition is None or places not in ([1], [2]):
        return divisor
    return refine(site.call.values, condition.number, places == [1], divisor)


def is_empty(site: Site) -> bool:
    """Tell whether nothing is computed: the result has no elements."""
    shape = site.results[0].shape if site.results else None
    return shape is not None and 0 in shape


def readers(scope: Scope, value: str, through: frozenset[str], steps: int = 4) -> Iterator[tuple[NodeProto, int]]:
    """Yield the nodes that read a value, and the place of the operand; those behind some operators, too."""
    for node in scope.users.get(value, ()):
        for place, name in enumerate(node.input):
            if name == value:
                yield node, place
        if steps > 1 and node.op_type in through and node.output:
            yield from readers(scope, node.output[0], through, steps - 1)
