"""The fake runtimes are what they say, through every door by which Vinculum reaches a runtime."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import numpy as np
import pytest
from onnx import TensorProto, helper

from tests import fake_runtime
from tests.fake_runtime import FOREIGN, FakeRuntime, installed
from vinculum.models.engines.model_runner import Case, run_cases

MINIMUM = np.iinfo(np.int32).min


def division(element_type: int = TensorProto.INT32) -> bytes:
    """Return a model of one Div of two vectors."""
    values = [helper.make_tensor_value_info(name, element_type, ["n"]) for name in "abc"]
    graph = helper.make_graph([helper.make_node("Div", ["a", "b"], ["c"])], "division", values[:2], values[2:])
    return bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)]).SerializeToString())


def test_no_runtime_is_imported_here() -> None:
    for name in FOREIGN:
        assert find_spec(name) is None
        assert sys.modules[name] is None


@pytest.mark.parametrize("package", ["onnxruntime", "openvino"])
def test_a_fake_package_runs_models_in_a_process_of_the_sandbox(package: str) -> None:
    feeds = {"a": np.array([7, -7, 9], np.int32), "b": np.array([2, 2, 3], np.int32)}
    for behaviour, quotients in ((FakeRuntime, [3, -3, 3]), (fake_runtime.Floors, [3, -4, 3])):
        with installed(**{package: behaviour}):
            (outcome,) = run_cases(package, [Case(division(), feeds)])
        assert (outcome.problem, [output.tolist() for output in outcome.outputs]) == (None, [quotients])


def test_it_dies_as_processors_do() -> None:
    for divisor, problem in ((-1, "crashed with SIGFPE"), (0, "crashed with SIGFPE"), (2, None)):
        feeds = {"a": np.array([MINIMUM], np.int32), "b": np.array([divisor], np.int32)}
        with installed(onnxruntime=fake_runtime.DiesOfIntegers):
            (outcome,) = run_cases("onnxruntime", [Case(division(), feeds)])
        assert outcome.problem == problem
