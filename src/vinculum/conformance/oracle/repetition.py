"""Whether a runtime gives the same answer when it is asked again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vinculum.conformance.cases.case import Expectation
from vinculum.conformance.oracle.verdict import Kind, Verdict
from vinculum.sandbox import Answer, End
from vinculum.tensors.comparison import different
from vinculum.tensors.storage import element_type_of_dtype, native


def is_same(first: Answer, again: Answer, expectation: Expectation) -> bool:
    """Tell whether two answers to one operation are the same, as `apart` counts."""
    return apart(first, again, expectation) == 0


def apart(first: Answer, again: Answer, expectation: Expectation) -> int | None:
    """Return in how many quotients two answers to one operation differ; None if they cannot be compared.

    Quotients that the specification leaves unspecified may differ, as may the bits of NaN and the words of a refusal.
    """
    if first.end is not again.end or first.end is not End.RETURNED:
        return 0 if first.end is again.end else None
    values = first.value, again.value
    if not all(isinstance(value, np.ndarray) for value in values):
        return 0 if type(values[0]) is type(values[1]) else None
    a, b = (native(np.asarray(value)) for value in values)
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return None
    element_type = element_type_of_dtype(a.dtype)
    differ = np.asarray(a != b, np.bool_) if element_type is None else different(a, b, element_type)
    unspecified = expectation.unspecified
    if unspecified is not None and unspecified.shape == differ.shape:
        differ &= ~unspecified
    return int(np.count_nonzero(differ))


def varying(first: Verdict, again: Verdict) -> Verdict:
    """Return the verdict on two answers that are not the same: the first one's, of another kind."""
    return replace(first, kind=Kind.DIFFERS, said=f"{_words(first)}, {_words(again)}")


def _words(verdict: Verdict) -> str:
    return f"{verdict.kind.value} ({verdict.said})" if verdict.kind is Kind.CRASHED else verdict.kind.value
