"""OpenVINO as it is installed: what it answers in both dialects, what it lacks, what it dies of, and its options."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conformance.asking import MINIMUM, answer, message, operation, same_bits, small
from vinculum.conformance.runtimes.registry import runtime
from vinculum.errors import ModelError
from vinculum.ops.onnx import div
from vinculum.ops.openvino import divide
from vinculum.spec.element_types import FLOAT8E4M3FN, FLOAT8E5M2, UINT8, ElementType, Kind
from vinculum.spec.onnx_div import DIV_1, DIV_14
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.spec.sonnx_div import DIV_INT

openvino = pytest.importorskip("openvino", reason="the extra 'openvino' is not installed")

DIVIDED = [t for t in DIVIDE_1.element_types if t not in (FLOAT8E4M3FN, FLOAT8E5M2)]
F = np.array([[6, 4], [2, 8]], np.float32)


class TestAnswers:
    """Operands and quotients of every type travel bit for bit, those of 4 bits two in a byte."""

    @pytest.mark.parametrize("element_type", [t for t in DIVIDED if t.is_integer], ids=str)
    def test_integers(self, element_type: ElementType) -> None:
        asked = small(DIVIDE_1, element_type, False)
        assert same_bits(runtime("openvino").answer(asked), divide(*asked.operands))

    @pytest.mark.parametrize("constant", [False, True], ids=["run-time", "constant"])
    @pytest.mark.parametrize("element_type", DIVIDED, ids=str)
    def test_quotients_that_need_no_rounding(self, element_type: ElementType, constant: bool) -> None:
        asked = small(DIVIDE_1, element_type, constant)
        ones = operation(DIVIDE_1, asked.operands[0], np.ones_like(asked.operands[0]), constant=constant)
        assert same_bits(runtime("openvino").answer(ones), asked.operands[0])

    def test_one_model_and_other_numbers(self) -> None:
        asked = runtime("openvino")
        for factor in (1, 2):
            quotient = asked.answer(operation(DIVIDE_1, F * factor, np.full_like(F, 2)))
            assert same_bits(quotient, F * factor / 2)

    @pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3)])
    @pytest.mark.parametrize("spec", [DIV_14, DIVIDE_1], ids=lambda spec: spec.title)
    def test_shapes_are_kept(self, spec: object, shape: tuple[int, ...]) -> None:
        ones = np.ones(shape, np.float32)
        asked = operation(DIV_14 if spec is DIV_14 else DIVIDE_1, ones, ones)
        assert same_bits(runtime("openvino").answer(asked), ones)

    def test_the_onnx_dialect(self) -> None:
        asked = operation(DIV_1, np.arange(24, dtype=np.float32).reshape(2, 3, 4), F[:1, 0] * 0 + 2, broadcast=1)
        assert same_bits(runtime("openvino").answer(asked), asked.operands[0] / 2)

    def test_the_axis_is_read(self) -> None:
        a, b = np.ones((2, 3, 4), np.float32), np.array([1, 2, 4], np.float32)
        asked = operation(DIVIDE_1, a, b, constant=True, auto_broadcast="pdpd", axis=1)
        assert same_bits(runtime("openvino").answer(asked), a / b.reshape(3, 1))


class TestFaults:
    """What it is known to do, so that this is seen to ask what it should."""

    def test_floor_is_ignored_at_run_time_and_honoured_where_folded(self) -> None:
        operands = np.array([-11], np.int32), np.array([3], np.int32)
        asked = runtime("openvino")
        assert asked.answer(operation(DIVIDE_1, *operands, m_pythondiv=True)).tolist() == [-3]
        assert asked.answer(operation(DIVIDE_1, *operands, constant=True, m_pythondiv=True)).tolist() == [-4]

    def test_float_division_multiplies_by_the_reciprocal(self) -> None:
        a, b = np.array([5], np.float32), np.array([3], np.float32)
        quotient = runtime("openvino").answer(operation(DIV_14, a, b))
        assert not same_bits(quotient, div(a, b))
        assert same_bits(quotient, a * (np.float32(1) / b))

    def test_each(self) -> None:
        overflow = np.array([MINIMUM]), np.array([-1])
        f8 = small(DIVIDE_1, FLOAT8E5M2, False)
        operations = {
            "a type that it does not divide": f8,
            "types that differ": operation(DIVIDE_1, F, F.astype(np.float64)),
            "shapes that do not fit": operation(DIV_14, F, F[:, :0]),
            "an unknown rule": operation(DIVIDE_1, F, F, auto_broadcast="sideways"),
            "a folded zero divisor": operation(DIVIDE_1, np.array([1]), np.array([0]), constant=True),
            "folded MIN divided by -1": operation(DIVIDE_1, *overflow, constant=True),
        }
        answers = dict(zip(operations, answer("openvino", *operations.values()), strict=True))
        assert {name: given.end.name for name, given in answers.items()} == {
            "a type that it does not divide": "UNSUPPORTED",
            "types that differ": "REFUSED",
            "shapes that do not fit": "REFUSED",
            "an unknown rule": "REFUSED",
            "a folded zero divisor": "REFUSED",
            "folded MIN divided by -1": "CRASHED",
        }
        assert "Arguments do not have the same element type" in answers["types that differ"].words
        assert "While validating" not in answers["types that differ"].words
        assert answers["folded MIN divided by -1"].words == "SIGFPE"


class TestOptions:
    """A device that is not there is refused; all other keys are OpenVINO's."""

    def test_a_device_that_is_not_there(self) -> None:
        asked = runtime("openvino[device=NPU.7]")
        assert "no device 'NPU.7' here; it has: CPU" in message(ModelError, asked.check)
        with pytest.raises(ModelError, match="no device"):
            asked.answer(operation(DIVIDE_1, F, F))

    def test_a_virtual_device(self) -> None:
        (given,) = answer("openvino[device=AUTO:CPU]", operation(DIVIDE_1, F, np.full_like(F, 2)))
        assert same_bits(given.value, F / 2)

    def test_properties(self) -> None:
        """A property reaches the device: it narrows, on processors on which OpenVINO narrows divisions at all."""
        if "FP16" not in openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES"):
            pytest.skip("OpenVINO narrows no division on this processor, which lacks float16")
        asked = operation(DIVIDE_1, np.array([1.2345], np.float32), np.ones(1, np.float32))
        (kept,), (narrowed,) = (answer(f"openvino{o}", asked) for o in ("", "[INFERENCE_PRECISION_HINT=f16]"))
        assert kept.value.tolist() == asked.operands[0].tolist()
        assert narrowed.value.tolist() == [float(np.float16(1.2345))]

    @pytest.mark.parametrize("option", ["NONSENSE=1", "NUM_STREAMS=x"])
    def test_what_it_cannot_be_compiled_with(self, option: str) -> None:
        assert option.replace("NUM_STREAMS=", "streams from str: ").removesuffix("=1") in message(
            ModelError, runtime(f"openvino[{option}]").check
        )

    def test_covers(self) -> None:
        integers = np.ones(1, np.uint8)
        assert UINT8.kind is Kind.UNSIGNED
        assert [runtime("openvino").covers(operation(s, integers, integers)) for s in (DIV_14, DIVIDE_1, DIV_INT)] == [
            True,
            True,
            False,
        ]
