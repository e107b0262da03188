"""Recomputing divisions: wrong quotients, hazards, suspects after a crash, and contradictory outputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import TensorProto

from tests.models.built_models import build, node
from vinculum.conformance.audit.recomputation import hazards, merged, record, smallest_divisor, suspects, unobserved
from vinculum.conformance.audit.record import NodeRecord
from vinculum.conformance.audit.taps import Layout, Source, Tap
from vinculum.conformance.cases.expectations import without_quotient
from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.run.record import Kind
from vinculum.models.execution import Division
from vinculum.sandbox import Answer, End, Isolated
from vinculum.spec.element_types import ELEMENT_TYPES, ElementType
from vinculum.spec.rows import find
from vinculum.tensors.storage import dtype_of

FLAT = Layout.AS_THEY_ARE


class Divides:
    """A runtime that divides exactly in a model with one node."""

    def call(self, method: str, operation: Operation) -> Answer:
        assert method == "answer"
        return Answer(End.RETURNED, np.divide(*operation.operands))


def recorded(layout: Layout, *handed_out: NDArray[Any]) -> NodeRecord:
    sources = tuple(Source(place=place) for place in range(len(handed_out)))
    tap = Tap(Division("ratio", "", find("Div")), {}, sources, layout=layout)
    return record(tap, {}, handed_out, cast(Isolated, Divides()))


class TestWrongQuotients:
    """A quotient that differs in one bit counts as wrong."""

    @pytest.mark.parametrize("index", [(0, 0), (1, 2)])
    @pytest.mark.parametrize("layout", [Layout.AS_THEY_ARE, Layout.STACKED])
    def test_one_ulp(self, layout: Layout, index: tuple[int, int]) -> None:
        a = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
        quotient = a / np.float32(3)
        quotient[index] = np.nextafter(quotient[index], np.float32(0))
        node = recorded(layout, a, np.full_like(a, 3), quotient)
        assert node.verdict is not None
        assert (node.verdict.kind, node.verdict.differing, node.verdict.largest) == (Kind.ULPS, 1, 1)
        assert node.verdict.example is not None
        assert node.verdict.example.index == index
        assert node.alone is not None
        assert node.alone.kind is Kind.EXACT

    def test_several_runs_are_one_verdict(self) -> None:
        a, b = np.full(3, 7, np.float32), np.ones(3, np.float32)
        near = [
            (a.view(np.int32) + np.array(off, np.int32)).view(np.float32) for off in ([0, 0, 0], [0, 1, 0], [3, 1, 1])
        ]
        nodes = [recorded(FLAT, a, b, quotient) for quotient in near]
        joint = merged([*nodes, unobserved(Tap(nodes[0].division, {}), "why")])
        assert joint is not None
        assert (joint.kind, joint.elements, joint.differing, joint.largest) == (Kind.ULPS, 9, 4, 3)
        assert joint.ulps == {0: 3, 1: 1}
        assert merged([]) is None


class TestNonsense:
    """Where a runtime's outputs contradict each other there is no verdict, but a reason."""

    @pytest.mark.parametrize("shape", [np.array([7, 7]), np.array([[2], [2]]), np.array(4), np.array([-9])])
    def test_shapes_of_a_branch(self, shape: NDArray[np.int64]) -> None:
        a, right = np.ones(4, np.float32), np.array([2, 2])
        node = recorded(Layout.BRANCH, a, shape, a, right, a, right)
        assert (node.verdict, node.unobserved) == (None, "the exposed shapes contradict each other")

    @pytest.mark.parametrize("divisor", [np.ones(3, np.float32), np.ones(2, np.float16)])
    def test_operands_that_do_not_divide(self, divisor: NDArray[Any]) -> None:
        node = recorded(FLAT, np.ones(2, np.float32), divisor, np.ones(divisor.shape, np.float32))
        assert node.verdict is None
        assert "its operands cannot be divided" in str(node.unobserved)


Index = tuple[int, ...]


def met(a: NDArray[Any], b: NDArray[Any], q: NDArray[Any]) -> list[tuple[str, int, Index]]:
    return [(hazard.what, hazard.count, hazard.first) for hazard in hazards(a, b, q)]


@pytest.mark.parametrize(
    ("a", "b", "what"),
    [
        (1.0, -0.0, ["divisor zero"]),
        (0.0, 0.0, ["divisor zero", "quotient NaN, no operand"]),
        (np.inf, np.inf, ["quotient NaN, no operand"]),
        (np.nan, 1.0, []),
        (1.0, 1e-40, ["divisor subnormal", "quotient overflows"]),
        (1e-40, 1e-40, ["divisor subnormal"]),
        (1e38, 0.1, ["quotient overflows"]),
        (float(np.finfo(np.float32).max), 1.0, []),
        (np.inf, 0.5, []),
        (1e-38, 1e20, ["quotient underflows to zero"]),
        (1e-38, 4.0, ["quotient subnormal"]),
        (0.0, 4.0, []),
        (1.0, np.inf, []),
    ],
)
def test_hazards_of_floats(a: float, b: float, what: list[str]) -> None:
    """Zero and subnormal divisors, overflow, underflow and new NaN are found."""
    operands = np.array([a], np.float32), np.array([b], np.float32)
    with np.errstate(all="ignore"):
        quotient = operands[0] / operands[1]
    assert [hazard.what for hazard in hazards(*operands, quotient)] == what


@pytest.mark.parametrize("element_type", [t for t in ELEMENT_TYPES if t.is_integer and t.minimum], ids=str)
def test_hazards_of_signed_integers(element_type: ElementType) -> None:
    """x/0 and MIN/-1, which the documents leave unspecified, are both found."""
    low, dtype = element_type.minimum, dtype_of(element_type)
    a, b = np.array([low, low, 1, low], dtype), np.array([1, -1, 0, -1], dtype)
    assert met(a, b, a) == [("divisor zero", 1, (2,)), ("MIN/-1", 2, (1,))]
    mask = without_quotient(a, b)
    assert mask is not None
    assert mask.tolist() == [False, True, True, True]
    assert smallest_divisor(np.array([0, low, -3, 4], dtype)) == "-3"
    assert smallest_divisor(np.array([0, low], dtype)) == str(low)


MIN = -(2**63)


@pytest.mark.parametrize(
    ("dividend", "divisor", "words"),
    [
        ([MIN, 1], [-1, 0], ["are MIN/-1", "are zero"]),
        ([MIN, 1], [-1, 1], ["are MIN/-1"]),
        ([7, 1], [-1, 0], ["are zero"]),
        ([7, 1], [-1, 1], []),
    ],
)
def test_divisions(tmp_path: Path, dividend: list[int], divisor: list[int], words: list[str]) -> None:
    declared = (TensorProto.INT64, [2])
    model = build([node("c = Div(a, b)")], {"a": declared, "b": declared}, {"c": declared})
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    found = suspects(path, {"a": np.array(dividend), "b": np.array(divisor)})
    assert len(found) == len(words)
    assert all(word in sentence for word, sentence in zip(words, found, strict=True))
