"""Building the cases of one operator version and element type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

from vinculum.conformance.cases.case import Case, CaseId, Level, Subject, clause
from vinculum.conformance.cases.expectations import expectation, refusal
from vinculum.conformance.cases.operation import Operation, Placement, declared_attributes, placements
from vinculum.conformance.cases.values import CHOSEN_TYPES, Joined, Numbers
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
        later = () if self.newest else rows[rows.index(self.spec) + 1 :]
        return all(row.broadcasting != self.spec.broadcasting for row in later)

    def roundings(self) -> Iterator[Attributes]:
        """Yield the attributes for each selectable rounding, the default first; no attributes if there is no choice."""
        name = self.spec.integer_rounding_attribute
        declared = self.spec.attribute(name) if name else None
        if declared is None or not self.element_type.is_integer:
            yield {}
            return
        values = dict.fromkeys((declared.default, *self.spec.integer_rounding))
        yield from ({declared.name: value} for value in values if value is not None)

    def joining(self, joined: Joined) -> Attributes | None:
        """Return the attributes under which operands are broadcast in this way; None if the version cannot."""
        selector = self.spec.broadcasting_attribute
        declared = self.spec.attribute(selector) if selector else None
        default = self.spec.broadcasting[declared.default if declared else None]
        if joined is Joined.EQUAL or default is Broadcasting.MULTIDIRECTIONAL:
            return {}
        rules = self.spec.broadcasting.items() if declared and joined is Joined.SCALAR_DIVISOR else ()
        limited = (v for v, rule in rules if rule is Broadcasting.LIMITED and v is not None)
        return next(({declared.name: value} for value in limited if declared), None)

    def cases(
        self,
        tried: str,
        shapes: str,
        subject: Subject | tuple[str, ...],
        attributes: Attributes,
        numbers: Numbers,
        level: Level,
        constants: tuple[Placement, ...] | None = (),
        *,
        refused: bool = False,
    ) -> Iterator[Case]:
        """Yield the cases of operands and attributes that test one thing: one for every placement that is run.

        - `tried`, `shapes`: The scenario and the shapes, as in the id.
        - `subject`: What the cases test; or tags of clauses, one of which the version has.
        - `level`: The first level that runs them with run-time operands.
        - `constants`: The other placements that the default level runs, or `level` if that is later; the remaining ones
          run at the last level, or never if this is None.
        - `refused`: Whether the specification requires that they are refused.
        """
        if level > self.level:
            return
        spec, declared = self.spec, declared_attributes(self.spec, attributes)
        expected = refusal if refused else partial(expectation, spec, self.element_type, declared, numbers)
        chooses = spec.integer_rounding_attribute is not None and self.element_type.is_integer
        rounding = spec.rounding(declared).name.lower() if chooses else ""
        for placement in placements(spec):
            if placement is Placement.RUN_TIME:
                first = level
            elif constants is None:
                continue
            else:
                first = max(level, Level.DEFAULT) if placement in constants else Level.FULL
            if first <= self.level:
                yield Case(
                    CaseId(spec.title, rounding, self.element_type.name, tried, shapes, placement.words(spec)),
                    clause(spec, self.element_type, subject, declared),
                    self.element_type,
                    partial(_operation, spec, self.element_type, attributes, numbers, placement),
                    expected,
                    first,
                )


def _operation(
    spec: OperatorSpec, element_type: ElementType, attributes: Attributes, numbers: Numbers, placement: Placement
) -> Operation:
    arrays = numbers.operands(element_type)
    for array in arrays:
        array.flags.writeable = False  # Versions of an operator share them.
    return Operation(spec, attributes, arrays, placement.constant(spec))
