"""``vinculum check``, as a user types it: what is told, how it ends, and what is refused."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

Vinculum = Callable[..., subprocess.CompletedProcess[str]]
Refused = Callable[..., str]


@pytest.fixture
def masked_mean(tmp_path: Path) -> Path:
    """Return the file of a mean over a mask, which may be empty."""
    path = tmp_path / "mean.onnx"
    text = """<ir_version: 8, opset_import: ["" : 18]> g (float[2, 3] x, int64[2, 3] mask) => (float[2, 1] y)
    <int64[1] axis = {-1}> {
    f = Cast <to = 1> (mask) p = Mul(x, f) s = ReduceSum(p, axis) d = ReduceSum(f, axis) y = Div(s, d) }"""
    onnx.save(onnx.parser.parse_model(text), path)
    return path


class TestTold:
    """What is printed."""

    def test_a_finding_and_where_it_comes_from(self, vinculum: Vinculum, masked_mean: Path) -> None:
        done = vinculum("check", masked_mean, "--assume", "mask=0|1", "--runs", 0, columns=120)
        assert (done.returncode, done.stderr) == (1, "")
        told = " ".join(done.stdout.split())
        assert "possible zero-over-zero y" in told
        assert "'d' lies in [0, 3], by declared ranges. A divisor can be zero, and so can the dividend" in told
        assert "Path: mask -> f -> d -> y" in told
        assert "Fix: keep" in told or "Fix: add" in told
        assert "1 finding (1 possible) in 5 nodes" in told

    def test_none(self, vinculum: Vinculum, masked_mean: Path) -> None:
        done = vinculum("check", masked_mean, "--assume", "mask=1:1")
        assert (done.returncode, done.stderr) == (0, "")
        assert "no findings in 5 nodes" in " ".join(done.stdout.split())

    def test_from_data(self, vinculum: Vinculum, masked_mean: Path, tmp_path: Path) -> None:
        np.savez(tmp_path / "seen.npz", mask=np.ones((2, 3), np.int64))
        done = vinculum("check", masked_mean, "--calibrate", tmp_path / "seen.npz", columns=120)
        assert done.returncode == 0
        assert "Ranges of mask come from data: floats may lie 50% of their spread beyond it." in done.stdout

    def test_only_what_is_certain_fails_if_asked_for(self, vinculum: Vinculum, masked_mean: Path) -> None:
        options = ("--runs", 0, "--fail-on", "certain")
        assert vinculum("check", masked_mean, "--assume", "mask=0|1", *options).returncode == 0
        assert vinculum("check", masked_mean, "--assume", "mask=0:0", "--fail-on", "certain").returncode == 1

    def test_json(self, vinculum: Vinculum, masked_mean: Path) -> None:
        done = vinculum("check", masked_mean, "--json", "--runs", 0)
        report = json.loads(done.stdout)
        lists = {"findings", "suppressed", "in_baseline", "unknown_operators"}
        assert set(report) == {"model", "calibrated", "nodes", "divisions", "seconds", *lists}
        (found,) = report["findings"]
        assert (found["rule"], found["severity"], found["node"], found["divisor"]) == (
            "zero-over-zero",
            "possible",
            "y",
            "d",
        )
        assert found["bounds_from"] == "the element type"

    def test_infinities_are_strings_in_json(self, vinculum: Vinculum, tmp_path: Path) -> None:
        text = '<ir_version: 8, opset_import: ["" : 18]> g (float[3] x) => (float[3] y) { y = Reciprocal(x) }'
        onnx.save(onnx.parser.parse_model(text), tmp_path / "m.onnx")
        done = vinculum("check", tmp_path / "m.onnx", "--json", "--runs", 0)
        assert json.loads(done.stdout)["findings"][0]["range"] == ["-inf", "inf"]

    def test_unknown_operators_are_named(self, vinculum: Vinculum, tmp_path: Path) -> None:
        text = """<ir_version: 8, opset_import: ["" : 18, "com.other" : 1]>
            g (float[3] x) => (float[3] y) { y = com.other.Thing(x) }"""
        onnx.save(onnx.parser.parse_model(text), tmp_path / "m.onnx")
        done = vinculum("check", tmp_path / "m.onnx", columns=120)
        assert done.returncode == 0
        assert "Unknown operators" in done.stdout
        assert "com.other.Thing (1)" in done.stdout

    def test_strict_fails_where_a_division_rests_on_one(self, vinculum: Vinculum, tmp_path: Path) -> None:
        text = """<ir_version: 8, opset_import: ["" : 18, "com.other" : 1]>
            g (float[3] x) => (float[3] y) { d = com.other.Thing(x) y = Div(x, d) }"""
        onnx.save(onnx.parser.parse_model(text), tmp_path / "m.onnx")
        options = ("--runs", 0, "--fail-on", "certain")
        assert vinculum("check", tmp_path / "m.onnx", *options).returncode == 0
        done = vinculum("check", tmp_path / "m.onnx", *options, "--strict", columns=120)
        assert done.returncode == 1
        assert "1 of 1 division rests on them." in done.stdout


class TestRefused:
    """One line, and exit code 2."""

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (("--assume", "masc=0|1"), "names no input and no dimension"),
            (("--as", "float8"), "'float8' is not one of 'float16', 'bfloat16'"),
            (("--profile", "misra"), "profile is 'misra'"),
            (("--calibrate", "nowhere.npz"), "nowhere.npz"),
            (("--fail-on", "never"), "never"),
        ],
    )
    def test_bad_options(self, refused: Refused, masked_mean: Path, arguments: tuple[str, ...], words: str) -> None:
        assert words in refused("check", masked_mean, *arguments)

    def test_a_file_that_is_no_model(self, refused: Refused, tmp_path: Path) -> None:
        (tmp_path / "m.onnx").write_bytes(b"no model")
        assert "not a readable ONNX file" in refused("check", tmp_path / "m.onnx")
