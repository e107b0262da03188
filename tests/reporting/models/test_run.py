"""The report of a run: what it adds up, how it is printed, and that its JSON is strict."""

from __future__ import annotations

import json
import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.cases import case
from tests.reporting.printing import printed
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
    """Return an execution of a float division."""
    with np.errstate(all="ignore"):
        return DivisionRecord(division, a, b, np.float32(1) / b if a is None else a / b, seconds)


def floats(*values: float) -> NDArray[np.float32]:
    """Return a tensor of floats."""
    return np.array(values, np.float32)


def report(**changes: Any) -> RunReport:
    """Return the report of a run of one of everything."""
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


def lines_of(run: RunReport, width: int = 80, encoding: str = "utf-8") -> list[str]:
    """Return the lines that a reader without a terminal sees."""
    return printed(page(run), width, encoding)


class TestObservations:
    """Every execution of a division is added to its node's counts."""

    def test_executions_add_up(self) -> None:
        observations = Observations([DIV])
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
        observations(record(DIV, np.ones(9, np.float32), floats(1)))
        observations(record(DIV, np.ones(1, np.float32), floats(1)))
        assert observations.reports()[0].more_shapes is True

    def test_reciprocal_has_no_dividend(self) -> None:
        division = Division("inverse", "", RECIPROCAL_13, FLOAT, ((3,), (3,)))
        observations = Observations([division])
        assert observations.reports()[0].shapes == (Operands(None, (3,), (3,)),)
        observations(record(division, None, floats(1, 2, 4)))
        assert observations.reports()[0].shapes == (Operands(None, (3,), (3,)),)

    def test_what_is_not_executed_keeps_what_is_known(self) -> None:
        (node,) = Observations([DIV]).reports()
        assert (node.element_type, node.shapes) == (FLOAT, (Operands(("N", 2), (2,), ("N", 2)),))
        assert node.summary.executions == 0

    def test_a_division_that_no_node_is(self) -> None:
        observations = Observations([DIV])
        observations(record(Division("inner", "an operator's own function", DIV_14), floats(1), floats(2)))
        assert [node.division.name for node in observations.reports()] == ["ratio", "inner"]


class TestPage:
    """The page fits, hides nothing, and obeys no name."""

    @pytest.mark.parametrize("width", [80, 120])
    def test_long_names_are_folded_not_cut(self, width: int) -> None:
        name = "/model/layers.0/self_attn/" + "x" * 80
        division = DivisionReport(Division(name, "If:then_branch", DIV_14), FLOAT, summary=DivisionSummary(1, 2))
        lines = lines_of(report(divisions=(division,), outputs=(output_report(name, floats(1)),)), width)
        text = "".join("".join(lines).split())
        assert all(part in text for part in ("/model/layers.0/self_attn/", "If:then_branch", "x" * 20))

    def test_names_are_text_and_harmless(self) -> None:
        name = "[red]a[/red]\x1b[31m\n\u202e"
        text = "\n".join(lines_of(report(outputs=(output_report(name, floats(1)),), model=name), 120))
        assert text.count("[red]a[/red]\\x1b[31m\\n\\u202e") == 2
        assert "\x1b" not in text

    def test_an_encoding_without_lines(self) -> None:
        assert "".join(lines_of(report(), encoding="ascii")).isascii()

    def test_values(self) -> None:
        tables: tuple[tuple[NDArray[Any], str], ...] = (
            (np.array([], np.int8), "empty"),
            (np.array(-0.0, np.float32), "-0.0"),
            (floats(math.nan, math.inf, -math.inf), "nan  inf  -inf"),
            (np.array([0.1, 1 / 3]), "0.1  0.3333333333333333"),
            (np.arange(7), "0  1  2  3  4  5  ..."),
            (np.arange(6), "0  1  2  3  4  5"),
            (np.array([True, False]), "True  False"),
            (np.array(["a\n"], object), "'a\\n'"),
            (np.array([1.5], ml_dtypes.bfloat16), "1.5"),
        )
        for array, shown in tables:
            with case(shown):
                lines = lines_of(report(outputs=(output_report("y", array),)), 120)
                assert lines[lines.index("Outputs") + 3].endswith(f"  {shown}")

    def test_where_inputs_come_from(self) -> None:
        drawn = InputReport("x", "float", (1, 2), "seed", None, {"N": 1, "?": 1})
        text = "\n".join(lines_of(report(inputs=(drawn,), seed=7)))
        assert "drawn from seed 7; assumed N = 1, ? = 1" in text

    def test_files_and_how_to_read_raw_ones(self) -> None:
        output = output_report("y", np.ones(1, ml_dtypes.bfloat16), "out/y.npy", "V2")
        text = " ".join("\n".join(lines_of(report(outputs=(output,)), 120)).split())
        assert "out/y.npy as V2: read it with .view(ml_dtypes.bfloat16)" in text

    def test_a_total_from_two_divisions_on(self) -> None:
        one = report().divisions[0]
        totals = [line.split() for line in lines_of(report(divisions=(one, one))) if "Total" in line]
        assert totals == [["Total", "0", "0", "0", "0", "500", "ms"]]
        assert not any("Total" in line for line in lines_of(report()))

    def test_what_the_policy_did_is_said(self) -> None:
        summary = DivisionSummary(executions=1, elements=4, zero_divisors=3)
        division = DivisionReport(Division("n", "", DIV_14), INT32, summary=summary)
        text = " ".join(lines_of(report(divisions=(division,), zero_divisor="saturate")))
        assert "3 integer quotients x/0 by --zero-divisor saturate." in text

    def test_a_model_without_divisions(self) -> None:
        lines = lines_of(report(divisions=()))
        assert lines[lines.index("Divisions") + 1] == "  none in this model"
        assert lines[-1] == "Nothing was divided. The run took 500 ms, loading included."

    def test_a_reciprocal(self) -> None:
        inverse = DivisionReport.of(Division("inverse", "", RECIPROCAL_13, FLOAT, ((3,), (3,))))
        lines = [line.strip() for line in lines_of(report(divisions=(inverse,)), 40)]
        assert lines[lines.index("inverse") + 1] == "1 / (3,)"

    def test_times(self) -> None:
        times = {
            0: "0.000 ms",
            12.3e-6: "0.012 ms",
            0.00123: "1.23 ms",
            0.0456: "45.6 ms",
            1.5: "1500 ms",
            61: "61.0 s",
        }
        assert {seconds: seconds_text(seconds) for seconds in times} == times


