"""The report of a run: its counts, its page, and strict JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from rich.constrain import Constrain

from tests.reporting.printing import Told, printed
from vinculum.models import Division, DivisionRecord, DivisionSummary
from vinculum.models.inner_divisions import InnerDivision
from vinculum.reporting.models.run import (
    DivisionReport,
    InputReport,
    Observations,
    Operands,
    RunReport,
    as_json,
    output_report,
    page,
    seconds_text,
)
from vinculum.spec.element_types import FLOAT, INT32
from vinculum.spec.onnx_div import DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_13

DIV = Division("ratio", "", DIV_14, FLOAT, (("N", 2), (2,), ("N", 2)))


def record(division: Division, a: NDArray[Any] | None, b: NDArray[Any], seconds: float = 0.5) -> DivisionRecord:
    with np.errstate(all="ignore"):
        return DivisionRecord(division, a, b, np.float32(1) / b if a is None else a / b, seconds)


def floats(*values: float) -> NDArray[np.float32]:
    return np.array(values, np.float32)


def report(**changes: Any) -> RunReport:
    summary = DivisionSummary(executions=1, elements=2, seconds=0.25)
    division = DivisionReport(DIV, FLOAT, (Operands((1, 2), (2,), (1, 2)),), summary=summary)
    plain: dict[str, Any] = {
        "model": "model.onnx",
        "seed": None,
        "zero_divisor": "raise",
        "overflow": "wrap",
        "seconds": 0.5,
        "inputs": (InputReport("x", "float", (1, 2), "file", "x.npy"),),
        "outputs": (output_report("y", floats(1, 2)),),
        "divisions": (division,),
    }
    return RunReport(**{**plain, **changes})


class TestObservations:
    """Every execution of a division is added to its node's counts."""

    def test_executions_add_up(self) -> None:
        observations = Observations([DIV])
        (node,) = observations.reports()
        assert (node.element_type, node.shapes) == (FLOAT, (Operands(("N", 2), (2,), ("N", 2)),))
        observations(record(DIV, floats(1, 0), floats(0, 0)))
        observations(record(DIV, floats(1e-40, 3), floats(1, 2)))
        (node,) = observations.reports()
        assert node.summary == DivisionSummary(2, 4, 2, 1, 1, 1, 1.0)
        assert (node.shapes, node.more_shapes) == ((Operands((2,), (2,), (2,)),), False)
        assert (observations.nodes_executed, observations.executions) == (1, 2)

    def test_different_shapes_are_kept_up_to_a_limit(self) -> None:
        observations = Observations([DIV])
        for size in (*range(1, 9), 1):
            observations(record(DIV, np.ones(size, np.float32), floats(1)))
        assert [o.dividend for o in observations.reports()[0].shapes] == [(n,) for n in range(1, 9)]
        assert observations.reports()[0].more_shapes is False
        for size in (9, 1):
            observations(record(DIV, np.ones(size, np.float32), floats(1)))
        assert observations.reports()[0].more_shapes is True

    def test_what_has_no_dividend_and_what_no_node_is(self) -> None:
        division = Division("inverse", "", RECIPROCAL_13, FLOAT, ((3,), (3,)))
        observations = Observations([division])
        assert observations.reports()[0].shapes == (Operands(None, (3,), (3,)),)
        observations(record(division, None, floats(1, 2, 4)))
        observations(record(Division("inner", "an operator's own function", DIV_14), floats(1), floats(2)))
        assert [node.division.name for node in observations.reports()] == ["inverse", "inner"]
        assert observations.reports()[0].shapes == (Operands(None, (3,), (3,)),)


OUTPUTS: tuple[NDArray[Any], ...] = (
    *(np.array([], np.int8), np.array(-0.0, np.float32), floats(math.nan, math.inf, -math.inf, -0.0, 0.5)),
    *(np.array([0.1, 1 / 3]), np.arange(7), np.arange(6), np.array([True, False]), np.array(["a\n"], object)),
    *(np.array([1.5], ml_dtypes.bfloat16), np.array([-3], ml_dtypes.int4), np.array([2**64 - 1], np.uint64)),
    np.array([1 + 2j]),
)
NAME, HOSTILE = "/model/layers.0/self_attn/" + "x" * 80, "[red]a[/red]\x1b[31m\n\u202e"
RAW = output_report("y", np.ones(1, ml_dtypes.bfloat16), "out/y.npy", "V2")
LONG = DivisionReport(Division(NAME, "If:then_branch", DIV_14), FLOAT, summary=DivisionSummary(1, 2))
SATURATED = DivisionReport(Division("n", "", DIV_14), INT32, summary=DivisionSummary(1, 4, zero_divisors=3))
INVERSE = DivisionReport.of(Division("inverse", "", RECIPROCAL_13, FLOAT, ((3,), (3,))))
INNER = tuple(InnerDivision(f"s{k}", "", "Softmax", "by a sum of exponentials", True) for k in range(4))
DRAWN = InputReport("x", "float", (1, 2), "seed", None, {"N": 1, "?": 1})
CHANGES: Mapping[str, Mapping[str, Any]] = {
    "a run": {},
    "outputs": {"outputs": tuple(output_report("y", array) for array in OUTPUTS)},
    "divisions inside": {"inner_divisions": INNER},
    "long names": {"divisions": (LONG,), "outputs": (output_report(NAME, floats(1)),)},
    "hostile names": {"outputs": (output_report(HOSTILE, floats(1)),), "model": HOSTILE},
    "inputs that are drawn": {"inputs": (DRAWN,), "seed": 7},
    "a file of another type": {"outputs": (RAW,)},
    "two divisions": {"divisions": report().divisions * 2},
    "a policy at work": {"divisions": (SATURATED,), "zero_divisor": "saturate"},
    "nothing is divided": {"divisions": ()},
    "in ONNX Runtime": {"engine": "onnxruntime"},
    "a reciprocal": {"divisions": (INVERSE,)},
}


def told(changes: Mapping[str, Any], in_json: bool = False) -> Callable[[int], Any]:
    return lambda _: (as_json if in_json else page)(report(**changes))


TOLD: Told = {
    **{name: told(changes) for name, changes in CHANGES.items()},
    **{f"{name}, as JSON": told(CHANGES[name], True) for name in [*CHANGES][:3]},
    "a narrow page": lambda _: Constrain(page(report(divisions=(*report().divisions, INVERSE))), 40),
    "times": lambda _: "\n".join(map(seconds_text, (0, 12.3e-6, 0.00123, 0.0456, 1.5, 9.99, 10, 61))),
}


def test_an_encoding_without_lines() -> None:
    assert "".join(printed(page(report()), 80, "ascii")).isascii()
