"""The probes' way to ask: questions for processes that answer, and what the reference says of the same operands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vinculum import reference
from vinculum.conformance.fingerprint.operands import float_operands, integer_operands, right_quotients
from vinculum.conformance.generators.deliveries import Delivery, constant
from vinculum.conformance.question import Question
from vinculum.conformance.runtimes.protocol import Runtime
from vinculum.sandbox import Answer, End
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import AttributeValue, IntegerRounding, OperatorSpec
from vinculum.spec.onnx_div import DIV_14
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.tensors.storage import element_type_of

Array = NDArray[Any]

KILLED = (End.CRASHED, End.HUNG, End.OUT_OF_MEMORY)

_WAYS: tuple[tuple[OperatorSpec, Mapping[str, AttributeValue]], ...] = (
    (DIV_14, {}),
    (DIVIDE_1, {"m_pythondiv": False}),
    (DIVIDE_1, {"m_pythondiv": True}),
)


class Caller(Protocol):
    """The object in a process that answers: `vinculum.sandbox.Isolated`."""

    def call(self, method: str, *arguments: object) -> Answer:
        """Return what became of a call."""


@dataclass(frozen=True, eq=False)
class Asked:
    """Operands of one element type, the answer, and what is right.

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
        return quotients(self.answer, self.expected)


class Asker:
    """Asks a runtime in several processes at once, each standard question once.

    Parameters
    ----------
    runtime : Runtime
        The one in our process, which knows what it can be asked.
    callers : sequence of Caller
        Those that answer.
    pool : ThreadPoolExecutor
        With as many threads.
    """

    def __init__(self, runtime: Runtime, callers: Sequence[Caller], pool: ThreadPoolExecutor) -> None:
        self._runtime = runtime
        self._pool = pool
        self._free: SimpleQueue[Caller] = SimpleQueue()
        for caller in callers:
            self._free.put(caller)
        self._asked: dict[tuple[ElementType, Delivery], Future[Asked | None]] = {}

    def ask(
        self,
        spec: OperatorSpec,
        attributes: Mapping[str, AttributeValue],
        *operands: Array,
        delivery: Delivery = Delivery.RUN_TIME,
    ) -> Future[Answer | None]:
        """Return what will become of a question; None if the runtime has no way to be asked."""
        return self._pool.submit(self._ask, Question(spec, attributes, operands, constant(delivery, spec)))

    def divide(self, a: Array, b: Array, delivery: Delivery = Delivery.RUN_TIME) -> Future[Asked | None]:
        """Return what will become of a plain division, the operands broadcast, or None as in `ask`.

        Truncating division is asked first, then floor division, and ONNX before OpenVINO.
        """
        element_type = element_type_of(a)
        laid_a, laid_b = (operand.copy() for operand in np.broadcast_arrays(a, b))

        def right(rounding: IntegerRounding) -> Array:
            return reference.divide(laid_a, laid_b, element_type, rounding=rounding, zero_divisor="zero")

        return self._pool.submit(self._divide, a, b, delivery, right)

    def standard(self, element_type: ElementType, delivery: Delivery = Delivery.RUN_TIME) -> Future[Asked | None]:
        """Return what will become of the division of an element type's probing operands."""
        key = element_type, delivery
        if key not in self._asked:
            operands = integer_operands if element_type.is_integer else float_operands
            right = partial(right_quotients, element_type)
            self._asked[key] = self._pool.submit(self._divide, *operands(element_type), delivery, right)
        return self._asked[key]

    def _divide(
        self, a: Array, b: Array, delivery: Delivery, right: Callable[[IntegerRounding], Array]
    ) -> Asked | None:
        answer = None
        for spec, attributes in _WAYS:
            given = self._ask(Question(spec, attributes, (a, b), constant(delivery, spec)))
            if given is not None:
                answer, rounding = given, spec.rounding(attributes)
                if answer.end is not End.UNSUPPORTED:
                    break
        if answer is None:
            return None
        a, b = np.broadcast_arrays(a, b)
        return Asked(element_type_of(a), a, b, rounding, right(rounding), answer)

    def _ask(self, question: Question) -> Answer | None:
        if not self._runtime.covers(question):
            return None
        caller = self._free.get()
        try:
            return caller.call("answer", question)
        finally:
            self._free.put(caller)


def quotients(answer: Answer, like: Array) -> Array | None:
    """Return the quotients of an answer; None if there are none of that type and shape."""
    value = answer.value
    fits = isinstance(value, np.ndarray) and (value.dtype, value.shape) == (like.dtype, like.shape)
    return value if fits else None
