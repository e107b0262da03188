"""The probes' way to ask: one question, in the process that answers, and what the reference says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vinculum import reference
from vinculum.conformance.fingerprint.operands import float_operands, integer_operands
from vinculum.conformance.generators.deliveries import Delivery, constant
from vinculum.conformance.question import Question
from vinculum.conformance.runtimes.protocol import Runtime
from vinculum.models.isolation import Answer, End
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import AttributeValue, IntegerRounding, OperatorSpec
from vinculum.spec.onnx_div import DIV_14
from vinculum.spec.openvino_divide import DIVIDE_1

Array = NDArray[Any]

KILLED = (End.CRASHED, End.HUNG, End.OUT_OF_MEMORY)

_WAYS: tuple[tuple[OperatorSpec, Mapping[str, AttributeValue]], ...] = (
    (DIV_14, {}),
    (DIVIDE_1, {"m_pythondiv": False}),
    (DIVIDE_1, {"m_pythondiv": True}),
)


class Caller(Protocol):
    """The object in the process that answers: `vinculum.models.isolation.Isolated`."""

    def call(self, method: str, *arguments: object) -> Answer:
        """Return what became of a call."""


@dataclass(frozen=True, eq=False)
class Asked:
    """An element type's probing operands, the answer, and what is right.

    Attributes
    ----------
    element_type : ElementType
        Of the operands.
    a, b : ndarray
        The operands.
    rounding : IntegerRounding
        What was asked for, if they are integers.
    expected : ndarray
        The reference's quotients.
    answer : Answer
        The runtime's.
    """

    element_type: ElementType
    a: Array
    b: Array
    rounding: IntegerRounding
    expected: Array
    answer: Answer

    @property
    def quotients(self) -> Array | None:
        """The runtime's quotients; None if there are none of the right type and shape."""
        value = self.answer.value
        fits = isinstance(value, np.ndarray) and (value.dtype, value.shape) == (self.expected.dtype, self.a.shape)
        return value if fits else None


class Asker:
    """Asks a runtime, each standard question once.

    Parameters
    ----------
    runtime : Runtime
        The one in our process, which knows what it can be asked.
    caller : Caller
        The one that answers.
    """

    def __init__(self, runtime: Runtime, caller: Caller) -> None:
        self._runtime = runtime
        self._caller = caller
        self._asked: dict[tuple[ElementType, Delivery], Asked | None] = {}

    def ask(
        self,
        spec: OperatorSpec,
        attributes: Mapping[str, AttributeValue],
        *operands: Array,
        delivery: Delivery = Delivery.RUN_TIME,
    ) -> Answer | None:
        """Return what became of a question; None if the runtime has no way to be asked."""
        question = Question(spec, attributes, operands, constant(delivery, spec))
        return self._caller.call("answer", question) if self._runtime.covers(question) else None

    def divide(
        self, a: Array, b: Array, delivery: Delivery = Delivery.RUN_TIME
    ) -> tuple[Answer, IntegerRounding] | None:
        """Return the answer to a plain division, and the rounding that was asked for.

        Truncating division is asked first, then floor division, and ONNX before OpenVINO.
        """
        last = None
        for spec, attributes in _WAYS:
            answer = self.ask(spec, attributes, a, b, delivery=delivery)
            if answer is not None:
                last = answer, spec.rounding(attributes)
                if answer.end is not End.UNSUPPORTED:
                    break
        return last

    def standard(self, element_type: ElementType, delivery: Delivery = Delivery.RUN_TIME) -> Asked | None:
        """Return the answer to the probing operands of an element type; None if it cannot be asked."""
        key = element_type, delivery
        if key not in self._asked:
            self._asked[key] = self._standard(element_type, delivery)
        return self._asked[key]

    def _standard(self, element_type: ElementType, delivery: Delivery) -> Asked | None:
        a, b = integer_operands(element_type) if element_type.is_integer else float_operands(element_type)
        outcome = self.divide(a, b, delivery)
        if outcome is None:
            return None
        answer, rounding = outcome
        expected = reference.divide(a, b, element_type, rounding=rounding)
        return Asked(element_type, a, b, rounding, expected, answer)


def same(one: Array, other: Array) -> Array:
    """Return element by element whether two arrays of one type hold the same; every NaN is the same, zeros differ."""
    bits = [array.view(f"u{array.itemsize}") for array in (one, other)]
    equal = np.asarray(bits[0] == bits[1])
    if one.dtype.kind in "iu":
        return equal
    with np.errstate(invalid="ignore"):  # ml_dtypes warns of signalling NaN.
        return np.asarray(equal | (np.isnan(one) & np.isnan(other)))


def number(value: Any) -> str:
    """Return an element as text, with as many digits as tell it from its neighbours."""
    return str(int(value)) if value.dtype.kind in "iu" else str(value)


def first_difference(asked: Asked, quotients: Array, among: Array | None = None) -> str:
    """Return the first quotient that is not the expected one, as an equation; empty if there is none."""
    differs = ~same(quotients, asked.expected)
    places = np.flatnonzero(differs if among is None else differs & among)
    if not places.size:
        return ""
    a, b, q, e = (number(array[places[0]]) for array in (asked.a, asked.b, quotients, asked.expected))
    return f"{a} / {b} = {q}, not {e}"