class TestJson:
    """The JSON is strict: every number is one, every other value a string."""

    def test_values(self) -> None:
        tables: tuple[tuple[NDArray[Any], list[object]], ...] = (
            (floats(math.nan, math.inf, -math.inf, -0.0, 0.5), ["NaN", "Infinity", "-Infinity", -0.0, 0.5]),
            (np.array([2**64 - 1], np.uint64), [2**64 - 1]),
            (np.array([True]), [True]),
            (np.array([1.5], ml_dtypes.bfloat16), [1.5]),
            (np.array([-3], ml_dtypes.int4), [-3]),
            (np.array([1 + 2j]), [[1.0, 2.0]]),
            (np.array(["text"], object), ["text"]),
        )
        for array, values in tables:
            with case(values):
                text = json.dumps(as_json(report(outputs=(output_report("y", array),))), allow_nan=False)
                (output,) = json.loads(text)["outputs"]
                assert repr(output["values"]) == repr(values)

    def test_it_holds_everything(self) -> None:
        plain = json.loads(json.dumps(as_json(report())))
        assert plain["inputs"] == [
            {"name": "x", "element_type": "float", "shape": [1, 2], "source": "file", "file": "x.npy", "assumed": {}}
        ]
        assert plain["outputs"][0]["element_type"] == "float"
        assert plain["divisions"] == [
            {
                "name": "ratio",
                "path": "",
                "operator": "Div-14",
                "element_type": "float",
                "more_shapes": False,
                "shapes": [{"dividend": [1, 2], "divisor": [2], "quotient": [1, 2]}],
                "executions": 1,
                "elements": 2,
                "zero_divisors": 0,
                "infinite": 0,
                "nan": 0,
                "subnormal": 0,
                "seconds": 0.25,
            }
        ]


class TestInside:
    """Issue 17, point 6: a run names the nodes that divide inside."""

    def test_they_are_named(self) -> None:
        inner = tuple(InnerDivision(f"s{k}", "", "Softmax", "by a sum of exponentials", True) for k in range(4))
        told = lines_of(report(inner_divisions=inner))
        assert "Not exact: divisions inside other operators" in told
        assert "  Softmax, by a sum of exponentials: s0, s1, s2 and 1 more" in told
        assert as_json(report(inner_divisions=inner))["inner_divisions"][3]["name"] == "s3"
        assert not any("inside" in line for line in lines_of(report()))
