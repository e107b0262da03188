"""``vinculum audit``, as a user types it: the report on every division."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance.conftest import Vinculum
from tests.cases import case
from tests.fake_runtime import DiesAfterPacketsOf4, FakeRuntime, IsOddWithIntegers, installed
from tests.models.built_models import text_model, written

Audited = Callable[..., str]


@pytest.fixture
def one_division(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a model of one division of int32 with a given size."""
    return lambda size="N": written(
        text_model("[ratio] c = Div(a, b)", f"int32[{size}] a, int32[{size}] b", f"int32[{size}] c"), tmp_path
    )


@pytest.fixture
def audited(vinculum: Vinculum) -> Callable[..., str]:
    def run(model: Path, *options: object, by: type = FakeRuntime, code: int = 0) -> str:
        with installed(onnxruntime=by):
            return vinculum("audit", model, "--backend", "onnxruntime", *options, code=code).stdout

    return run


def words(text: str) -> str:
    return " ".join(text.split())


class TestTold:
    """Exported models and small ones, run in a runtime; edge cases show what small numbers hide."""

    @pytest.mark.parametrize("name", ["attention", "windows"])
    def test_what_divides_exactly(self, audited: Audited, examples: Path, name: str) -> None:
        told = audited(examples / name / "model.onnx", "--seed", 0)
        assert "exact where observed, on these inputs and 12 sets of edge cases." in words(told)
        assert " 0 of them wrong." in words(told)
        assert "are the same with and without" in words(told)
        assert [line for line in told.splitlines() if len(line) > 80 and "  vinculum " not in line] == []

    def test_json(self, audited: Audited, one_division: Callable[..., Path]) -> None:
        backend = "onnxruntime[intra_op_num_threads=2]"
        options = ("--backend", backend, "--seed", 1, "--json")
        report = json.loads(audited(one_division(), *options, by=IsOddWithIntegers, code=1))
        assert (report["backend"], report["runtime"], report["seed"]) == (backend, "ONNX Runtime", 1)
        assert (report["edge_cases"]["sets"], report["edge_cases"]["compared"]) == (12, 12)
        (division,) = report["divisions"]
        assert (division["operator"], division["element_type"]) == ("Div-14", "int32")
        assert division["verdict"]["kind"] == "exact"
        assert division["edge_cases"]["kind"] == "wrong value"

    def test_hardened_it_is_exact(
        self, vinculum: Vinculum, audited: Audited, one_division: Callable[..., Path], tmp_path: Path
    ) -> None:
        hardened = tmp_path / "hardened.onnx"
        with installed(onnxruntime=FakeRuntime):
            assert vinculum("harden", one_division(), "--for", "onnxruntime", "-o", hardened).returncode == 0
        told = words(audited(hardened))
        assert "1 of 1 division exact where observed" in told
        assert "Guards by vinculum harden are compared as the divisions that they replace." in told

    def test_a_death_in_the_remainder(self, audited: Audited, one_division: Callable[..., Path]) -> None:
        for seed, options in ((0, ()), (0, ("--dim", "N=1001")), (1, ("--dim", "N=3"))):
            with case(seed, *options):
                told = words(audited(one_division(), "--seed", seed, *options, by=DiesAfterPacketsOf4, code=1))
                assert "ONNX Runtime died on edge cases; exit code 1. Inputs" in told
                assert "ONNX Runtime died on edge cases; exit code 1. 1 of 1 division exact where observed" in told
                assert "'ratio' divides -2147483648 / -1 at (0,)" in told

    def test_what_divides_inside(self, audited: Audited, tmp_path: Path) -> None:
        """LayerNormalization, as PyTorch exports nn.LayerNorm, is named, and audited with --expand."""
        nodes, constants = "[norm] y = LayerNormalization (x, w)", f"float[8] w = {{{', '.join('1' * 8)}}}"
        norm = written(text_model(nodes, "float[N, 8] x", "float[N, 8] y", constants=constants), tmp_path)
        told = audited(norm)
        assert "LayerNormalization, by a standard deviation: norm" in told
        # However narrow the terminal, the command can be copied.
        assert f"    vinculum audit {norm} --backend onnxruntime --expand" in told.splitlines()
        told = words(audited(norm, "--expand"))
        assert "norm/Div exact: 2,056 exact: 16,576" in told
        assert "1 node replaced by its ONNX function bodies" in told
