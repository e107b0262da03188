"""JAX as a runtime: its functions, with 64-bit types."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conformance.asking import answer, message, operation, same_bits, small
from tests.optional import needs
from vinculum import reference
from vinculum.conformance.runtimes.registry import runtime
from vinculum.errors import AttributeValueError, ModelError
from vinculum.sandbox import End
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import IntegerRounding
from vinculum.spec.onnx_div import DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_13
from vinculum.spec.openvino_divide import DIVIDE_1


@needs("jax")
@pytest.mark.parametrize("backend", ["jax", "jax[jit=true]"])
class TestAnswers:
    """It divides every type, compiled as a whole or not. It answers in another process, which may keep 64-bit types."""

    def test_truncating_division_and_floats(self, backend: str) -> None:
        asked = [small(DIV_14, element_type, False) for element_type in DIV_14.element_types]
        for one, element_type, got in zip(asked, DIV_14.element_types, answer(backend, *asked), strict=True):
            a, b = one.operands
            assert same_bits(got.value, reference.divide(a, b, element_type)), element_type

    def test_floor_division(self, backend: str) -> None:
        asked = [small(DIVIDE_1, element_type, False) for element_type in DIVIDE_1.element_types]
        for one, element_type, got in zip(asked, DIVIDE_1.element_types, answer(backend, *asked), strict=True):
            a, b = one.operands
            expected = reference.divide(a, b, element_type, rounding=IntegerRounding.FLOOR)
            assert same_bits(got.value, expected), element_type

    def test_reciprocals_shapes_and_refusals(self, backend: str) -> None:
        float_type: ElementType = RECIPROCAL_13.element_types[0]
        asked = small(RECIPROCAL_13, float_type, False)
        reciprocal, broadcast, empty, beyond, mixed = answer(
            backend,
            asked,
            operation(DIV_14, np.array([[7], [-7]]), np.array([2, 3, 7])),
            operation(DIV_14, np.empty((0, 3), np.int64), np.zeros((1, 3), np.int64)),
            operation(DIV_14, np.ones((2, 3)), np.ones((2, 2))),
            operation(DIV_14, np.ones(1, np.float32), np.ones(1, np.float64)),
        )
        assert same_bits(reciprocal.value, reference.reciprocal(asked.operands[0], float_type))
        assert broadcast.value.tolist() == [[3, 2, 1], [-3, -2, -1]]
        assert empty.value.shape == (0, 3)
        assert beyond.end is End.REFUSED
        assert (mixed.end, mixed.value.dtype) == (End.RETURNED, np.float64)


class TestOptions:
    """An unknown one is refused in a line."""

    def test_refused(self) -> None:
        assert message(AttributeValueError, lambda: runtime("jax[platform=tpu]")).endswith("allowed: cpu, gpu")
        assert message(AttributeValueError, lambda: runtime("jax[jit=yes]")).endswith("allowed: true, false")
        assert message(AttributeValueError, lambda: runtime("jax[x64=true]")).startswith("jax has no option 'x64'")


@needs("jax")
def test_no_gpu_is_refused_before_anything_is_asked() -> None:
    import jax

    if jax.default_backend() == "gpu":
        pytest.skip("here is one")
    line = message(ModelError, runtime("jax[platform=gpu]").check)
    assert "JAX has no device of the platform gpu here" in line
