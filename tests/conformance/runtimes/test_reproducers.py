"""Reproducers are complete programs that print the runtime's quotients, bit for bit."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.typing import NDArray

from tests.conformance.asking import executed, operation, same_bits, small
from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.runtimes.backends import runtime
from vinculum.conformance.runtimes.reproducer import array_source, python_program
from vinculum.spec.element_types import (
    BFLOAT16,
    DOUBLE,
    ELEMENT_TYPES,
    FLOAT,
    FLOAT8E5M2,
    FLOAT16,
    INT4,
    INT64,
    REAL,
    UINT4,
    UINT8,
    ElementType,
)
from vinculum.spec.onnx_div import DIV_1, DIV_6, DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_13
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.spec.sonnx_div import DIV_REAL
from vinculum.tensors.storage import dtype_of

A = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4)
ONNX = [
    *(small(DIV_14, element_type, constant) for element_type in (FLOAT16, UINT8) for constant in (False, True)),
    small(DIV_14, BFLOAT16, False),
    small(RECIPROCAL_13, DOUBLE, True),
    operation(DIV_14, A, A[0], constant=(True, False)),
    operation(DIV_14, np.array(7), np.empty((0, 2), np.int64)),
    operation(DIV_6, A, A[0, :, 0], broadcast=1, axis=1),
    operation(DIV_1, A, A, consumed_inputs=()),
    operation(DIV_14, A, A, axis=1),
    operation(DIV_14, A, A[:, :2]),
    operation(DIV_14, np.arange(1, 201, dtype=np.float32), np.full(200, np.float32(3))),
]
OPENVINO = [
    *(small(DIVIDE_1, t, constant) for t in (FLOAT, BFLOAT16, INT4, UINT4) for constant in (False, True)),
    small(DIVIDE_1, INT64, True),
    small(DIVIDE_1, FLOAT8E5M2, False),
    operation(DIVIDE_1, A, A[0, :, 0], constant=(False, True), auto_broadcast="pdpd", axis=1),
    operation(DIVIDE_1, A, A, auto_broadcast="sideways"),
    operation(DIVIDE_1, np.array([[-11]], np.int32), np.array(3, np.int32), m_pythondiv=False),
]
SONNX = [operation(DIV_REAL, np.array([Fraction(1, 3)]), np.array([Fraction(2, 7)]))]
ASKED = {"vinculum": [*ONNX, *OPENVINO, *SONNX], "vinculum.backend:VinculumBackend[zero_divisor=zero]": ONNX[:2]}


def _shown(asked: str, one: Operation) -> str:
    """Return the ``repr`` of a runtime's quotient, or ``"refused"``."""
    with np.printoptions(floatmode="unique"):
        try:
            return repr(runtime(asked).answer(one))
        except Exception:  # Whatever it is: the program must end with an error too.
            return "refused"


@pytest.mark.parametrize("asked", ASKED)
def test_it_shows_the_same(asked: str) -> None:
    for one in ASKED[asked]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                shown = executed(runtime(asked).reproducer(one))
        except (NameError, ImportError, AttributeError):  # A mistake in a program is no refusal.
            raise
        except Exception:
            shown = "refused"
        expected = _shown(asked, one)
        assert shown == "refused" if expected == "refused" else shown.endswith(f"\n{expected}\n")


def test_a_whole_program() -> None:
    """The program is complete and short, and prints the operands before the division."""
    asked = operation(DIV_14, np.array([7.0], np.float32), np.array([2.0], np.float32), constant=(False, True))
    assert runtime("onnx-reference").reproducer(asked) == TEXT
    assert executed(TEXT).endswith("array([3.5], dtype=float32)\n")


TEXT = """import numpy as np
from onnx import numpy_helper, parser
from onnx.reference import ReferenceEvaluator

np.set_printoptions(floatmode="unique")
a = np.array([7.0], np.float32)
b = np.array([2.0], np.float32)
print(repr(a), repr(b), sep="\\n", flush=True)
model = parser.parse_model(\"\"\"
<
   ir_version: 10,
   opset_import: ["" : 14]
>
"Div-14" (float[1] A) => (float[1] C) {
   C = Div (A, B)
}
\"\"\")
model.graph.initializer.extend([numpy_helper.from_array(b, "B")])
inputs = {"A": a}
outputs = ReferenceEvaluator(model).run(None, inputs)
print(repr(outputs[0]))
"""


def _evaluated(source: str) -> NDArray[Any]:
    names: dict[str, Any] = {}
    exec(python_program(f"array = {source}"), names)
    array: NDArray[Any] = names["array"]
    return array


class TestExact:
    """The source of an array gives the same bits."""

    @pytest.mark.parametrize("element_type", [t for t in ELEMENT_TYPES if t is not REAL], ids=str)
    @settings(max_examples=40)  # of each type
    @given(data=st.data())
    def test_any_bits(self, element_type: ElementType, data: st.DataObject) -> None:
        shape = data.draw(array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5))
        dtype = dtype_of(element_type)
        bits = data.draw(arrays(f"u{dtype.itemsize}", shape))
        array = (bits & np.array(15, bits.dtype)).astype(dtype) if element_type.bits == 4 else bits.view(dtype)
        assert same_bits(_evaluated(array_source(array)), array)

    @pytest.mark.parametrize("element_type", [FLOAT, INT64, UINT8, BFLOAT16], ids=str)
    def test_a_sequence_is_written_as_one(self, element_type: ElementType) -> None:
        for start, step in ((0, 1), (1, 1), (3, 2), (0, 2), (100, -1), (90, -3)):
            array = np.arange(start, start + 20 * step, step).reshape(4, 5).astype(dtype_of(element_type))
            source = array_source(array)
            assert source.startswith("np.arange(")
            assert same_bits(_evaluated(source), array)

    @pytest.mark.parametrize("start", [-(2.0**64), -(2.0**63) - 2048, 2.0**63, 2.0**63 - 40960])
    def test_no_sequence_leaves_int64(self, start: float) -> None:
        array = start + 2048 * np.arange(40)
        assert not array_source(array).startswith("np.arange(")
        assert same_bits(_evaluated(array_source(array)), array)
