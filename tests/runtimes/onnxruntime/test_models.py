"""ONNX Runtime with the library: the conformance suite, ONNX's own node tests, the example models, and a C program."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest

import vinculum
from tests.conformance.vectors.test_export import agrees, runnable
from tests.kernels.comparing import differing
from tests.onnx_cases import node_cases
from tests.optional import program_or_skip, skip_or_fail
from tests.processes import output_of
from tests.processes import run as run_process
from tests.runtimes.models.examples import drawn_inputs, each_example
from vinculum.conformance.cases.case import Level
from vinculum.conformance.run.planning import plan
from vinculum.conformance.run.record import Kind, Selection
from vinculum.conformance.run.suite import survey
from vinculum.onnxruntime import get_library_path, register

_BEFORE_14, _FROM_7 = ("Div-1", "Div-6", "Div-7", "Div-13"), ("Div-7", "Div-13", "Div-14")
# One schema stands for all versions of an operator, so what only some of them refuse is accepted.
ACCEPTED = {
    "an element type that the version does not list": {*_BEFORE_14, "Reciprocal-1", "Reciprocal-6"},
    "axis which the version does not have": {*_FROM_7},
    "broadcast which the version does not have": {*_FROM_7},
    "consumed_inputs that is no list": {"Div-1", "Reciprocal-1"},
    "consumed_inputs which the version does not have": {"Div-6", *_FROM_7, "Reciprocal-6", "Reciprocal-13"},
    "shapes that differ": {"Div-1", "Div-6"},  # without broadcast=1 they are broadcast as later versions do
}
SOURCE = Path(__file__).parents[3] / "examples" / "exact_divisions.c"
HEADER = "onnxruntime/onnxruntime_c_api.h"


def run(model: Path | bytes, inputs: dict[str, Any]) -> list[Any]:
    """Return the outputs of a model in a session that has the library."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    register(options, zero_divisor="zero")
    return list(onnxruntime.InferenceSession(model, options).run(None, inputs))


def test_every_case_of_the_default_level() -> None:
    """No quotient deviates and nothing ends the process; only `ACCEPTED` is accepted against the specification."""
    run = survey(plan(f"onnxruntime[operator_library={get_library_path()}]", Selection(Level.DEFAULT)))
    counts = run.counts()
    assert {kind for kind in counts if kind.deviates} == {Kind.ACCEPTED}
    accepted: dict[str, set[str]] = {}
    for result in run.results:
        if result.verdict.kind is Kind.ACCEPTED:
            accepted.setdefault(result.id.scenario, set()).add(result.id.operator)
            assert "broadcast=1" not in result.id.shapes
    assert accepted == ACCEPTED
    assert counts[Kind.EXACT] > 1700
    operators = {result.id.operator for result in run.results if result.verdict.kind is Kind.EXACT}
    assert operators == {f"Div-{version}" for version in (1, 6, 7, 13, 14)} | {
        f"Reciprocal-{version}" for version in (1, 6, 13)
    }


def test_onnx_node_tests() -> None:
    """Those with an element type that ONNX Runtime has are right to the last bit."""
    passed = 0
    for test in node_cases():
        if not test.name.startswith(("test_div", "test_mod", "test_reciprocal")):
            continue
        model = onnx.ModelProto()
        model.CopyFrom(test.model)
        model.ir_version, model.opset_import[0].version = 10, min(model.opset_import[0].version, 23)  # which all read
        names = [value.name for value in model.graph.input]
        for inputs, outputs in test.data_sets:
            (result,) = run(model.SerializeToString(), dict(zip(names, inputs, strict=True)))
            assert not differing(result, outputs[0]).any(), test.name
            passed += 1
    assert passed >= 20


def test_exported_node_tests() -> None:
    """Without the library: each kernel that ONNX Runtime has agrees with the node tests that `vectors` exports."""
    onnxruntime.set_default_logger_severity(4)
    compared, wrong = 0, []
    for line, model, inputs, right in runnable():
        try:
            given = onnxruntime.InferenceSession(model.read_bytes()).run(None, inputs)[0]
        except Exception:  # It refuses what it does not support, by errors without a common base.
            continue
        compared += 1
        if not agrees(given, right):
            wrong.append(line.id)
    assert wrong == []
    assert compared > 100


# In the example of float16, ONNX Runtime rounds what it computes in float32 only where the graph is cut.
@each_example("layer_norm_float16")
def test_examples(path: Path) -> None:
    """The outputs are those of our engine, which cuts each division out and leaves the rest to ONNX Runtime."""
    model = vinculum.load(path)
    inputs = drawn_inputs(model)
    expected = model.run(inputs, engine="onnxruntime", zero_divisor="zero")
    for result, wanted in zip(run(path, inputs), expected.values(), strict=True):
        assert np.array_equal(result, wanted, equal_nan=result.dtype.kind == "f")


def test_a_program_in_c(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """examples/exact_divisions.c loads the library into the ONNX Runtime that is installed here."""
    compiler = program_or_skip(request, "cc", "gcc")
    if run_process([compiler, "-fsyntax-only", "-x", "c", "-"], input=f"#include <{HEADER}>\n").returncode != 0:
        skip_or_fail(request, f"{HEADER}: apt install libonnxruntime-dev, or name its folder in CPATH")
    libraries = sorted((Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so.*"))
    if not libraries:
        skip_or_fail(request, "libonnxruntime.so.*, which the wheels for Linux hold")
    program, model = tmp_path / "exact_divisions", tmp_path / "model.onnx"
    (tmp_path / "libonnxruntime.so.1").symlink_to(libraries[0])
    warnings = ["-Wall", "-Wextra", "-Werror"]
    output_of([compiler, "-O1", *warnings, "-o", program, SOURCE, libraries[0], f"-Wl,-rpath,{tmp_path}"])
    text = '<ir_version: 8, opset_import: ["": 14]> model (int32[3] a, int32[3] b) => (int32[3] c) { c = Div(a, b) }'
    onnx.save(onnx.parser.parse_model(text), model)
    # The program is not built for a sanitizer, which the caller may have preloaded.
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    assert output_of([program, get_library_path(), model], env=environment) == "3 2147483647 -3\n"
