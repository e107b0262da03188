"""Our own engine, asked in all three dialects on the paths of its users."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tests.conformance.asking import operation, same_bits, small
from vinculum.conformance.runtimes.backends import runtime
from vinculum.errors import BroadcastError, ConstraintError, DivisionByZeroError, ElementTypeError
from vinculum.spec.element_types import INT32
from vinculum.spec.model import IntegerRounding, OperatorSpec
from vinculum.spec.onnx_div import DIV_6, DIV_14
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.spec.registry import ROWS
from vinculum.spec.sonnx_div import DIV_INT, DIV_REAL


class TestVinculum:
    """Every dialect, every placement that it has."""

    @pytest.mark.parametrize("constant", [False, True], ids=["run-time", "constant"])
    @pytest.mark.parametrize("spec", [row for row in ROWS if INT32 in row.element_types], ids=lambda spec: spec.title)
    def test_integers_round_as_the_row_says(self, spec: OperatorSpec, constant: bool) -> None:
        asked = operation(spec, np.array([-11, 11], np.int32), np.array([3, 3], np.int32), constant=constant)
        if runtime("vinculum").covers(asked):
            floors = spec.rounding({}) is IntegerRounding.FLOOR
            assert same_bits(runtime("vinculum").answer(asked), np.array([-4 if floors else -3, 3], np.int32))
        else:
            assert spec is DIV_INT
            assert constant

    def test_reals(self) -> None:
        asked = operation(DIV_REAL, np.array([Fraction(1)]), np.array([Fraction(3)]))
        assert runtime("vinculum").answer(asked).tolist() == [Fraction(1, 3)]

    def test_attributes_of_an_ir(self) -> None:
        a, b = np.full((2, 3, 4), -7, np.int32), np.array([1, 2, 3], np.int32)
        for name in ("m_pythondiv", "pythondiv"):
            asked = operation(DIVIDE_1, a, b, auto_broadcast="pdpd", axis=1, **{name: False})
            assert runtime("vinculum").answer(asked)[0, :, 0].tolist() == [-7, -3, -2]
            assert "m_pythondiv=False" in runtime("vinculum").reproducer(asked)

    def test_refusals(self) -> None:
        asked, i = runtime("vinculum"), np.ones(2, np.int32)
        for error, refused in (
            (BroadcastError, operation(DIV_6, i, i[:1])),
            (ElementTypeError, operation(DIV_14, i, i.astype(np.int64))),
            (DivisionByZeroError, operation(DIVIDE_1, i, i * 0, constant=True)),
            (ConstraintError, operation(DIV_INT, i, i * 0)),
            (TypeError, operation(DIV_INT, i, i, axis=1)),
        ):
            with pytest.raises(error):
                asked.answer(refused)

    def test_versions(self) -> None:
        assert list(runtime("vinculum").versions()) == ["vinculum", "numpy", "ml_dtypes", "onnx"]
        assert small(DIV_14, INT32, False).constant == (False, False)
