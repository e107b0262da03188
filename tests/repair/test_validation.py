"""The validation finds wrong runtimes and wrong rewrites."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, NodeProto, helper

from tests import fake_runtime
from tests.fake_runtime import installed
from tests.models.built_models import one_line, text_model, written
from tests.repair.fakes import division
from vinculum.errors import DifferenceError, ModelError
from vinculum.ops.policies import Policies
from vinculum.repair import Runtime, file_hardening, guards, harden_file, validation
from vinculum.repair.bounds import Bounds, Never
from vinculum.repair.decision import Facts, Operator
from vinculum.repair.validation import Validation, expected_of, pairs_for
from vinculum.spec.element_types import BFLOAT16, INT8, INT64, UINT64, ElementType

Refused = Callable[..., None]


def replaced_by(operator: str) -> Callable[..., list[NodeProto]]:
    return lambda *_: [helper.make_node(operator, ["A", "B"], ["C"])]


def validated(model: ModelProto, folder: Path, runtime: Runtime = "onnxruntime", **options: Any) -> Validation:
    found = harden_file(written(model, folder), folder / "hardened.onnx", runtime, **options).validation
    assert found is not None
    return found


@pytest.fixture(autouse=True)
def packages() -> Iterator[None]:
    with installed(onnxruntime=fake_runtime.RefusesFaults, openvino=fake_runtime.FloorsByReciprocal):
        yield


@pytest.fixture
def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Refused:
    """Return a function that hardens a model with a wrong rewrite, and demands an error with these words."""

    def check(model: ModelProto, operator: str, kind: type[Exception], *words: str) -> None:
        monkeypatch.setattr(guards, "guard", replaced_by(operator))
        monkeypatch.setattr(file_hardening, "check_model", lambda *_: None)  # It refuses unknown operators first.
        with one_line(kind, *words):
            validated(model, tmp_path)

    return check


class TestReported:
    """A runtime that is more wrong than the guards allow for is reported with operands that show it."""

    @pytest.mark.parametrize(
        ("target", "behaviour"),
        [
            ("onnxruntime", fake_runtime.FloorsAndRefuses),
            ("onnxruntime", fake_runtime.EstimatesInDouble),
            ("onnxruntime", fake_runtime.EstimatesByReciprocal),
            ("onnxruntime", fake_runtime.EstimatesByReciprocalInDouble),
            ("onnxruntime", fake_runtime.RoundsEstimates),
            ("onnxruntime", fake_runtime.IsOneTooLow),
            ("onnxruntime", fake_runtime.NarrowsInt64),
            ("openvino", fake_runtime.IsOneTooHigh),
            ("openvino", fake_runtime.IsOneTooLow),
            ("portable", fake_runtime.EstimatesByReciprocal),
            ("portable", fake_runtime.IsOneTooHigh),
            ("portable", fake_runtime.NarrowsInt64),
        ],
    )
    def test_wrong_quotients(self, tmp_path: Path, target: Runtime, behaviour: type[fake_runtime.FakeRuntime]) -> None:
        package = "openvino" if target == "openvino" else "onnxruntime"
        words = ("is wrong: the result differs at index", " (first: ", "; nothing is written")
        with installed(**{package: behaviour}), one_line(DifferenceError, "node 'ratio' (Div-14)", *words):
            validated(division(INT64, ("n",), ("n",)), tmp_path, target)

    def test_a_death(self, refused: Refused) -> None:
        words = "kills the process, which crashed with SIGFPE; nothing is written"
        with installed(onnxruntime=fake_runtime.DiesOfIntegers):
            refused(division(INT64, (5,), np.array([-1])), "Div", DifferenceError, words)


class TestValidation:
    """Each rewrite and the whole model are run on the runtime, and a failure names the place."""

    def test_what_is_run_is_counted(self, tmp_path: Path) -> None:
        steps: list[tuple[int, int]] = []
        found = validated(division(INT8, (5,), (5,)), tmp_path, "portable", advance=lambda *step: steps.append(step))
        assert (found.runtimes, found.rewrites, found.models) == (("onnxruntime", "reference"), 1, 14)
        assert found.results > 14 * 4000
        assert found.whole_model == "run"
        assert steps == [(number, 14) for number in range(1, 15)]

    def test_a_model_that_the_original_does_not_run_is_only_loaded(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(validation, "input_sets", lambda inputs, seed: [{}])
        assert validated(division(INT8, (5,), (5,)), tmp_path).whole_model == "loaded"

    def test_sets_that_are_given(self, tmp_path: Path) -> None:
        """The whole model is run on each, and on nothing else; one that the original refuses is an error."""
        model = division(INT8, (5,), (5,))
        whole = dict.fromkeys("AB", np.ones(5, np.int8)) | {"unused": np.ones(1, np.float32)}
        sets = [whole, {name: array for name, array in whole.items() if name != "B"}]
        assert validated(model, tmp_path, inputs=sets[:1]).whole_model == "run"
        with one_line(ModelError, "'B'"):
            validated(model, tmp_path, inputs=sets)

    def test_a_constant_divisor_stays_one(self, tmp_path: Path) -> None:
        found = validated(division(INT64, (2,), np.array([0, -1])), tmp_path)
        assert (found.rewrites, found.models) == (1, 3)

    @pytest.mark.parametrize("runtime", ["openvino", "portable"])
    @pytest.mark.parametrize("fmod", [0, 1])
    def test_remainders(self, tmp_path: Path, runtime: Runtime, fmod: int) -> None:
        model = text_model(f"r = Mod <fmod = {fmod}> (a, b)", "int64[n] a, int64[n] b", "int64[n] r")
        found = validated(model, tmp_path, runtime)
        assert found.models == 7 * len(found.runtimes)

    @pytest.mark.parametrize(
        ("operator", "kind", "words"),
        [
            ("Div", DifferenceError, "is refused: "),
            ("Mul", DifferenceError, "is wrong: the result differs at index"),
            ("Divide", ModelError, "ONNX Runtime rejects the hardened form: "),
        ],
    )
    def test_a_wrong_rewrite(self, refused: Refused, operator: str, kind: type[Exception], words: str) -> None:
        refused(division(INT64, (5,), (5,)), operator, kind, "node 'ratio' (Div-14)", words)


class TestExpected:
    """The expected results are those of exact integers."""

    @pytest.mark.parametrize("operator", ["FloorDiv", "Mod", "Fmod"])
    @pytest.mark.parametrize("element_type", [INT8, INT64, UINT64], ids=str)
    def test_every_pair(self, operator: Operator, element_type: ElementType) -> None:
        facts = Facts(operator, 17, element_type)
        pairs = pairs_for(facts, "onnxruntime")
        found = expected_of(facts, pairs, Policies("zero", "wrap"))
        for a, b, result in zip(*(x.tolist() for x in (*pairs, found)), strict=True):
            exact = 0
            if b != 0:
                floored = a // b if (a, b) != (element_type.minimum, -1) else a  # It wraps.
                truncated = abs(a) % abs(b) * (-1 if a < 0 else 1)
                exact = {"FloorDiv": floored, "Mod": a % b, "Fmod": truncated}[operator]
            assert result == exact, (a, b)

    def test_the_policies_of_a_floor_division(self) -> None:
        pairs = np.array([5, -5, 0, -128, -7], np.int8), np.array([0, 0, 0, -1, 2], np.int8)
        found = expected_of(Facts("FloorDiv", 17, INT8), pairs, Policies("saturate", "saturate"))
        assert found.tolist() == [127, -128, 0, 127, -4]


class TestPairs:
    """The operands include every hard case."""

    def test_zeros_and_the_ends_of_the_type(self) -> None:
        a, b = pairs_for(Facts("Div", 17, INT64), "onnxruntime")
        assert a.dtype == b.dtype == np.int64
        both = set(zip(a.tolist(), b.tolist(), strict=True))
        for power in (24, 31, 53):
            assert {(2**power + 1, 0), (2**power - 1, -(2**power)), (INT64.minimum, 2**power)} <= both
        assert {(INT64.minimum, -1), (0, 0), (INT64.maximum, 1), (INT64.minimum, INT64.minimum)} <= both

    def test_numbers_of_every_magnitude(self) -> None:
        for numbers in pairs_for(Facts("Div", 17, UINT64), "onnxruntime"):
            sizes = Counter(number.bit_length() for number in set(numbers.tolist()))
            assert min(sizes[bits] for bits in range(8, 65)) > 10

    def test_openvino_gets_what_fits_int32(self) -> None:
        for element_type in (INT64, UINT64):
            a, b = pairs_for(Facts("Div", 17, element_type), "openvino")
            assert a.max() == b.max() == 2**31 - 1
            assert a.min() == b.min() == (0 if element_type is UINT64 else -(2**31))
            assert (-(2**31), -1) not in set(zip(a.tolist(), b.tolist(), strict=True))

    def test_constants_keep_their_values(self) -> None:
        many = np.arange(-5000, 5000)
        a, b = pairs_for(Facts("Div", 17, INT64, Bounds(divisor=many)), "onnxruntime")
        assert {-5000, -1, 0, 1, 4999} <= set(b.tolist()) <= set(many.tolist())
        a, b = pairs_for(
            Facts("Div", 17, INT64, Bounds(dividend=np.array([6]), divisor=np.array([0, 2]))), "onnxruntime"
        )
        assert (set(a.tolist()), set(b.tolist())) == ({6}, {0, 2})

    def test_floats(self) -> None:
        a, b = pairs_for(Facts("Div", 17, BFLOAT16), "onnxruntime")
        assert np.isnan(a.astype(np.float32)).any()
        assert (b == 0).any()

    @pytest.mark.parametrize("never", ["zero", "minus one", "overflow"])
    def test_what_no_run_has_is_left_out(self, never: Never) -> None:
        a, b = pairs_for(Facts("Div", 17, INT8, Bounds(frozenset({never}))), "onnxruntime")
        tried = {
            "zero": (b == 0).any(),
            "minus one": (b == -1).any(),
            "overflow": ((a == INT8.minimum) & (b == -1)).any(),
        }
        gone = {"minus one", "overflow"} if never == "minus one" else {never}
        assert {name for name, are in tried.items() if not are} == gone
