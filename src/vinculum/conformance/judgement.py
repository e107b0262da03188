"""What an answer is worth: it is held against the exact quotients, bit for bit."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.case import Case
from vinculum.conformance.number_text import number_text
from vinculum.conformance.question import pair
from vinculum.conformance.silence import what_it_did
from vinculum.conformance.verdict import Example, Kind, Verdict
from vinculum.sandbox import Answer, End
from vinculum.spec.element_types import ElementType
from vinculum.text import shape_text

_DEATHS = {
    End.CRASHED: Kind.CRASHED,
    End.HUNG: Kind.HUNG,
    End.OUT_OF_MEMORY: Kind.OUT_OF_MEMORY,
}


def judge(case: Case, answer: Answer) -> Verdict:
    """Return what an answer is worth.

    NaN equals NaN, whatever its sign and payload; -0.0 and 0.0 differ. In which order the bytes of a number lie is no
    matter of its element type.

    Parameters
    ----------
    case : Case
        The case, with what the specification expects.
    answer : Answer
        What became of its question.
    """
    if answer.end in _DEATHS:
        return Verdict(_DEATHS[answer.end], answer.words)
    expected, silent = case.expectation.quotient, case.expectation.silent
    if expected is None:
        if answer.end is End.RETURNED:
            return Verdict(Kind.ACCEPTED, f"gave {_kind_of(answer.value)}")
        return Verdict(Kind.REFUSED_AS_REQUIRED, answer.words)
    if answer.end is End.UNSUPPORTED:
        return Verdict(Kind.UNSUPPORTED, answer.words)
    left_open = silent is not None and bool(silent.any())
    if answer.end is End.REFUSED:
        return Verdict(Kind.SILENT, f"refused: {answer.words}") if left_open else Verdict(Kind.REFUSED, answer.words)
    # Of a class of its own an array may look as it likes.
    actual = np.asarray(answer.value) if isinstance(answer.value, np.ndarray) else answer.value
    if not _has_type(actual, expected.dtype):
        wanted = "exact rationals" if expected.dtype.hasobject else expected.dtype
        return Verdict(Kind.WRONG_TYPE, f"gave {_kind_of(actual)} instead of {wanted}")
    if actual.shape != expected.shape:
        shapes = f"gave shape {shape_text(actual.shape)} instead of {shape_text(expected.shape)}"
        return Verdict(Kind.WRONG_SHAPE, shapes)
    return _compared(case, expected, actual.astype(expected.dtype, copy=False), silent if left_open else None)


def _has_type(actual: object, dtype: np.dtype[Any]) -> bool:
    if not isinstance(actual, np.ndarray) or actual.dtype.newbyteorder("=") != dtype:
        return False
    return not dtype.hasobject or all(type(element) is Fraction for element in actual.flat)


def _kind_of(value: object) -> str:
    if not isinstance(value, np.ndarray):
        return f"no array but {type(value).__name__}"
    name = "objects" if value.dtype.hasobject else str(value.dtype)
    return f"{name} of shape {shape_text(value.shape)}"


def _compared(case: Case, expected: NDArray[Any], actual: NDArray[Any], silent: NDArray[np.bool_] | None) -> Verdict:
    differ = _different(expected, actual, case.element_type)
    elements, did = expected.size, ""
    if silent is not None:
        differ &= ~silent
        elements -= int(np.count_nonzero(silent))
        did = what_it_did(case, actual, silent)
    count = int(np.count_nonzero(differ))
    if not count:
        return Verdict(Kind.EXACT if silent is None else Kind.SILENT, did, elements)
    off = _ulps(expected[differ], actual[differ], case.element_type)
    example = _example(case, expected, actual, differ)
    if off is None:
        words = f"{count} of {_counted(elements)} wrong"
        return Verdict(Kind.WRONG_VALUE, _joined(words, did), elements, count, example=example)
    largest = max(off)
    words = f"{count} of {_counted(elements)} off, by up to {largest} ulp{'' if largest == 1 else 's'}"
    histogram = dict(sorted(Counter(n.bit_length() - 1 for n in off).items()))
    return Verdict(Kind.ULPS, _joined(words, did), elements, count, histogram, largest, example)


def _counted(elements: int) -> str:
    return "1 quotient is" if elements == 1 else f"{elements} quotients are"


def _joined(words: str, did: str) -> str:
    return f"{words}; where the specification is silent: {did}" if did else words


def _different(expected: NDArray[Any], actual: NDArray[Any], element_type: ElementType) -> NDArray[np.bool_]:
    if element_type.binary_format is None:
        return np.asarray(expected != actual, bool)
    bits = [_encodings(array, element_type) for array in (expected, actual)]
    return np.asarray((bits[0] != bits[1]) & ~(_is_nan(bits[0], element_type) & _is_nan(bits[1], element_type)))


def _encodings(array: NDArray[Any], element_type: ElementType) -> NDArray[Any]:
    return np.ascontiguousarray(array).view(f"u{element_type.bits // 8}").reshape(array.shape)


def _is_nan(bits: NDArray[Any], element_type: ElementType) -> NDArray[np.bool_]:
    """Tell which encodings are NaN; ml_dtypes' own answer to that warns of signalling ones."""
    form = element_type.binary_format
    if form is None:
        return np.zeros(bits.shape, np.bool_)
    return np.asarray(bits & bits.dtype.type(form.sign_mask - 1) > form.largest + form.infinities)


def _ulps(expected: NDArray[Any], actual: NDArray[Any], element_type: ElementType) -> list[int] | None:
    """Return by how many encodings each quotient is off; None if that is no measure of one of them.

    A quotient that is NaN, infinite, of the other sign, or a binade or more away is no rounding of the right one.
    """
    form = element_type.binary_format
    if form is None:
        return None
    bits = [_encodings(array, element_type) for array in (expected, actual)]
    mask = bits[0].dtype.type(form.sign_mask)
    magnitudes = [own & ~mask for own in bits]
    if np.any((bits[0] ^ bits[1]) & mask) or any(np.any(own > form.largest) for own in magnitudes):
        return None
    # Of one sign, encodings follow each other as the numbers do.
    distances: list[int] = (np.maximum(*magnitudes) - np.minimum(*magnitudes)).tolist()
    return distances if max(distances) < 1 << form.trailing_bits else None


def _example(case: Case, expected: NDArray[Any], actual: NDArray[Any], differ: NDArray[np.bool_]) -> Example:
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(differ)), differ.shape))
    numbers = (*pair(case.question, index), expected[index], actual[index])
    *texts, right, given = (number_text(number, case.element_type) for number in numbers)
    return Example(index, tuple(texts), right, given)
