"""How operands reach the runtime: at run time, or as constants of the model, which it may fold."""

from __future__ import annotations

from enum import Enum

from vinculum.spec.model import OperatorSpec


class Placement(Enum):
    """Which operands are constants of the model: what an id calls it, and whether dividend and divisor are."""

    RUN_TIME = "run-time operands", (False, False)
    CONSTANT_DIVISOR = "constant divisor", (False, True)
    CONSTANT_DIVIDEND = "constant dividend", (True, False)
    CONSTANTS = "constant operands", (True, True)

    def words(self, spec: OperatorSpec) -> str:
        """Return what an id calls it; a single operand is not called operands."""
        words, _ = self.value
        return words if len(spec.inputs) > 1 else words.removesuffix("s")

    def constant(self, spec: OperatorSpec) -> tuple[bool, ...]:
        """Return for each operand of an operator whether it is a constant of the model."""
        _, constant = self.value
        return constant[: len(spec.inputs)]


DIVISOR, DIVIDEND, BOTH = (Placement.CONSTANT_DIVISOR,), (Placement.CONSTANT_DIVIDEND,), (Placement.CONSTANTS,)
FOLDED = DIVISOR + DIVIDEND + BOTH
"""Those in which something is a constant."""


def placements(spec: OperatorSpec) -> tuple[Placement, ...]:
    """Return the ways in which an operator's operands can come: four for two operands, two for one."""
    return tuple(Placement) if len(spec.inputs) > 1 else (Placement.RUN_TIME, Placement.CONSTANTS)
