"""What Parameter and Divide layers declare."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from vinculum.errors import AttributeValueError, BroadcastError, ElementTypeError, ModelError
from vinculum.models.openvino_ir.layers import (
    Sizes,
    check_bounds,
    divide,
    normalised,
    parameter,
    reshaped,
    squeezed,
    unsqueezed,
)
from vinculum.models.openvino_ir.types import TensorType
from vinculum.models.openvino_ir.xml import Layer
from vinculum.spec.element_types import FLOAT, INT32

OneLine = Callable[..., AbstractContextManager[None]]
INTS = TensorType(INT32, (2, 3))


def _layer(kind: str, **data: str) -> Layer:
    return Layer("0", "x", kind, "opset1", data, (), (), ())


class TestParameter:
    """Dynamic dimensions: ``?``, -1 and ranges; ``...`` for any rank."""

    def test_every_kind_of_dimension(self) -> None:
        known, bounds = parameter(_layer("Parameter", element_type="f32", shape="2,?,-1,1..8,3..,..5,4..4"))
        assert known == TensorType(FLOAT, (2, None, None, None, None, None, 4))
        assert bounds == ((2, 2), (0, None), (0, None), (1, 8), (3, None), (0, 5), (4, 4))

    def test_rank_0_and_any_rank(self) -> None:
        assert parameter(_layer("Parameter", element_type="boolean", shape="")) == (TensorType("bool", ()), ())
        assert parameter(_layer("Parameter", element_type="f32", shape="...")) == (TensorType(FLOAT, None), None)

    @pytest.mark.parametrize(
        ("shape", "part"),
        [
            ("2,,3", "''"),
            ("x", "'x'"),
            ("-2", "'-2'"),
            ("5..2", "'5..2'"),
            ("1...3", "'.3'"),
            ("2;3", "'2;3'"),
            (f"{2**40},{2**40}", "2**63 - 1"),
            (f"{2**40}..,{2**40}..", "2**63 - 1"),
        ],
    )
    def test_malformed(self, one_line: OneLine, shape: str, part: str) -> None:
        with one_line(ModelError, "layer 'x' (Parameter)", part):
            parameter(_layer("Parameter", element_type="f32", shape=shape))

    def test_missing(self, one_line: OneLine) -> None:
        with one_line(ModelError, "layer 'x' (Parameter) has no attribute shape"):
            parameter(_layer("Parameter", element_type="f32"))
        with one_line(ModelError, "layer 'x' (Parameter) has no attribute element_type"):
            parameter(_layer("Parameter", shape="2"))

    def test_bounds(self, one_line: OneLine) -> None:
        check_bounds("input 'x'", ((1, 8), (3, None)), (8, 3))
        with one_line(BroadcastError, "input 'x' has shape (9, 3)", "dimension 0 must be 1 to 8"):
            check_bounds("input 'x'", ((1, 8), (3, None)), (9, 3))
        with one_line(BroadcastError, "dimension 1 must be 3 to any"):
            check_bounds("input 'x'", ((1, 8), (3, None)), (1, 2))


class TestDivide:
    """Divide-1's attributes in both spellings, its operands' types and shapes."""

    @pytest.mark.parametrize("spelling", ["m_pythondiv", "pythondiv"])
    @pytest.mark.parametrize(("text", "value"), [("true", True), ("false", False), ("TRUE", True), ("0", False)])
    def test_both_spellings(self, spelling: str, text: str, value: bool) -> None:
        _, attributes, _ = divide(_layer("Divide", **{spelling: text}), (INTS, INTS))
        assert attributes == {"m_pythondiv": value}

    def test_what_is_known(self) -> None:
        operands = (TensorType(FLOAT, (8, 1, None, 1)), TensorType(FLOAT, (7, 1, 5)))
        division, attributes, known = divide(_layer("Divide"), operands)
        assert attributes == {}
        assert known == TensorType(FLOAT, (8, 7, None, 5))
        assert (division.label, division.element_type) == ("node 'x' (Divide-1)", FLOAT)
        assert division.shapes == ((8, 1, None, 1), (7, 1, 5), (8, 7, None, 5))
        assert divide(_layer("Divide"), (TensorType(FLOAT, None), TensorType(FLOAT, None)))[0].shapes is None

    @pytest.mark.parametrize(
        ("data", "part"),
        [
            ({"m_pythondiv": "maybe"}, "maybe"),
            ({"auto_broadcast": "explicit"}, "explicit"),
            ({"beta": "1"}, "no attribute 'beta'"),
            ({"m_pythondiv": "true", "pythondiv": "false"}, "given twice"),
        ],
    )
    def test_wrong_attributes(self, one_line: OneLine, data: dict[str, str], part: str) -> None:
        with one_line(AttributeValueError, "node 'x' (Divide-1)", part):
            divide(_layer("Divide", **data), (INTS, INTS))

    @pytest.mark.parametrize("spelling", ["axis", "auto_broadcast.auto_broadcast_axis"])
    def test_the_axis_as_we_and_openvino_spell_it(self, spelling: str) -> None:
        _, attributes, known = divide(
            _layer("Divide", auto_broadcast="pdpd", **{spelling: "0"}), (INTS, TensorType(INT32, (2,)))
        )
        assert (attributes["axis"], known.shape) == (0, (2, 3))

    def test_a_malformed_axis(self, one_line: OneLine) -> None:
        with one_line(ModelError, "node 'x' (Divide-1)", "axis is 'one'"):
            divide(_layer("Divide", axis="one"), (INTS, INTS))

    def test_wrong_operands(self, one_line: OneLine) -> None:
        with one_line(ElementTypeError, "node 'x' (Divide-1)", "int32", "float"):
            divide(_layer("Divide"), (INTS, TensorType(FLOAT, (2, 3))))
        with one_line(ElementTypeError, "node 'x' (Divide-1)", "bool"):
            divide(_layer("Divide"), (TensorType("bool", (2,)), TensorType("bool", (2,))))
        with one_line(BroadcastError, "node 'x' (Divide-1)"):
            divide(_layer("Divide", auto_broadcast="none"), (INTS, TensorType(INT32, (3,))))


class TestShapes:
    """Unsqueeze, Squeeze and Reshape, of sizes that only the run may know."""

    @pytest.mark.parametrize(
        ("shape", "axes", "expanded", "dropped"),
        [
            ((2, 3), [0], (1, 2, 3), (2, 3)),
            ((1, 6, 1), [-1], (1, 6, 1, 1), (1, 6)),
            ((1, 6, 1), [2, 0], (1, 1, 1, 6, 1), (6,)),
            ((None, 3), [0], (1, None, 3), (3,)),
            ((1, 1), [0, 0], (1, 1, 1), (1,)),
        ],
    )
    def test_axes(self, shape: Sizes, axes: list[int], expanded: Sizes, dropped: Sizes) -> None:
        assert (unsqueezed(shape, axes), squeezed(shape, axes)) == (expanded, dropped)

    def test_without_axes(self) -> None:
        assert (squeezed((1, 6, 1), []), squeezed((None, 3), [])) == ((6,), None)
        with pytest.raises(BroadcastError, match="its axes are empty"):
            unsqueezed((2,), [])

    @pytest.mark.parametrize(
        ("pattern", "special_zero", "result"),
        [([-1], True, (6,)), ([0, -1], True, (2, 3)), ([3, 2], False, (3, 2)), ([0, 3, 1], True, (2, 3, 1))],
    )
    def test_patterns(self, pattern: list[int], special_zero: bool, result: Sizes) -> None:
        assert reshaped((2, 3), pattern, special_zero) == result

    @pytest.mark.parametrize(
        ("pattern", "part"),
        [
            ([-1, -1], "is malformed; allowed: sizes, and -1 once"),
            ([-2], "is malformed"),
            ([0, 0, 0], "copies dimension 2, which does not exist"),
            ([5], "has another number of elements"),
            ([4, -1], "for any value of -1"),
        ],
    )
    def test_what_is_said(self, pattern: list[int], part: str) -> None:
        with pytest.raises(BroadcastError, match=r"the pattern .* for shape \(2, 3\)") as caught:
            reshaped((2, 3), pattern, special_zero=True)
        assert part in str(caught.value)


class TestAxes:
    """Counted from the front."""

    def test_both_ends(self) -> None:
        assert normalised([0, -1, 2], 3) == [0, 2, 2]
        with pytest.raises(BroadcastError, match=r"axis 3 is outside of rank 3; allowed: -3 to 2"):
            normalised([3], 3)
