"""PyTorch as a runtime: its functions, on tensors of the same bits."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.conformance.asking import answer, message, operation, same_bits, small
from tests.processes import python, run
from vinculum import reference
from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.runtimes.registry import runtime
from vinculum.errors import AttributeValueError, ModelError
from vinculum.sandbox import End, UnsupportedError
from vinculum.spec.element_types import BFLOAT16, INT4, ElementType, by_name
from vinculum.spec.model import IntegerRounding
from vinculum.spec.onnx_div import DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_13
from vinculum.spec.openvino_divide import DIVIDE_1

TORCH = runtime("torch")
DIVIDED = [*map(by_name, ("bfloat16", "float16", "float", "double", "int8", "int16", "int32", "int64", "uint8"))]


@pytest.mark.usefixtures("torch_or_skip")
class TestAnswers:
    """It divides what it implements; the rest is not supported, in its own words."""

    @pytest.mark.parametrize("element_type", DIVIDED, ids=str)
    def test_truncating_division_and_floats(self, element_type: ElementType) -> None:
        asked = small(DIV_14, element_type, False)
        a, b = asked.operands
        assert same_bits(TORCH.answer(asked), reference.divide(a, b, element_type))

    @pytest.mark.parametrize("element_type", DIVIDED, ids=str)
    def test_floor_division(self, element_type: ElementType) -> None:
        asked = small(DIVIDE_1, element_type, False)
        a, b = asked.operands
        expected = reference.divide(a, b, element_type, rounding=IntegerRounding.FLOOR)
        assert same_bits(TORCH.answer(asked), expected)

    @pytest.mark.parametrize("element_type", RECIPROCAL_13.element_types, ids=str)
    def test_reciprocals(self, element_type: ElementType) -> None:
        asked = small(RECIPROCAL_13, element_type, False)
        assert same_bits(TORCH.answer(asked), reference.reciprocal(asked.operands[0], element_type))

    @pytest.mark.parametrize("name", ["uint16", "uint32", "uint64", "int4", "uint4", "float8e5m2", "float8e4m3fn"])
    def test_not_supported(self, name: str) -> None:
        with pytest.raises(UnsupportedError):
            TORCH.answer(small(DIVIDE_1, by_name(name), False))

    def test_every_bit_of_bfloat16_travels(self) -> None:
        every = np.arange(1 << 16, dtype=np.uint16).view(ml_dtypes.bfloat16)
        quotients = TORCH.answer(operation(DIV_14, every, np.ones((), ml_dtypes.bfloat16)))
        numbers = (every.view(np.uint16) & 0x7FFF) <= 0x7F80
        assert same_bits(quotients[numbers], every[numbers])

    def test_shapes_and_strides(self) -> None:
        a = np.arange(12, dtype=np.float32).reshape(3, 4).T[::-1]
        a.flags.writeable = False
        b = np.array([[2], [4], [8], [16]], np.float32)
        assert same_bits(TORCH.answer(operation(DIV_14, a, b)), a / b)
        assert TORCH.answer(operation(DIV_14, np.empty((0, 3)), np.ones(3))).shape == (0, 3)
        assert TORCH.answer(operation(DIV_14, np.array(7), np.array(2))).shape == ()

    def test_a_mixture_is_asked(self) -> None:
        assert TORCH.answer(operation(DIV_14, np.ones(1, np.int32), np.ones(1, np.int64))).dtype == np.int64

    def test_no_gpu_is_refused_before_anything_is_asked(self, torch_or_skip: object) -> None:
        if torch_or_skip.cuda.is_available():  # type: ignore[attr-defined]  # a module
            pytest.skip("here is one")
        assert "finds no CUDA device" in message(ModelError, runtime("torch[device=cuda]").check)

    def test_the_first_operation_stays_within_its_limit(self) -> None:
        (one,) = answer("torch", small(DIV_14, BFLOAT16, False))
        assert one.end is End.RETURNED


@pytest.mark.usefixtures("torch_or_skip")
class TestReproducers:
    """A program shows what PyTorch does, also where it takes what it must refuse, or does not implement a type."""

    def _run(self, asked: Operation) -> None:
        with np.printoptions():  # which a program sets
            exec(TORCH.reproducer(asked), {})

    def test_two_types(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._run(operation(DIV_14, np.array([8], np.uint8), np.array([3]).astype(ml_dtypes.bfloat16)))
        assert capsys.readouterr().out.splitlines()[-1] == "tensor([2.], dtype=torch.bfloat16)"

    def test_four_bits(self) -> None:
        asked = small(DIVIDE_1, INT4, False)
        with pytest.raises(UnsupportedError, match="not implemented for 'Int4'"):
            TORCH.answer(asked)
        with pytest.raises(NotImplementedError, match="not implemented for 'Int4'"):
            self._run(asked)


class TestWithoutPytorch:
    """What needs no PyTorch imports none."""

    def test_options(self) -> None:
        line = message(AttributeValueError, lambda: runtime("torch[device=tpu]"))
        assert line == "device of torch is 'tpu'; allowed: cpu, cuda"
        line = message(AttributeValueError, lambda: runtime("torch[devise=cpu]"))
        assert line == "torch has no option 'devise'; allowed: device; did you mean 'device'?"

    def test_nothing_is_imported(self) -> None:
        source = (
            "import sys, numpy as np\n"
            "from tests.conformance.asking import operation\n"
            "from vinculum.conformance.runtimes.registry import runtime\n"
            "from vinculum.spec.onnx_div import DIV_14\n"
            "for name in ('torch', 'jax'):\n"
            "    one = runtime(name)\n"
            "    asked = operation(DIV_14, np.ones(1), np.ones(1))\n"
            "    one.covers(asked), one.versions(), one.reproducer(asked)\n"
            "assert not {'torch', 'jax'} & set(sys.modules)\n"
        )
        done = run(python(source))
        assert done.returncode == 0, done.stderr

    def test_not_installed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("vinculum.conformance.runtimes.packages.find_spec", lambda name: None)
        for name in ("torch", "jax"):
            line = message(ModelError, runtime(name).check)
            assert line.endswith(f"the package {name} is not installed: pip install 'vinculum-div[{name}]'")
