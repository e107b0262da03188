"""``vinculum harden``, as a user types it: the model that it writes, and its report."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.acceptance.conftest import Refused, Vinculum
from tests.fake_runtime import RefusesFaults, installed
from tests.models.built_models import text_model, written


@pytest.fixture(autouse=True)
def packages() -> Iterator[None]:
    with installed(onnxruntime=RefusesFaults):
        yield


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Return the file of a model with a risky division, a safe one, and one of floats."""
    nodes = "[ratio] c = Div(a, b) [weeks] d = Div(a, seven) [floats] y = Div(x, x)"
    outputs = "int64[N] c, int64[N] d, float[N] y"
    proto = text_model(nodes, "int64[N] a, int64[N] b, float[N] x", outputs, constants="int64 seven = {7}")
    return written(proto, tmp_path)


class TestHarden:
    """Issue 3, point 5: prints changes with reasons, leaves safe divisions alone, and writes only validated models."""

    def test_on_inputs_of_ones_own(self, vinculum: Vinculum, refused: Refused, model: Path) -> None:
        target, a = model.with_name("hardened.onnx"), model.with_name("a.npy")
        np.save(a, np.array([7, -7], np.int64))
        done = vinculum("harden", model, "--for", "onnxruntime", "--input", f"a={a}", "-o", target, "--json", code=0)
        assert json.loads(done.stdout)["validation"]["whole_model"] == "run"
        np.save(a, np.array([7.0]))
        wrong = ("harden", model, "--for", "onnxruntime", "--input", f"a={a}", "-o", model.with_name("other.onnx"))
        assert "input 'a' has element type double; the model declares int64" in refused(*wrong)
        assert not model.with_name("other.onnx").exists()

    def test_divisions_that_pytorch_exported_in_floats(self, vinculum: Vinculum, examples: Path) -> None:
        command = ("harden", examples / "floor_divide" / "model.onnx", "--for", "onnxruntime", "--dry-run", "--json")
        noted, fixed = (
            json.loads(vinculum(*command, *more, code=0).stdout)["divisions"] for more in ((), ("--fix-exported",))
        )
        assert any("--fix-exported" in (one["note"] or "") for one in noted)
        assert not any("--fix-exported" in (one["note"] or "") for one in fixed)
        assert sum(one["rewritten"] for one in fixed) == sum(one["rewritten"] for one in noted) + 2

    def test_a_plan_writes_nothing(self, vinculum: Vinculum, model: Path) -> None:
        done = vinculum("harden", model, "--for", "openvino", "--dry-run", "--json", code=0)
        report = json.loads(done.stdout)
        assert (report["runtime"], report["target"], report["validation"]) == ("openvino", None, None)
        assert [d["rewritten"] for d in report["divisions"]] == [True, True, False]
        assert "narrows it to int32" in report["divisions"][0]["note"]
        assert list(model.parent.iterdir()) == [model]


def test_a_remainder_of_unknown_type(vinculum: Vinculum, tmp_path: Path) -> None:
    path = written(text_model("y = d.Surprise(x) [rest] z = Mod(y, y)", "int64[1] x", "int64[1] z"), tmp_path)
    done = vinculum("harden", path, "--for", "onnxruntime", "--dry-run", code=1)
    assert "rest" in done.stdout.split("Not hardened: these may kill the runtime")[1]
