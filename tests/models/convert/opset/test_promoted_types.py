"""The quotient is exactly the same in the type that carries it: every 8-bit pair, and hard ones of the wider types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.models.built_models import division
from vinculum import div
from vinculum.models.convert.opset.conversion import convert_opset
from vinculum.models.onnx.promoted_types import promotion
from vinculum.spec.element_types import BFLOAT16, FLOAT, FLOAT8E4M3FN, INT8, INT16, INT64, UINT8, UINT16, ElementType
from vinculum.spec.onnx_div import DIV_1, DIV_6, DIV_13
from vinculum.tensors.storage import dtype_of

Run = Callable[..., dict[str, NDArray[Any]]]


def _hard(element_type: ElementType, seed: int) -> NDArray[Any]:
    """Return numbers of all magnitudes, and those next to the ends and to powers of two."""
    rng = np.random.default_rng(seed)
    low, high = element_type.minimum, element_type.maximum
    powers = {s * 2**k + d for k in range(element_type.bits) for d in (-1, 0, 1) for s in (1, -1)}
    edges = [x for x in {low, low + 1, high - 1, high, *powers} if low <= x <= high]
    shifts = rng.integers(0, element_type.bits, 20_000, np.uint8)
    drawn = rng.integers(low, high, 20_000, dtype_of(element_type), endpoint=True) >> shifts.astype(element_type.numpy)
    return np.concatenate([np.array(edges, dtype_of(element_type)), drawn])


def _divisors(element_type: ElementType) -> NDArray[Any]:
    found = _hard(element_type, 1)
    return np.where(found == 0, np.array(7, found.dtype), found)


@pytest.mark.parametrize("element_type", [INT8, UINT8], ids=str)
@pytest.mark.parametrize("opset", [7, 13])
def test_eight_bits_in_32_bit_integers(run: Run, element_type: ElementType, opset: int) -> None:
    """int8 and uint8: all pairs."""
    every = np.arange(256, dtype=np.uint8).view(dtype_of(element_type))
    a, b = (x.ravel() for x in np.meshgrid(every, every))
    converted = convert_opset(division(element_type, [a.size], [a.size], opset=14), opset).model
    quotients = run(converted, {"A": a, "B": b})["C"]
    assert quotients.tobytes() == div(a, b, zero_divisor="zero").tobytes()


class TestWiderIntegers:
    """16 bits in 32: the pairs next to an integer quotient among them."""

    @pytest.mark.parametrize(("element_type", "opset"), [(INT16, 13), (UINT16, 13), (INT16, 7), (UINT16, 7)], ids=str)
    def test_hard_pairs(self, run: Run, element_type: ElementType, opset: int) -> None:
        b = np.resize(_divisors(element_type), 60_000)
        whole = np.resize(_hard(element_type, 2), b.size)
        wrap = 1 << element_type.bits
        # Multiples of the divisor and their neighbours, where a wrong rounding would show.
        neighbours = np.resize([-1, 0, 1], b.size).tolist()
        near = [q * d + k for q, d, k in zip(whole.tolist(), b.tolist(), neighbours, strict=True)]
        a = np.array([x % wrap for x in near], f"u{element_type.bits // 8}").view(dtype_of(element_type))
        model = division(element_type, [a.size], b, opset=14)
        quotients = run(convert_opset(model, opset).model, {"A": a})["C"]
        assert quotients.tobytes() == div(a, b).tobytes()


class TestWhatCannotBeCarried:
    """Refused: a type that no Cast takes, and one without a wider type."""

    def test_no_cast(self) -> None:
        for element_type, target, opset in ((BFLOAT16, DIV_6, 12), (FLOAT8E4M3FN, DIV_13, 18)):
            with pytest.raises(
                ValueError, match=f"{target.title} lacks {element_type}, and the operator set has no Cast"
            ):
                promotion(element_type, target, opset)
        assert promotion(FLOAT8E4M3FN, DIV_13, 19) is FLOAT

    def test_no_wider_type(self) -> None:
        with pytest.raises(ValueError, match="Div-1 lacks int64"):
            promotion(INT64, DIV_1, 5)
