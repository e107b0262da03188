"""The prover is tested with rewrites that are wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto

from vinculum.errors import DifferenceError, ModelError
from vinculum.models.harden import harden, runtime_process, trials
from vinculum.models.harden.facts import Facts
from vinculum.models.harden.operand_pairs import pairs_for
from vinculum.models.harden.proof import prove
from vinculum.models.onnx.rewriter import Rewriter
from vinculum.spec.element_types import BFLOAT16, INT8, INT64, UINT64

Division = Callable[..., ModelProto]


def plain(rewriter: Rewriter, facts: Facts, operands: list[str], *others: Any) -> str:
    """Leave a division as it is."""
    return rewriter.add("Div", operands, "plain")


def product(rewriter: Rewriter, facts: Facts, operands: list[str], *others: Any) -> str:
    """Take a product for a quotient."""
    return rewriter.add("Mul", operands, "product")


def unknown(rewriter: Rewriter, facts: Facts, operands: list[str], *others: Any) -> str:
    """Ask for an operator that does not exist."""
    return rewriter.add("Divide", operands, "unknown")


class TestProof:
    """Issue 3, point 5: each rewrite is proven on the runtime; a proof that fails is an error that says where."""

    def test_what_is_proven_is_counted(self, require: Callable[[str], None], division: Division) -> None:
        require("onnxruntime")
        steps: list[tuple[int, int]] = []
        proof = prove(harden(division(INT8, (5,), (5,)), "portable"), lambda *step: steps.append(step))
        assert (proof.runtimes, proof.rewrites, proof.models) == (("onnxruntime", "reference"), 1, 14)
        assert proof.quotients > 14 * 4000
        assert steps == [(7, 14), (14, 14)]

    def test_a_constant_divisor_stays_one(self, require: Callable[[str], None], division: Division) -> None:
        require("onnxruntime")
        proof = prove(harden(division(INT64, (2,), np.array([0, -1])), "onnxruntime"))
        assert (proof.rewrites, proof.models) == (1, 3)

    def test_nothing_rewritten_needs_no_runtime(self, division: Division, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(runtime_process, "find_spec", lambda name: None)
        assert prove(harden(division(INT64, (5,), np.array([3])), "onnxruntime")).runtimes == ()

    @pytest.mark.parametrize(
        ("rewrite", "words"),
        [
            (plain, "is refused: "),
            (product, "is wrong: the quotient differs at index"),
            (unknown, "is refused: "),
        ],
    )
    def test_a_wrong_rewrite(
        self,
        require: Callable[[str], None],
        one_line: Callable[..., Any],
        division: Division,
        monkeypatch: pytest.MonkeyPatch,
        rewrite: Any,
        words: str,
    ) -> None:
        require("onnxruntime")
        monkeypatch.setattr(trials, "rewrite", rewrite)
        with one_line(DifferenceError, "node 'ratio' (Div-14)", words, "nothing is written"):
            prove(harden(division(INT64, (5,), (5,)), "onnxruntime"))

    def test_a_rewrite_that_kills(
        self,
        require: Callable[[str], None],
        one_line: Callable[..., Any],
        division: Division,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        require("onnxruntime")
        monkeypatch.setattr(trials, "rewrite", plain)
        with one_line(DifferenceError, "kills the process, which died of SIGFPE; nothing is written"):
            prove(harden(division(INT64, (5,), np.array([-1])), "onnxruntime"))

    def test_a_missing_package(
        self, one_line: Callable[..., Any], division: Division, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(runtime_process, "find_spec", lambda name: None)
        with one_line(ModelError, "onnxruntime", "is not installed"):
            prove(harden(division(INT64, (5,), (5,)), "onnxruntime"))


class TestPairs:
    """The operands hold every hard case."""

    def test_zeros_and_the_ends_of_the_type(self) -> None:
        pairs = pairs_for(Facts("Div", 17, INT64), "onnxruntime")
        assert pairs.a.dtype == pairs.b.dtype == np.int64
        both = set(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True))
        for power in (24, 31, 53):
            assert {(2**power + 1, 0), (2**power - 1, -(2**power)), (INT64.minimum, 2**power)} <= both
        assert {(INT64.minimum, -1), (0, 0), (INT64.maximum, 1), (INT64.minimum, INT64.minimum)} <= both

    def test_openvino_gets_what_fits_int32(self) -> None:
        for element_type in (INT64, UINT64):
            pairs = pairs_for(Facts("Div", 17, element_type), "openvino")
            assert max(pairs.a.max(), pairs.b.max()) == 2**31 - 1
            assert min(pairs.a.min(), pairs.b.min()) == (0 if element_type is UINT64 else -(2**31))
            assert (-(2**31), -1) not in set(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True))

    def test_constants_keep_their_values(self) -> None:
        many = np.arange(-5000, 5000)
        pairs = pairs_for(Facts("Div", 17, INT64, None, many), "onnxruntime")
        assert {-5000, -1, 0, 1, 4999} <= set(pairs.b.tolist()) <= set(many.tolist())
        pairs = pairs_for(Facts("Div", 17, INT64, np.array([6]), np.array([0, 2])), "onnxruntime")
        assert (set(pairs.a.tolist()), set(pairs.b.tolist())) == ({6}, {0, 2})

    def test_floats(self) -> None:
        pairs = pairs_for(Facts("Div", 17, BFLOAT16), "onnxruntime")
        assert np.isnan(pairs.a.astype(np.float32)).any()
        assert (pairs.b == 0).any()
