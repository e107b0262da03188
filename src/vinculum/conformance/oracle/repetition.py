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
    """Tell whether two answers to one operation are the same.

    Quotients that the specification leaves unspecified may differ, as may the bits of NaN and the words of a refusal.
    """
    if first.end is not again.end or first.end is not End.RETURNED:
        return first.end is again.end
    values = first.value, again.value
    if not all(isinstance(value, np.ndarray) for value in values):
        return type(values[0]) is type(values[1])
    a, b = (native(np.asarray(value)) for value in values)
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return False
    element_type = element_type_of_dtype(a.dtype)
    differ = np.asarray(a != b, np.bool_) if element_type is None else different(a, b, element_type)
    unspecified = expectation.unspecified
    if unspecified is not None and unspecified.shape == differ.shape:
        differ &= ~unspecified
    return not differ.any()


def varying(first: Verdict, again: Verdict) -> Verdict:
    """Return the verdict on two answers that are not the same: the first one's, of another kind."""
    return replace(first, kind=Kind.DIFFERS, said=f"{_words(first)}, {_words(again)}")


def _words(verdict: Verdict) -> str:
    return f"{verdict.kind.value} ({verdict.said})" if verdict.kind is Kind.CRASHED else verdict.kind.value
