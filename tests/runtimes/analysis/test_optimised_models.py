"""Models as ONNX Runtime's optimisers leave them, without declared types: the same is found, nothing is unknown."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnxruntime
import pytest

import vinculum
from tests.analysis.corpus.architectures import ENTRIES
from tests.analysis.corpus.entry import Entry
from tests.analysis.corpus.judging import model_of
from vinculum.analysis import Severity

_SAMPLE = """
    clip.script17 groupvit.script17 modernbert_mean.dynamo18 sew_classify.dynamo18 esm.script17
    bert.dynamo18 bert_sdpa.script17 gpt2.script17 llama.dynamo18 mixtral.dynamo18 swin.script17 mpnet.script17
    vit.dynamo18 wav2vec2_classify.script17 wavlm_classify.dynamo18
""".split()  # noqa: SIM905 - a list of so many words is read more easily


def optimised(entry: Entry, path: Path) -> onnx.ModelProto:
    """Return the model that ONNX Runtime makes of another, the types of its values forgotten."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(path)
    options.log_severity_level = 4
    onnxruntime.InferenceSession(model_of(entry).SerializeToString(), options, providers=["CPUExecutionProvider"])
    model = onnx.load(path)
    del model.graph.value_info[:]
    return model


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.name in _SAMPLE], ids=lambda entry: entry.name)
def test_the_same_is_found(entry: Entry, tmp_path: Path) -> None:
    model = optimised(entry, tmp_path / "optimised.onnx")
    assert any(node.domain == "com.microsoft" for node in model.graph.node)
    report = vinculum.check(model, assume=entry.assume, runs=0)
    assert ({finding.rule for finding in report.findings}, report.unknown_operators) == (set(entry.rules), {})


def test_all_of_the_sample_are_there() -> None:
    assert {entry.name for entry in ENTRIES} >= set(_SAMPLE)


def test_a_run_there_shows_what_our_engine_has_no_operators_for(tmp_path: Path) -> None:
    """Black pixels stay zeros in this model; the reference evaluator has no FusedMatMul."""
    (entry,) = (e for e in ENTRIES if e.name == "groupvit.script17")
    report = vinculum.check(optimised(entry, tmp_path / "optimised.onnx"), assume=entry.assume, runs=30)
    shown = [finding for finding in report.findings if finding.severity is Severity.WITNESSED]
    assert shown
    for finding in shown:
        assert finding.witness is not None
        assert [name.split()[0] for name in finding.witness.confirmed_by] == ["onnxruntime"]
