"""``vinculum check``, as a user types it: reports, written files, and exit codes."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import onnx
import pytest
import yaml
from onnx import ModelProto, numpy_helper

from tests.acceptance.conftest import Refused, Vinculum
from tests.analysis import hazardous
from tests.models.built_models import text_model, written

BOTH = ("--assume", "a=1e30:1e38", "--assume", "b=1e-30:1")
"""A large number divided by a small one, which is more than float holds."""
ROOT = Path(__file__).parents[2]


class TestFindings:
    """Findings are reported with witnesses; the exit code depends on --fail-on."""

    def test_fail_on(self, vinculum: Vinculum, mean: Path) -> None:
        assert vinculum("check", mean, "--runs", 0, "--fail-on", "certain").returncode == 0
        assert vinculum("check", mean, "--runs", 0, "--fail-on", "possible").returncode == 1
        assert vinculum("check", mean, "--fail-on", "certain").returncode == 1

    def test_json(self, vinculum: Vinculum, mean: Path) -> None:
        done = vinculum("check", mean, "--json", "--runs", 50)
        assert done.returncode == 1
        report = json.loads(done.stdout)
        lists = {"findings", "suppressed", "in_baseline", "unknown_operators", "unknown_weights"}
        assert set(report) == {"model", "calibrated", "nodes", "divisions", "seconds", *lists}
        (finding,) = report["findings"]
        told = [finding[name] for name in ("rule", "severity", "node", "divisor", "bounds_from", "range")]
        assert told == ["zero-over-zero", "witnessed", "mean", "count", "the element type", ["-inf", "inf"]]
        assert finding["witness"]["how"] == "mask = zeros"
        assert finding["search"]["runs"] <= 50

    def test_from_data(self, vinculum: Vinculum, mean: Path) -> None:
        np.savez(mean.with_name("seen.npz"), mask=np.ones((2, 4), np.float32))
        done = vinculum("check", mean, "--calibrate", mean.with_name("seen.npz"), columns=120)
        assert done.returncode == 0
        assert "Ranges of mask come from data: floats may lie 50% of their spread beyond it." in done.stdout

    def test_weights_that_are_not_there(self, vinculum: Vinculum, refused: Refused, tmp_path: Path) -> None:
        """Large ones may be any finite numbers; small ones are read if their files exist."""
        path, data = tmp_path / "large.onnx", tmp_path / "large.data"
        nodes = (
            "h = MatMul (x, w) n = LayerNormalization (h, gamma) k = Mul (n, mask) s = ReduceSum (k, axis) "
            "c = ReduceSum (mask, axis) y = Div (s, c) a = Abs (h) d = Add (a, one) z = Div (h, d)"
        )
        model = text_model(nodes, "float[2, 64] x, float[2, 64] mask", "float[2, 1] y")
        arrays = {"w": np.ones((64, 64), np.float32), "gamma": np.ones(64, np.float32), "one": np.ones((), np.float32)}
        arrays["axis"] = np.array([1], np.int64)
        model.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in arrays.items())
        onnx.save(model, path, save_as_external_data=True, location=data.name, size_threshold=8192)
        data.unlink()
        assert "large.data" in refused("check", path)
        done = vinculum("check", path, "--weights", "unknown", "--json")
        report = json.loads(done.stdout)
        assert (done.returncode, report["unknown_weights"]) == (1, ["w"])
        assert [(one["rule"], one["node"], one["severity"]) for one in report["findings"]] == [
            ("zero-over-zero", "y", "possible")
        ]
        told = " ".join(vinculum("check", path, "--weights", "unknown").stdout.split())
        assert "The weights of 1 initializer are taken for any finite numbers" in told
        assert "leave one out" in refused("check", path, "--weights", "unknown", "--fix", tmp_path / "fixed.onnx")

    def test_how_bounds_come_about(self, vinculum: Vinculum, refused: Refused, mean: Path) -> None:
        done = vinculum("check", mean, "--runs", 0, "--assume", "mask=0|1", "--assume", "x=-1:1", "--explain", "mean")
        assert "How the bounds of mean come about" in done.stdout

    def test_several_models(self, vinculum: Vinculum, mean: Path, guarded: Path, tmp_path: Path) -> None:
        files = ("--sarif", "out.sarif", "--html", "page.html")
        vinculum("check", guarded, mean, *files, "--runs", 0, folder=tmp_path, code=1)
        (run,) = json.loads((tmp_path / "out.sarif").read_text())["runs"]
        assert {Path(result["properties"]["model"]).name for result in run["results"]} == {"mean.onnx"}
        page = (tmp_path / "page.html").read_text("utf-8")
        assert page.count('<section class="model"') == 2
        assert "No findings in 5 nodes." in page

    def test_a_division_that_rests_on_an_unknown_operator(self, vinculum: Vinculum, tmp_path: Path) -> None:
        model = written(text_model("b = d.Thing(x) y = Div(x, b)", "float[3] x", "float[3] y"), tmp_path)
        options = ("--runs", 0, "--fail-on", "certain")
        vinculum("check", model, *options, code=0)
        told = " ".join(vinculum("check", model, *options, "--strict", code=1).stdout.split())
        assert "Unknown operators, whose results may be anything: d.Thing (1). 1 of 1 division rests on" in told


class TestWitnesses:
    """The scripts of ``--witness`` show the finding when run."""

    @pytest.mark.parametrize(
        ("model", "options", "words"),
        [
            (hazardous.norm_of_embeddings(), (), "zero in"),
            (hazardous.branches(), (), "zero in"),
            (text_model("q = Div(a, b)", "int64[2] a, int64[2] b", "int64[2] q"), (), "smallest integer by -1 in 2"),
            (text_model("q = Div(a, b)", "float[2] a, float[2] b", "float[2] q"), BOTH, "overflows in 2"),
        ],
    )
    def test_the_script(
        self, vinculum: Vinculum, tmp_path: Path, model: ModelProto, options: tuple[str, ...], words: str
    ) -> None:
        path = tmp_path / "a model.onnx"
        path.write_bytes(model.SerializeToString())
        vinculum("check", path, *options, "--witness", tmp_path / "out", code=1)
        scripts = sorted((tmp_path / "out").glob("*.py"))
        assert all(script.with_suffix(".npz").is_file() for script in scripts)
        shown = [vinculum("--python", script, folder=tmp_path.parent, code=0).stdout for script in scripts]
        assert any(words in told for told in shown)
        assert not any(" 0 of" in told.splitlines()[0] for told in shown)


class TestFix:
    """The model with the least guards is written, checked again and compared; findings left are reported."""

    def test_data_of_the_model_is_kept_and_read(self, vinculum: Vinculum, refused: Refused, tmp_path: Path) -> None:
        path, data, fixed = (tmp_path / name for name in ("model.onnx", "model.bin", "fixed.onnx"))
        model = text_model("z = MatMul (x, w) y = Div (x, z)", "float[300, 300] x", "float[300, 300] y")
        weights = np.ones((300, 300), np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
        onnx.save(model, path, save_as_external_data=True, location=data.name, size_threshold=0)
        for option in ("--html", "--sarif", "--fix"):
            assert "would replace the data" in refused("check", path, option, data)
        assert data.read_bytes() == weights.tobytes()
        assert vinculum("check", path, "--runs", 0, "--fix", fixed).returncode == 0
        assert (onnx.numpy_helper.to_array(onnx.load(fixed).graph.initializer[0]) == weights).all()

    def test_only_what_is_left_decides_the_exit_code(self, vinculum: Vinculum, tmp_path: Path) -> None:
        """A witnessed division by zero is fixed, a possible loss of integers is left."""
        nodes = "y = Div (x, d) f = Cast <to = 1> (k) q = Div (f, three) z = Floor (q)"
        tensors = "float[3] x, float[3] d, int64[3] k", "float[3] y, float[3] z"
        path = written(text_model(nodes, *tensors, constants="float three = {3}"), tmp_path)
        options = (path, "--fix", tmp_path / "new.onnx", "--fail-on")
        assert vinculum("check", path, "--fail-on", "certain").returncode == 1
        assert vinculum("check", *options, "certain").returncode == 0
        told = json.loads(vinculum("check", *options, "possible", "--json", code=1).stdout)["fixed"]
        assert [one["is_fixed"] for one in told["fixes"]] == [not one["why"] for one in told["fixes"]]
        assert {one["is_fixed"] for one in told["fixes"]} == {True, False}


class TestAccepted:
    """Suppressions and baselines hide the findings that they name, and no others."""

    def test_suppressed(self, vinculum: Vinculum, mean: Path) -> None:
        day = date.today() + timedelta(days=30)
        accepted = mean.with_name("accepted.toml")
        accepted.write_text(f'[[suppress]]\nnode = "mean"\nreason = "masks are never empty"\nexpires = {day}\n')
        with accepted.open("a") as stream:
            stream.write(f'[[suppress]]\nnode = "gone"\nreason = "it was a test"\nexpires = {day}\n')
        options = ("--suppress", accepted, "--sarif", mean.with_name("out.sarif"), "--runs", 0)
        done = vinculum("check", mean, *options, code=0)
        assert "1 suppressed" in " ".join(done.stdout.split())
        assert "Suppresses nothing: gone." in done.stdout
        (result,) = json.loads(mean.with_name("out.sarif").read_text())["runs"][0]["results"]
        assert result["suppressions"][0]["justification"] == "masks are never empty"

    def test_in_a_baseline(self, vinculum: Vinculum, mean: Path) -> None:
        before = mean.with_name("before")
        before.write_text(vinculum("check", mean, "--json", "--runs", 0, code=1).stdout)
        done = vinculum("check", mean, "--baseline", before, "--runs", 0, code=0)
        assert "1 in the baseline" in " ".join(done.stdout.split())


def test_the_hook(vinculum: Vinculum, mean: Path, guarded: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    program, *arguments = hook["entry"].split()
    assert (program, hook["id"], hook["language"]) == ("vinculum", "vinculum-check", "python")
    assert vinculum(*arguments, mean, guarded).returncode == 1
    assert vinculum(*arguments, "--fail-on", "certain", guarded).returncode == 0


class TestAccuracy:
    """``--accuracy``: bounds of each division and of each output, or why there is none."""

    @pytest.fixture
    def shifted(self, tmp_path: Path) -> Path:
        path = tmp_path / "shifted.onnx"
        path.write_bytes(hazardous.shifted(0.25).SerializeToString())
        return path

    def test_json(self, vinculum: Vinculum, shifted: Path) -> None:
        options = ("--accuracy", "--assume", "x=2:3", "--input-error", "x=1e-3", "--runs", 0, "--json")
        found = json.loads(vinculum("check", shifted, *options).stdout)["accuracy"]
        (division,), (output,) = found["divisions"], found["outputs"]
        # At x = 2 the quotient is 1 / 1.75, and moves by 1e-3 / 1.75 ** 2; ranges are widened by the error.
        assert 1e-3 / 1.75**2 < division["propagated"] < 1.01e-3 / 1.74**2
        assert division["total"] == output["total"] > division["propagated"] > division["introduced"]
