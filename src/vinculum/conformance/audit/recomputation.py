"""Recomputing the divisions of a run from the operands that the runtime used, and judging its quotients.

Where a run returned none, our engine finds the divisions that may have crashed the runtime: x/0 and MIN/-1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.audit.record import Hazard, NodeRecord
from vinculum.conformance.audit.taps import Layout, Tap, taken_branch
from vinculum.conformance.cases.case import Expectation
from vinculum.conformance.cases.expectations import are, are_minimum_by_minus_one, without_quotient
from vinculum.conformance.cases.operation import Operation, aligned
from vinculum.conformance.run.judgement import judge
from vinculum.conformance.run.record import Kind, Verdict
from vinculum.errors import DivisionByZeroError, IntegerOverflowError, VinculumError
from vinculum.models.execution import limited
from vinculum.models.model import Model
from vinculum.ops.operator import Operator
from vinculum.ops.policies import Overflow, ZeroDivisor
from vinculum.sandbox import Answer, End, Isolated
from vinculum.spec.element_types import BinaryFormat
from vinculum.tensors.comparison import encodings
from vinculum.tensors.storage import element_type_of
from vinculum.text import quoted, shape_text

_KINDS = list(Kind)
"""From best to worst."""


def record(tap: Tap, inputs: Mapping[str, Any], exposed: Sequence[Any], process: Isolated | None) -> NodeRecord:
    """Return the record of one division in a run.

    - `process`: The runtime, in which a division that is not exact is repeated alone; None to skip that.
    """
    if tap.unobserved is not None:
        return unobserved(tap, tap.unobserved)
    try:
        values = _split(tap.layout, [source.value(inputs, exposed) for source in tap.sources])
    except (ValueError, IndexError):  # A runtime may return anything.
        return unobserved(tap, "the exposed shapes contradict each other")
    if values is None:
        return unobserved(tap, "it is not executed")
    *operands, actual = values
    constant = tuple(source.is_constant(inputs) for source in tap.sources[: len(operands)])
    operation = Operation(tap.division.spec, tap.attributes, tuple(operands), constant)
    try:
        expected = _quotient(operation)
    except VinculumError as error:
        return unobserved(tap, f"its operands cannot be divided: {error}")
    dividend, divisor = aligned(operation)
    expectation = Expectation(expected, without_quotient(dividend, divisor))
    verdict = judge(operation, expectation, Answer(End.RETURNED, np.asarray(actual)))
    again = None if process is None or verdict.kind.passes else process.call("answer", operation)
    return NodeRecord(
        tap.division,
        element_type_of(expected),
        tuple(operand.shape for operand in operands),
        verdict,
        None if again is None else judge(operation, expectation, again),
        hazards(dividend, divisor, expected),
        smallest_divisor(divisor),
        sizes=(expected.size,),
    )


def unobserved(tap: Tap, why: str) -> NodeRecord:
    """Return the record of a division whose quotients are not known."""
    return NodeRecord(tap.division, tap.division.element_type, unobserved=why)


def merged(records: Sequence[NodeRecord]) -> Verdict | None:
    """Return the joint verdict on one division in several runs; None if no run has a verdict."""
    verdicts = [found.verdict for found in records if found.verdict is not None]
    if not verdicts:
        return None
    worst = max(verdicts, key=lambda verdict: _KINDS.index(verdict.kind))
    ulps: Counter[int] = sum((Counter(verdict.ulps) for verdict in verdicts), Counter())
    return replace(
        worst,
        elements=sum(verdict.elements for verdict in verdicts),
        differing=sum(verdict.differing for verdict in verdicts),
        ulps=dict(sorted(ulps.items())),
        largest=max(verdict.largest or 0 for verdict in verdicts) if worst.kind is Kind.ULPS else None,
        unspecified=(),
    )


def _split(layout: Layout, values: list[Any]) -> list[Any] | None:
    """Return operands and quotient from the exposed values; None if the node was not executed."""
    if layout is not Layout.STACKED:
        return taken_branch(values) if layout is Layout.BRANCH else values
    if values[-1].shape[:1] == (0,):
        return None
    rank = max(stack.ndim for stack in values)  # Stacks are to broadcast like the items of each iteration.
    return [stack.reshape(stack.shape[0], *[1] * (rank - stack.ndim), *stack.shape[1:]) for stack in values]


def _quotient(operation: Operation) -> NDArray[Any]:
    spec = operation.spec
    attributes: dict[str, Any] = dict(operation.attributes)
    policies: dict[str, Any] = {"zero_divisor": "zero", "overflow": "wrap"}
    operator = Operator(spec.name, opset=spec.since_version, dialect=spec.dialect.value, **policies, **attributes)
    return operator(*operation.operands)


Array = NDArray[Any]
Mask = NDArray[np.bool_]


def hazards(dividend: Array, divisor: Array, quotient: Array) -> tuple[Hazard, ...]:
    """Return the hazards that occur in aligned operands and their exact quotients."""
    form = element_type_of(divisor).binary_format
    integers = ("divisor zero", are(divisor, 0)), ("MIN/-1", are_minimum_by_minus_one(dividend, divisor))
    found = []
    for what, mask in integers if form is None else _of_floats(dividend, divisor, quotient, form):
        if count := int(np.count_nonzero(mask)):
            found.append(Hazard(what, count, tuple(int(i) for i in np.unravel_index(int(np.argmax(mask)), mask.shape))))
    return tuple(found)


def smallest_divisor(divisor: Array) -> str | None:
    """Return the first divisor with the smallest magnitude other than zero and NaN."""
    flat = np.ascontiguousarray(divisor).reshape(-1)
    form = element_type_of(divisor).binary_format
    if form is None:
        wide = flat.astype(np.int64) if flat.dtype.itemsize < 8 else flat
        # No positive number has the magnitude of MIN, so negated magnitudes are compared.
        magnitudes = ~np.minimum(wide, -wide) if wide.dtype.kind == "i" else wide - np.uint64(1)
        candidates = np.flatnonzero(wide != 0)
    else:
        magnitudes = _magnitudes(flat, form)
        candidates = np.flatnonzero((magnitudes != 0) & (magnitudes <= form.largest + form.infinities))
    if not candidates.size:
        return None
    return str(flat[candidates[int(np.argmin(magnitudes[candidates]))]])


def _of_floats(dividend: Array, divisor: Array, quotient: Array, form: BinaryFormat) -> Iterator[tuple[str, Mask]]:
    smallest_normal = 1 << form.trailing_bits
    a, b, q = (_magnitudes(array, form) for array in (dividend, divisor, quotient))
    yield "divisor zero", b == 0
    yield "divisor subnormal", (b != 0) & (b < smallest_normal)
    finite = (a <= form.largest) & (b <= form.largest) & (b != 0)
    yield "quotient overflows", finite & (q > form.largest)
    finite &= a != 0
    yield "quotient underflows to zero", finite & (q == 0)
    yield "quotient subnormal", finite & (q != 0) & (q < smallest_normal)
    # Encodings above infinity are NaN.
    largest = form.largest + form.infinities
    yield "quotient NaN, no operand", (q > largest) & (a <= largest) & (b <= largest)


def _magnitudes(array: Array, form: BinaryFormat) -> Array:
    bits = encodings(array, element_type_of(array))
    magnitudes: Array = bits & bits.dtype.type(form.sign_mask - 1)
    return magnitudes


_SECONDS = 60.0
_LARGEST_RESULT = 1 << 30  # Bytes, for operators whose operands determine the size of the result.


def suspects(file: Path, inputs: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a sentence for the first division with MIN/-1, and for the first integer division by 0.

    - `file`: The file of the model; if our engine cannot run it, there are no suspects.
    """
    from vinculum.models import load

    try:
        model = load(file)
    except VinculumError:
        return ()
    found = (_first(model, inputs, "zero", "raise"), _first(model, inputs, "raise", "wrap"))
    return tuple(sentence for sentence in found if sentence is not None)


