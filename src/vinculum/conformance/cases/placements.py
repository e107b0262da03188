"""How operands reach the runtime: at run time, or as constants of the model, which it may fold."""

from __future__ import annotations

from enum import Enum

from vinculum.spec.model import OperatorSpec


class Placement(Enum):
    """Which operands are constants of the model: the text in the id, and a flag for dividend and for divisor."""

    RUN_TIME = "run-time operands", (False, False)
    CONSTANT_DIVISOR = "constant divisor", (False, True)
    CONSTANT_DIVIDEND = "constant dividend", (True, False)
    CONSTANTS = "constant operands", (True, True)

    def words(self, spec: OperatorSpec) -> str:
        """Return the text in the id, in the singular for an operator with one operand."""
        words, _ = self.value
        return words if len(spec.inputs) > 1 else words.removesuffix("s")

    def constant(self, spec: OperatorSpec) -> tuple[bool, ...]:
        """Return, for each operand of an operator, whether it is a constant of the model."""
        _, constant = self.value
        return constant[: len(spec.inputs)]


DIVISOR, DIVIDEND, BOTH = (Placement.CONSTANT_DIVISOR,), (Placement.CONSTANT_DIVIDEND,), (Placement.CONSTANTS,)
FOLDED = DIVISOR + DIVIDEND + BOTH
"""The placements with at least one constant."""


def placements(spec: OperatorSpec) -> tuple[Placement, ...]:
    """Return the placements of an operator's operands: four for two operands, two for one."""
    return tuple(Placement) if len(spec.inputs) > 1 else (Placement.RUN_TIME, Placement.CONSTANTS)
