"""The quotient is exactly the same in the type that carries it: every 8-bit pair; `test_divisions` has all types."""

from __future__ import annotations

import numpy as np
import pytest

from tests.models.built_models import division, run
from vinculum import div
from vinculum.models.convert.opset.conversion import convert_opset
from vinculum.models.onnx.promoted_types import promotion
from vinculum.spec.element_types import BFLOAT16, FLOAT, INT8, INT64, UINT8, ElementType
from vinculum.spec.onnx_div import DIV_1, DIV_6
from vinculum.tensors.storage import dtype_of


@pytest.mark.parametrize("element_type", [INT8, UINT8], ids=str)
@pytest.mark.parametrize("opset", [7, 13])
def test_eight_bits_in_32_bit_integers(element_type: ElementType, opset: int) -> None:
    """int8 and uint8: all pairs."""
    every = np.arange(256, dtype=np.uint8).view(dtype_of(element_type))
    a, b = (x.ravel() for x in np.meshgrid(every, every))
    converted = convert_opset(division(element_type, [a.size], [a.size], opset=14), opset).model
    quotients = run(converted, {"A": a, "B": b})["C"]
    assert quotients.tobytes() == div(a, b, zero_divisor="zero").tobytes()


def test_what_cannot_be_carried_is_refused() -> None:
    """A type that no Cast takes, and one without a wider type."""
    with pytest.raises(ValueError, match="Div-6 lacks bfloat16, and the operator set has no Cast"):
        promotion(BFLOAT16, DIV_6, 12)
    assert promotion(BFLOAT16, DIV_6, 13) is FLOAT
    with pytest.raises(ValueError, match="Div-1 lacks int64"):
        promotion(INT64, DIV_1, 5)
