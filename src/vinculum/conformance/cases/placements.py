"""How operands reach the runtime: at run time, or as constants of the model, which it may fold."""

from __future__ import annotations

from enum import Enum

from vinculum.spec.model import OperatorSpec


class Placement(Enum):
    """Which operands are constants of the model."""

    RUN_TIME = "run-time operands"
    CONSTANT_DIVISOR = "constant divisor"
    CONSTANT_DIVIDEND = "constant dividend"
    CONSTANTS = "constant operands"


DIVISOR, DIVIDEND, BOTH = (Placement.CONSTANT_DIVISOR,), (Placement.CONSTANT_DIVIDEND,), (Placement.CONSTANTS,)
FOLDED = DIVISOR + DIVIDEND + BOTH
"""Those in which something is a constant."""

_CONSTANT = {
    Placement.RUN_TIME: (False, False),
    Placement.CONSTANT_DIVISOR: (False, True),
    Placement.CONSTANT_DIVIDEND: (True, False),
    Placement.CONSTANTS: (True, True),
}


def placements(spec: OperatorSpec) -> tuple[Placement, ...]:
    """Return the ways in which an operator's operands can come: four for two operands, two for one."""
    return tuple(Placement) if len(spec.inputs) > 1 else (Placement.RUN_TIME, Placement.CONSTANTS)


def constant(placement: Placement, spec: OperatorSpec) -> tuple[bool, ...]:
    """Return for each operand whether it is a constant of the model."""
    return _CONSTANT[placement][: len(spec.inputs)]


def placement_words(placement: Placement, spec: OperatorSpec) -> str:
    """Return what an id calls a placement; a single operand is not called operands."""
    return placement.value if len(spec.inputs) > 1 else placement.value.removesuffix("s")
