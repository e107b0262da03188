"""The reference evaluator of the onnx package, with what it is known to overlook."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conformance.asking import message, operation, same_bits, small
from vinculum.conformance.runtimes.registry import runtime
from vinculum.errors import AttributeValueError
from vinculum.ops.onnx import div
from vinculum.spec.element_types import ElementType
from vinculum.spec.onnx_div import DIV_1, DIV_14
from vinculum.spec.openvino_divide import DIVIDE_1


class TestReference:
    """It is asked in models, as users do."""

    @pytest.mark.parametrize("constant", [False, True], ids=["run-time", "constant"])
    @pytest.mark.parametrize("element_type", DIV_14.element_types, ids=str)
    def test_small_numbers(self, element_type: ElementType, constant: bool) -> None:
        asked = small(DIV_14, element_type, constant)
        assert same_bits(runtime("onnx-reference").answer(asked), div(*asked.operands))

    def test_versions_are_ignored(self) -> None:
        quotient = runtime("onnx-reference").answer(operation(DIV_1, np.array([7]), np.array([2])))
        assert quotient.tolist() == [3]

    def test_one_that_does_not_fit_is_refused(self) -> None:
        with pytest.raises(TypeError, match="binary operator 'Div'"):
            runtime("onnx-reference").answer(operation(DIV_14, np.ones(2), np.ones(3)))

    def test_it_has_no_options(self) -> None:
        assert message(AttributeValueError, lambda: runtime("onnx-reference[a=b]")).endswith("it takes no options")

    def test_covers(self) -> None:
        assert not runtime("onnx-reference").covers(operation(DIVIDE_1, np.ones(1), np.ones(1)))
        assert list(runtime("onnx-reference").versions()) == ["onnx", "numpy"]
