"""Tensors as text: each element as the hexadecimal digits of its bits, most significant first; reals as fractions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.errors import ModelError
from vinculum.spec.element_types import REAL, ElementType
from vinculum.tensors.storage import dtype_of, native
from vinculum.text import quoted

UNSPECIFIED = "-"
"""Written for an element that the specification leaves unspecified."""

_FRACTION = re.compile(r"-?\d{1,1000}(/\d{1,1000})?")


def elements_text(array: NDArray[Any], element_type: ElementType, unspecified: NDArray[np.bool_] | None = None) -> str:
    """Return the elements of an array in row-major order, separated by spaces.

    - `array`: An array of the element type.
    - `element_type`: Elements of 4 bits have one digit, of 8 bits two, and so on.
    - `unspecified`: The elements for which a dash is written.
    """
    if element_type is REAL:
        texts = [str(number) for number in array.flat]
    elif element_type.bits == 4:
        texts = [f"{int(number) & 15:x}" for number in array.flat]
    else:
        size = element_type.bits // 8
        bits = np.ascontiguousarray(native(array)).reshape(-1).view(f"u{size}")
        text = bits.astype(f">u{size}").tobytes().hex(" ", size)
        if unspecified is None:
            return text
        texts = text.split()
    if unspecified is None:
        return " ".join(texts)
    return " ".join(UNSPECIFIED if is_open else text for text, is_open in zip(texts, unspecified.flat, strict=True))


def array_of(text: str, shape: Sequence[int], element_type: ElementType) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the array of a text, with zeros for dashes, and a mask of the dashes.

    ModelError if the number of elements does not match the shape, or an element has the wrong length or wrong digits.
    """
    texts = text.split()
    if len(texts) != prod(shape):
        raise ModelError(f"{len(texts)} elements are given for the shape {tuple(shape)}, which has {prod(shape)}")
    unspecified = np.array([element == UNSPECIFIED for element in texts], np.bool_).reshape(tuple(shape))
    if element_type is REAL:
        numbers = [_fraction(element) for element in texts]
        array = np.array(numbers, object) if numbers else np.empty(0, object)
        return array.reshape(tuple(shape)), unspecified
    digits = element_type.bits // 4
    zero = "0" * digits
    written = [zero if element == UNSPECIFIED else element for element in texts]
    wrong = next((element for element in written if len(element) != digits), None)
    if wrong is not None:
        raise ModelError(f"an element is {quoted(wrong)}; one of {element_type} has {digits} hexadecimal digits")
    return _from_digits(written, element_type).reshape(tuple(shape)), unspecified


def _from_digits(texts: Sequence[str], element_type: ElementType) -> NDArray[Any]:
    try:
        if element_type.bits == 4:
            numbers = np.array([int(text, 16) for text in texts], np.uint8)
            if element_type.minimum < 0:
                numbers = np.where(numbers > 7, numbers.astype(np.int8) - 16, numbers).astype(np.int8)
            return numbers.astype(dtype_of(element_type))
        size = element_type.bits // 8
        bits = np.frombuffer(bytes.fromhex("".join(texts)), f">u{size}").astype(f"u{size}")
    except ValueError:
        raise ModelError(f"an element of {element_type} has another digit than 0 to 9 and a to f") from None
    return bits.view(dtype_of(element_type))


def _fraction(text: str) -> Fraction:
    if text == UNSPECIFIED:
        return Fraction(0)
    if not _FRACTION.fullmatch(text) or not int(text.partition("/")[2] or 1):
        raise ModelError(f"an element is {quoted(text)}; a real is written as -7 or 5/3")
    return Fraction(text)
