"""Building the cases of one operator version and element type."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

from vinculum.conformance.cases.case import Case, CaseId, Expectation, Level, Subject, clause
from vinculum.conformance.cases.operation import Operation, Placement, declared_attributes, placements
from vinculum.conformance.cases.values import CHOSEN_TYPES, Joined, Operands
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import AttributeValue, Broadcasting, OperatorSpec
from vinculum.spec.rows import versions

Attributes = Mapping[str, AttributeValue]


@dataclass(frozen=True)
class CaseBuilder:
    """An operator version, an element type, and the last level whose cases are built."""

    spec: OperatorSpec
    element_type: ElementType
    level: Level

    @cached_property
    def chosen(self) -> bool:
        """Whether the element type is one of those that run the cases that hardly depend on the element type."""
        return self.element_type.name in CHOSEN_TYPES

    @cached_property
    def newest(self) -> bool:
        """Whether this is the newest version of the operator; each of SONNX's three operators is its own newest."""
        return self.spec.variant is not None or self.spec is versions(self.spec.name, dialect=self.spec.dialect)[-1]

    @cached_property
    def newest_of_its_shapes(self) -> bool:
        """Whether no later version has the same broadcasting rules."""
        rows = versions(self.spec.name, dialect=self.spec.dialect)
        return self.newest or all(
            row.broadcasting != self.spec.broadcasting for row in rows[rows.index(self.spec) + 1 :]
        )

    def roundings(self) -> Iterator[Attributes]:
        """Yield the attributes for each selectable rounding, the default first; no attributes if there is no choice."""
        name = self.spec.integer_rounding_attribute
        declared = self.spec.attribute(name) if name else None
        if declared is None or not self.element_type.is_integer:
            yield {}
            return
        others = [value for value in self.spec.integer_rounding if value != declared.default]
        for value in (declared.default, *others):
            if value is not None:
                yield {declared.name: value}

    def joining(self, joined: Joined) -> Attributes | None:
        """Return the attributes under which operands are broadcast in this way; None if the version cannot."""
        selector = self.spec.broadcasting_attribute
        declared = self.spec.attribute(selector) if selector else None
        default = self.spec.broadcasting[declared.default if declared else None]
        if joined is Joined.EQUAL or default is Broadcasting.MULTIDIRECTIONAL:
            return {}
        if joined is Joined.SCALAR_DIVISOR and declared is not None:
            for value, rule in self.spec.broadcasting.items():
                if rule is Broadcasting.LIMITED and value is not None:
                    return {declared.name: value}
        return None

    def rounding(self, attributes: Attributes) -> str:
        """Return the rounding that declared attributes choose, as in the id; empty where there is no choice."""
        if self.spec.integer_rounding_attribute is None or not self.element_type.is_integer:
            return ""
        return self.spec.rounding(attributes).name.lower()

    def cases(
        self,
        tried: str,
        shapes: str,
        subject: Subject | tuple[str, ...],
        attributes: Attributes,
        operands: Callable[[], Operands],
        expected: Callable[[], Expectation],
        level: Level,
        constants: tuple[Placement, ...] | None = (),
    ) -> Iterator[Case]:
        """Yield the cases of operands and attributes that test one thing: one for every placement that is run.

        - `tried`, `shapes`: The scenario and the shapes, as in the id.
        - `subject`: What the cases test; or tags of clauses, one of which the version has.
        - `attributes`: The attributes that the model sets.
        - `operands`: Returns the operands.
        - `expected`: Returns the expectation by the specification.
        - `level`: The first level that runs them with run-time operands.
        - `constants`: The other placements that the default level runs, or `level` if that is later; the remaining ones
          run at the last level, or never if this is None.
        """
        declared = declared_attributes(self.spec, attributes)
        for placement in placements(self.spec):
            if placement is Placement.RUN_TIME:
                first = level
            elif constants is None:
                continue
            else:
                first = max(level, Level.DEFAULT) if placement in constants else Level.FULL
            if first <= self.level:
                yield Case(
                    id=CaseId(
                        operator=self.spec.title,
                        rounding=self.rounding(declared),
                        element_type=self.element_type.name,
                        scenario=tried,
                        shapes=shapes,
                        placement=placement.words(self.spec),
                    ),
                    clause=clause(self.spec, self.element_type, subject, declared),
                    element_type=self.element_type,
                    asked=partial(_operation, self.spec, attributes, operands, placement),
                    expected=expected,
                    level=first,
                )


def _operation(
    spec: OperatorSpec, attributes: Attributes, operands: Callable[[], Operands], placement: Placement
) -> Operation:
    return Operation(spec, attributes, operands(), placement.constant(spec))
