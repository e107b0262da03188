"""How operands reach the runtime: at run time, or as constants of the model, which it may fold."""

from __future__ import annotations

from enum import Enum

from vinculum.spec.model import OperatorSpec


class Delivery(Enum):
    """Which operands are constants of the model."""

    RUN_TIME = "run-time operands"
    CONSTANT_DIVISOR = "constant divisor"
    CONSTANT_DIVIDEND = "constant dividend"
    CONSTANTS = "constant operands"


_CONSTANT = {
    Delivery.RUN_TIME: (False, False),
    Delivery.CONSTANT_DIVISOR: (False, True),
    Delivery.CONSTANT_DIVIDEND: (True, False),
    Delivery.CONSTANTS: (True, True),
}


def deliveries(spec: OperatorSpec) -> tuple[Delivery, ...]:
    """Return the ways in which an operator's operands can come: four for two operands, two for one."""
    return tuple(Delivery) if len(spec.inputs) > 1 else (Delivery.RUN_TIME, Delivery.CONSTANTS)


def constant(delivery: Delivery, spec: OperatorSpec) -> tuple[bool, ...]:
    """Return for each operand whether it is a constant of the model."""
    return _CONSTANT[delivery][: len(spec.inputs)]


def delivery_words(delivery: Delivery, spec: OperatorSpec) -> str:
    """Return what an id calls a delivery; a single operand is not called operands."""
    return delivery.value if len(spec.inputs) > 1 else delivery.value.removesuffix("s")
