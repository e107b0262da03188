"""Declared ranges of inputs: how they are read, refused in one line, and taken from data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto

import vinculum
from tests.analysis.hazardous import parsed
from tests.cases import case
from vinculum.analysis.assumptions import MARGIN, Range, calibrated, read_assumptions
from vinculum.analysis.domain.abstract_tensor import BoundsFrom
from vinculum.errors import ModelError


def floats(values: object) -> NDArray[Any]:
    """Return an array of float32."""
    return np.array(values, np.float32)


def model(metadata: str = "") -> ModelProto:
    """Return a model of two inputs, and what its metadata declare."""
    made = parsed("y = Reciprocal(x)", "float[N, 3] x, int64[3] mask")
    if metadata:
        made.metadata_props.add(key="vinculum.assume", value=metadata)
    return made


TWO = Range(0, 1, ends_alone=True)


def test_texts_are_read() -> None:
    """Those of the metadata come first; of two for one name both hold."""
    for metadata, texts, ranges in (
        ("", ["x=-1:1"], {"x": Range(-1, 1)}),
        ("", ["x=-1e3:2.5"], {"x": Range(-1000, 2.5)}),
        ("", ["x=2"], {"x": Range(2, 2)}),
        ("", ["mask=0|1"], {"mask": TWO}),
        ("", ["x>=1"], {"x": Range(1, np.inf)}),
        ("", ["x<=7"], {"x": Range(-np.inf, 7)}),
        ("", ["x=-inf:0"], {"x": Range(-np.inf, 0)}),
        ("", ["mask=-9223372036854775807:9007199254740993"], {"mask": Range(-(2**63) + 1, 2**53 + 1)}),
        ("", ["mask=-1e18:9223372036854775807.0"], {"mask": Range(-1e18, 2.0**63)}),
        ("", ["x>=1", "x<=2"], {"x": Range(1, 2)}),
        ("x=-5:5\nmask=0|1\n", ["x<=1"], {"x": Range(-5, 1), "mask": TWO}),
    ):
        with case(metadata, texts):
            assert read_assumptions(texts, model(metadata)).ranges == ranges
    assert read_assumptions(["N>=2", "N<=9"], model()).sizes == {"N": (2, 9)}
    assert read_assumptions(["N>=2"], model()).sizes == {"N": (2, 10**9)}
    assert read_assumptions(["N>=2000000000"], model()).sizes == {"N": (2 * 10**9, np.inf)}
    assert read_assumptions(["N=2:3000000000"], model()).sizes == {"N": (2, 3 * 10**9)}


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["x"], "assumption 'x' cannot be read; write NAME=LOW:HIGH"),
        (["y=0:1"], "names no input and no dimension"),
        (["masc=0|1"], "did you mean 'mask'"),
        (["x=1:0"], "write the lower number first"),
        (["x=a:b"], "'a' is not a number"),
        (["x=nan"], "'nan' is not a number"),
        (["x>=1:2"], "cannot be read; write"),
        (["N=2.5"], "'N=2.5' leaves no size, which is a whole number"),
        (["x>=3", "x<=2"], "leaves no value: others say 3:inf"),
        (["N>=3", "N<=2"], "leaves no value: others say 3:inf"),
        (["N<=-1"], "leaves no value: others say 0:inf"),
    ],
)
def test_what_is_no_assumption_is_refused_in_one_line(texts: list[str], message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        read_assumptions(texts, model())
    assert "\n" not in str(caught.value)


class TestData:
    """Ranges from inputs as they are."""

    def test_ranges(self) -> None:
        """Floats have a margin, but nonnegative inputs stay so; declared ranges take precedence."""
        for texts, arrays, ranges in (
            ([], {"x": floats([[-1, 0, 3]])}, {"x": Range(-1 - 4 * MARGIN, 3 + 4 * MARGIN)}),
            ([], {"mask": np.array([0, 1, 1])}, {"mask": Range(0, 1)}),
            ([], {"x": floats([[0.5, 1, 2.5]])}, {"x": Range(0, 2.5 + 2 * MARGIN)}),
            (["x=0:1"], {"x": floats([[9, 9, 9]])}, {"x": Range(0, 1)}),
        ):
            with case(texts, arrays):
                assert calibrated(read_assumptions(texts, model()), arrays).ranges == ranges

    @pytest.mark.parametrize("array", [floats([]), floats([np.nan]), floats([np.inf]), np.array(["a"])])
    def test_what_tells_no_range_is_refused(self, array: object) -> None:
        with pytest.raises(ModelError, match="array 'x' holds"):
            calibrated(read_assumptions([], model()), {"x": array})  # type: ignore[dict-item]

    def test_an_array_of_no_input_is_refused(self) -> None:
        with pytest.raises(ModelError, match="array 'z' matches no input; inputs: 'x', 'mask'"):
            calibrated(read_assumptions([], model()), {"z": floats([1])})


class TestEffect:
    """Declared ranges change findings and bounds."""

    def test_of_a_range(self) -> None:
        (found,) = vinculum.check(model(), assume=["x=0:2"], runs=0).findings
        assert (found.rule, found.low, found.high, found.bounds_from) == ("zero-divisor", 0, 2, BoundsFrom.DECLARED)

    def test_what_is_apart_from_zero(self) -> None:
        """An input of two values has none between them."""
        for metadata, assume in (("", ["x=1:2"]), ("x=1:2", []), ("", ["x=-1|1"])):
            assert vinculum.check(model(metadata), assume=assume).findings == ()
        assert vinculum.check(model(), calibrate={"x": floats([[5, 6, 6]])}).findings == ()
        assert len(vinculum.check(model(), assume=["x=-1:1"], runs=0).findings) == 1

    @pytest.mark.parametrize(("size", "count"), [("N=0", 0), ("N=2", 1)])
    def test_of_a_size_that_is_known(self, size: str, count: int) -> None:
        """Nothing is computed of no elements."""
        report = vinculum.check(model(), assume=[size], runs=0)
        assert (len(report.findings), report.values["y"].shape) == (count, (int(size[2:]), 3))

    @pytest.mark.parametrize("text", ["mask=0.5:0.7", "mask=1e30:2e30", "mask=0.5"])
    def test_nothing_of_the_type(self, text: str) -> None:
        with pytest.raises(ModelError, match="input 'mask' holds int64, none of which lies in"):
            vinculum.check(model(), assume=[text], runs=0)

    def test_ends_that_the_type_has_not(self) -> None:
        values = vinculum.check(model(), assume=["mask=0.5:2.5", "x=1:1e39"], runs=0).values
        assert (values["mask"].box.hull(), values["x"].box.hull()) == ((1, 2), (1, np.inf))

    def test_the_largest_integers_lie_in_their_range(self) -> None:
        """Float64 has no 2**63 - 1: what is declared is rounded outward, so that a sum with -2**63 can be -1."""
        nodes = "s = Add(n, m) t = Add(s, one) q = Div(n, t)"
        proto = parsed(nodes, "int64[1] n, int64[1] m", "int64 q", "int64[1] one = {1}")
        assume = ["n=9223372036854775807", "m=-9223372036854775808"]
        (found,) = vinculum.check(proto, assume=assume, runs=0).findings
        assert found.rule == "integer-zero-divisor"
