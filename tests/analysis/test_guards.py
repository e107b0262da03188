"""What `vinculum.harden` writes is proved safe: nothing is found in a hardened model."""

from __future__ import annotations

from itertools import product

import pytest
from onnx import parser

from vinculum.analysis import check
from vinculum.ops.policies import Overflow, ZeroDivisor
from vinculum.repair import Runtime, harden

WIDTHS = (8, 16, 32, 64)


@pytest.mark.parametrize("operator", ["Div", "Mod", "Mod <fmod = 1>"])
@pytest.mark.parametrize("element_type", [f"{sign}int{width}" for sign in ("", "u") for width in WIDTHS])
@pytest.mark.parametrize("target", ["onnxruntime", "portable", "openvino"])
def test_a_guard(target: Runtime, element_type: str, operator: str) -> None:
    model = parser.parse_model(
        f'<ir_version: 8, opset_import: ["": 17]> g ({element_type}[n] a, {element_type}[n] b) => '
        f"({element_type}[n] c) {{ c = {operator} (a, b) }}"
    )
    assert check(model, runs=0).findings
    zero_divisors: tuple[ZeroDivisor, ...] = ("zero", "saturate")
    overflows: tuple[Overflow, ...] = ("wrap", "saturate")
    for zero_divisor, overflow in product(zero_divisors, overflows):
        # OpenVINO's 32 bits do not hold the largest number of a longer type, which x/0 would saturate to.
        long = element_type in ("int64", "uint32", "uint64") and operator == "Div"
        if target != "openvino" or zero_divisor == "zero" or not long:
            hardened = harden(model, target, zero_divisor=zero_divisor, overflow=overflow).model
            assert check(hardened).findings == ()