def shown(taps: Sequence[Tap], inputs: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence with the first and the last pair of MIN/-1 or x/0 of each division whose operands are given."""
    for tap in taps:
        sources = tap.sources[:-1]
        if tap.layout is not Layout.AS_THEY_ARE or not sources or any(source.place is not None for source in sources):
            continue
        operands = tuple(source.value(inputs, ()) for source in sources)
        try:
            a, b = aligned(Operation(tap.division.spec, tap.attributes, operands, (False,) * len(operands)))
        except (AssertionError, VinculumError):  # Shapes that do not fit.
            continue
        without = without_quotient(a, b)
        if without is not None:
            places = np.argwhere(without)
            pairs = (tuple(int(i) for i in place) for place in (places[0], places[-1]))
            words = dict.fromkeys(f"{a[index]} / {b[index]} at {index}" for index in pairs)
            yield f"{quoted(tap.division.name)} divides {' and '.join(words)}, in shape {shape_text(a.shape)}"


def _first(model: Model, inputs: Mapping[str, Any], zero_divisor: ZeroDivisor, overflow: Overflow) -> str | None:
    try:
        with limited(_SECONDS, _LARGEST_RESULT):
            model.run(inputs, zero_divisor=zero_divisor, overflow=overflow)
    except (DivisionByZeroError, IntegerOverflowError) as error:
        return str(error.args[0])  # Without the advice to take another policy.
    except VinculumError:
        return None  # A model that our engine cannot run reveals nothing.
    return None
