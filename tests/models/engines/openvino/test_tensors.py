"""Elements as OpenVINO stores them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cases import case
from vinculum.models.engines.openvino.tensors import openvino_name, packed, unpacked
from vinculum.spec.element_types import ELEMENT_TYPES, INT4, REAL, UINT4, ElementType
from vinculum.tensors.storage import dtype_of


@pytest.mark.parametrize(("element_type", "expected"), [(UINT4, [1, 2, 15, 8, 7]), (INT4, [1, 2, -1, -8, 7])], ids=str)
def test_two_in_a_byte_the_first_in_the_low_half(element_type: ElementType, expected: list[int]) -> None:
    raw = np.array([0x21, 0x8F, 0x07], np.uint8)
    array = unpacked(raw, element_type, 5)
    assert array.astype(np.int8).tolist() == expected
    assert packed(array, element_type) == raw.tobytes()


def test_whole_bytes() -> None:
    raw = np.arange(16, dtype=np.uint8)
    for element_type in ELEMENT_TYPES:
        if element_type is not REAL and element_type.bits >= 8:
            with case(element_type):
                array = unpacked(raw, element_type, 128 // element_type.bits)
                assert array.dtype == dtype_of(element_type)
                assert packed(array, element_type) == raw.tobytes()


def test_boolean() -> None:
    assert unpacked(np.array([0, 1, 255], np.uint8), "bool", 3).tolist() == [False, True, True]
    assert openvino_name("bool") == "boolean"
