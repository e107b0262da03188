"""Tensors as text: what is written is read as the same bits, and what cannot be read is one clear line."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tests.conformance.asking import message, same_bits
from vinculum.conformance.vectors.records import array_of, elements_text
from vinculum.errors import ModelError
from vinculum.spec.element_types import ELEMENT_TYPES, FLOAT, INT4, INT16, REAL, UINT4, ElementType
from vinculum.tensors.storage import dtype_of


class TestWritten:
    """The digits of each element, most significant first."""

    def test_digits(self) -> None:
        assert elements_text(np.array([1.0, -0.0], np.float32), FLOAT) == "3f800000 80000000"
        assert elements_text(np.array([-2], np.int16), INT16) == "fffe"
        assert elements_text(np.array([-1, 7], dtype_of(INT4)), INT4) == "f 7"
        assert elements_text(np.array([15], dtype_of(UINT4)), UINT4) == "f"
        assert elements_text(np.array([Fraction(-5, 3), Fraction(2)], object), REAL) == "-5/3 2"

    def test_the_other_byte_order(self) -> None:
        assert elements_text(np.array([258], ">i2"), INT16) == "0102"

    def test_what_is_unspecified(self) -> None:
        assert elements_text(np.array([[1, 2]], np.int16), INT16, np.array([[False, True]])) == "0001 -"


class TestReadAgain:
    """Every element type and shape comes back as it was."""

    @pytest.mark.parametrize("shape", [(), (0,), (2, 3), (2, 0)])
    @pytest.mark.parametrize("element_type", ELEMENT_TYPES, ids=str)
    def test_the_same_bits(self, element_type: ElementType, shape: tuple[int, ...]) -> None:
        count = int(np.prod(shape))
        if element_type is REAL:
            array = np.empty(count, object)
            array[:] = [Fraction(i - 2, 7) for i in range(count)]
        elif element_type.bits == 4:
            array = np.arange(count).astype(dtype_of(element_type)) - dtype_of(element_type).type(element_type.minimum)
            array = array.astype(dtype_of(element_type))
        else:
            generator = np.random.default_rng(1)
            array = np.frombuffer(generator.bytes(count * element_type.bits // 8), dtype_of(element_type))
        array = array.reshape(shape)
        read, unspecified = array_of(elements_text(array, element_type), shape, element_type)
        assert same_bits(read, array)
        assert unspecified.shape == shape
        assert not unspecified.any()

    def test_a_dash_is_zero(self) -> None:
        read, unspecified = array_of("0001 -", (2,), INT16)
        assert (read.tolist(), unspecified.tolist()) == ([1, 0], [False, True])


class TestRefused:
    """What is no tensor."""

    @pytest.mark.parametrize(
        ("text", "element_type", "words"),
        [
            ("0001 0002 0003", INT16, "3 elements are given for the shape (2,), which has 2"),
            ("0001 002", INT16, "an element is '002'; one of int16 has 4 hexadecimal digits"),
            ("0001 00g2", INT16, "an element of int16 has another digit than 0 to 9 and a to f"),
            ("1 g", INT4, "an element of int4 has another digit than 0 to 9 and a to f"),
            ("1 1/0", REAL, "an element is '1/0'; a real is written as -7 or 5/3"),
            ("1 1/00", REAL, "an element is '1/00'; a real is written as -7 or 5/3"),
            ("1 1e9", REAL, "an element is '1e9'; a real is written as -7 or 5/3"),
        ],
    )
    def test_each(self, text: str, element_type: ElementType, words: str) -> None:
        assert message(ModelError, lambda: array_of(text, (2,), element_type)) == words
