"""The oracle of causes: predictions for fresh operands are compared with the divider's quotients."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tests.fake_runtime import Array
from vinculum.conformance.arithmetic import Answered, Predictor, predicts
from vinculum.conformance.arithmetic.answered import ACCEPTED, VALUES
from vinculum.conformance.arithmetic.catalogue import right
from vinculum.conformance.arithmetic.circumstances import has, mask
from vinculum.conformance.arithmetic.explain import contradicts
from vinculum.conformance.arithmetic.fitting import circumstances, dividends_and_divisors
from vinculum.conformance.arithmetic.rules import ALIGNMENTS, WRONG, aligned_so
from vinculum.conformance.cases.case import Case, Expectation
from vinculum.conformance.cases.expectations import without_quotient
from vinculum.conformance.cases.floats import format_of
from vinculum.conformance.cases.operation import Operation, aligned, alignment, rounding_asked
from vinculum.conformance.run.judgement import judge
from vinculum.sandbox import Answer, End
from vinculum.tensors.comparison import different
from vinculum.tensors.storage import element_type_of

SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 13, 15, 16, 17, 23, 31, 32, 33, 50, 63, 64, 65, 100, 600, 1001)
_DEATHS = {End.HUNG: 2, End.OUT_OF_MEMORY: 2, End.CRASHED: 12}  # How many are enough, as each takes a new process.
_TRIES = 6  # Draws of operands until one has the properties that a rule names, or all but one.


def contradictions(
    cause: Predictor,
    causes: Sequence[Predictor],
    cases: Sequence[Case],
    answer: Callable[[Operation], Answer],
    most: int,
) -> tuple[int, int]:
    """Return how many fresh operations contradict a cause, and to how many it applies.

    - `cause`, `causes`: The cause, and all causes of the run.
    - `cases`: For an arithmetic the cases that it explains, as it applies to operations in the same circumstances; for
      a rule, which names its circumstances, all cases of its element types.
    - `answer`: Executes an operation in the divider.
    - `most`: How many operations are asked at most.
    """
    random = np.random.default_rng(30)
    kinds = {_kind(case.operation): case for case in cases if is_of_quotients(cause) or _speaks_of(cause, case)}
    templates = [list(kinds.values())[place] for place in random.permutation(len(kinds))]
    against, spoken, left = 0, 0, dict(_DEATHS)
    for number in range(most):
        case = templates[number % len(templates)]
        operation = _fresh(case.operation, cause, random)
        if operation is None:
            continue
        one = _answered(case, operation, answer)
        verdict = _contradicted(cause, causes, one)
        if verdict is not None:
            against, spoken = against + verdict, spoken + 1
        if one.answer.end in left:
            left[one.answer.end] -= 1
            if not left[one.answer.end]:
                break
    return against, spoken


def _kind(operation: Operation) -> object:
    """Return what the circumstances of a case are: all but its numbers and its size."""
    shapes = tuple(operand.shape if operand.ndim > 1 else operand.ndim for operand in operation.operands)
    types = tuple(operand.dtype for operand in operation.operands)
    return operation.spec.title, str(operation.attributes), circumstances(operation), types, shapes


def is_of_quotients(cause: Predictor) -> bool:
    """Tell whether a cause is about quotients, in the circumstances of the cases that it explains."""
    return bool(cause.divisions) or cause.outcome == WRONG


def _speaks_of(cause: Predictor, case: Case) -> bool:
    """Tell whether a rule is about a case: one without a quotient if it is about what is accepted, else one with."""
    illegal = case.expectation.quotient is None
    return cause.outcome in ALIGNMENTS or (
        not _lacking(cause, case.operation) and illegal is (cause.outcome == ACCEPTED)
    )


def _lacking(cause: Predictor, operation: Operation) -> list[str]:
    """Return the properties of a rule that an operation is known to lack."""
    return [name for name in cause.where if has(operation, [name]) is False]


def _contradicted(cause: Predictor, causes: Sequence[Predictor], one: Answered) -> bool | None:
    """Tell whether an answer contradicts a cause; None if the cause does not apply to the operation."""
    if cause.divisions:
        value = one.answer.value
        is_quotient = isinstance(value, np.ndarray) and one.outcome == VALUES and value.size
        return not predicts(cause, one) if is_quotient else None
    if cause.outcome == WRONG:
        operation, way = one.case.operation, right(one.case.element_type)
        a, b = dividends_and_divisors(operation)
        wrong = different(
            way.quotients(a, b, rounding_asked(operation)), one.answer.value.reshape(-1), way.element_type
        )
        if (unspecified := without_quotient(a, b)) is not None:
            wrong &= ~unspecified
        return bool((wrong & ~mask(cause.where[0], a.size)).any())
    if cause.outcome in ALIGNMENTS:
        ways = {way.element_type: [way] for other in causes for way in other.divisions}
        held = aligned_so(one, ALIGNMENTS[cause.outcome][1], ways)
        return None if held is None else not held
    if not _lacking(cause, one.case.operation):
        return contradicts(cause, one) if has(one.case.operation, cause.where) else None
    # A rule that names more than is needed is false where it says by omission that all is well.
    return (
        None
        if one.outcome != cause.outcome or not one.deviates
        else not any(predicts(other, one, causes) for other in causes)
    )


def _answered(case: Case, operation: Operation, answer: Callable[[Operation], Answer]) -> Answered:
    expected = Expectation(None)
    if case.expectation.quotient is not None:
        a, b = aligned(operation)
        # Whether the numbers are right is not asked, only whether there are as many and of which type.
        expected = Expectation(np.zeros(a.shape, case.expectation.quotient.dtype), without_quotient(a, b))
    given = answer(operation)
    fresh = replace(case, asked=lambda: operation, expected=lambda: expected)
    return Answered(fresh, given, judge(operation, expected, given))


def _fresh(operation: Operation, cause: Predictor, random: np.random.Generator) -> Operation | None:
    """Return an operation in the same circumstances; None if none of those drawn has the properties of a rule."""
    for _ in range(1 if is_of_quotients(cause) else _TRIES):
        drawn = replace(operation, operands=tuple(_operands(operation, random)))
        if is_of_quotients(cause) and len(drawn.operands) == 2 and alignment(drawn) is not None:
            drawn = _with_quotients(drawn)
        if is_of_quotients(cause):  # Of another number of elements its divisor may lie otherwise.
            return drawn if circumstances(drawn) == circumstances(operation) else None
        if len(_lacking(cause, drawn)) <= random.integers(0, 2):
            return drawn
    return None


def _operands(operation: Operation, random: np.random.Generator) -> Iterator[Array]:
    """Yield operands, half of whose numbers are those of the operation, at other places."""
    shapes = [operand.shape for operand in operation.operands]
    size, alike = int(random.choice(SIZES)), len(set(shapes)) == 1
    flat = all(len(shape) <= 1 for shape in shapes) and alignment(operation) is not None
    places = random.integers(0, 1 << 40, size)
    kept = random.random(size) < 0.5
    for operand in operation.operands:
        grows = flat and operand.ndim == 1 and operand.size > (0 if alike else 1)
        shape = (size,) if grows else operand.shape
        count = int(np.prod(shape))
        fresh = _numbers(operand.dtype, count, random)
        if grows and alike:  # Pairs stay together.
            fresh = np.where(kept, operand[places % operand.size], fresh)
        elif operand.size and count:
            own = operand.reshape(-1)[random.integers(0, operand.size, count)]
            fresh = np.where(random.random(count) < 0.5, own, fresh)
        fresh = fresh.astype(operand.dtype).reshape(shape)
        fresh.flags.writeable = False
        yield fresh


def _with_quotients(operation: Operation) -> Operation:
    """Return an operation with 3 for the divisors of pairs without a quotient, to which no cause applies."""
    a, b = operation.operands
    if element_type_of(b).is_integer:
        least = element_type_of(b).minimum
        overflows = (b == -1) & bool(np.any(a == least)) if least else np.zeros(b.shape, np.bool_)
        b = np.where((b == 0) | overflows, b.dtype.type(3), b)
    return replace(operation, operands=(a, b))


def _numbers(dtype: np.dtype[Any], count: int, random: np.random.Generator) -> Array:
    """Return numbers of every size, some of them special."""
    element_type, bits = element_type_of(np.empty(0, dtype)), 8 * dtype.itemsize
    raw = random.integers(0, 1 << 64, count, np.uint64) >> np.uint64(64 - bits)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    if element_type.is_integer:
        least, most = element_type.minimum, element_type.maximum
        whole = random.integers(max(least, -20), min(most, 20) + 1, count).astype(dtype)
        if element_type.bits < 8:
            return whole
        edges = random.choice(np.array([least, least + 1, most, most - 1, 0, 1], object), count).astype(dtype)
        short = (raw >> random.integers(0, bits, count, np.uint64)).astype(unsigned).view(dtype)
        kinds = [raw.astype(unsigned).view(dtype), edges, short, whole]
    else:
        trailing = format_of(element_type).trailing_bits
        small = (raw >> np.uint64(bits - trailing)).astype(unsigned).view(dtype)
        special = random.choice(np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0]), count).astype(dtype)
        usual, whole = random.uniform(-10, 10, count).astype(dtype), random.integers(-20, 21, count).astype(dtype)
        kinds = [raw.astype(unsigned).view(dtype), special, small, usual, usual, whole]
    return np.array(kinds)[random.integers(0, len(kinds), count), np.arange(count)]
