"""ONNX's own backend tests, run by ONNX's own runner against `vinculum.backend`."""

from __future__ import annotations

import importlib.util
import unittest
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, NodeProto, TensorProto, numpy_helper
from onnx.backend.base import Backend, BackendRep
from onnx.backend.test import BackendTest
from onnx.reference import ReferenceEvaluator
from onnx.reference.ops import op_pool_common

from tests.onnx_cases import node_cases, pool
from vinculum import backend
from vinculum.models.engines.reference.evaluator import _OPERATORS
from vinculum.models.engines.reference.repairs import _SIZES
from vinculum.models.onnx.divisions import DIVIDES
from vinculum.models.onnx.scopes import all_nodes

_DRAWN = "draws its output, which two runs have no reason to share"
_ROUNDED = "its softmax is of numbers that rounding errors tell apart: whether it passes depends on the processor"
_PILLOW = "needs Pillow, which is not a requirement"
_FORMATS = ("bmp", "jpeg2k", "jpeg", "png", "pnm", "tiff", "webp")
_IMAGES = (*(f"{name}_rgb" for name in _FORMATS), "jpeg_bgr", "jpeg_grayscale")

# Tests that the reference evaluator itself fails.
EXCLUDED = {
    **{f"test_bernoulli{kind}_cpu": _DRAWN for kind in ("", "_double", "_seed")},
    **{f"test_bernoulli{kind}_expanded_cpu": _DRAWN for kind in ("", "_double", "_seed")},
    **{f"test_image_decoder_decode_{name}_cpu": _PILLOW for name in _IMAGES},
    "test_gradient_of_add_and_mul_cpu": "the evaluator has no Gradient",
    "test_gradient_of_add_cpu": "the evaluator has no Gradient",
    "test_loop16_seq_none_cpu": "expects a sequence of one scalar as that scalar",
    "test_scan_sum_cpu": "is of operator set 8, and the evaluator has Scan from 9 on",
    "test_scatter_with_axis_cpu": "the evaluator has no Scatter",
    "test_scatter_without_axis_cpu": "the evaluator has no Scatter",
    "test_squeezenet_cpu": _ROUNDED,
}
# Tests that take seconds in the evaluator's Conv and pooling, which other tests run too.
LONG_MODELS = ("bvlc_alexnet", "inception_v1", "inception_v2", "resnet50", "vgg19", "zfnet512")
LONG_NODES = (
    *(f"{kind}_3d_default" for kind in ("averagepool", "lppool", "maxpool")),
    *(f"MaxPool{rank}d_stride_padding_dilation" for rank in (1, 2)),
)
LONG = tuple(f"test_{name}_cpu" for name in (*LONG_MODELS, *LONG_NODES))
CATEGORIES = {"NodeModel": 500, "SimpleModel": 20, "PyTorchConvertedModel": 80, "PyTorchOperatorModel": 30}

Suites = Mapping[str, unittest.TestSuite]
Run = Callable[[unittest.TestSuite], Mapping[str, str]]


class ReferenceRep(BackendRep):
    """A model in the reference evaluator as it is."""

    def __init__(self, model: ModelProto) -> None:
        self._evaluator = ReferenceEvaluator(model)
        weights = {tensor.name for tensor in model.graph.initializer}
        self._names = [value.name for value in model.graph.input if value.name not in weights]

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        names = self._names if len(inputs) == len(self._names) else self._evaluator.input_names
        return tuple(self._evaluator.run(None, dict(zip(names, inputs, strict=True))))


class ReferenceBackend(Backend):
    """The reference evaluator as a backend."""

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return device == "CPU"

    @classmethod
    def prepare(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> BackendRep:
        return ReferenceRep(model)


class OurBackend(backend.VinculumBackend):
    """Our backend, with a check that it computes every division node of a model, also those of expanded functions."""

    with_divisions = 0

    @classmethod
    def prepare(cls, model: ModelProto, device: str = "CPU", **options: Any) -> Any:
        ready = super().prepare(model, device, **options)
        count = _divisions(model)
        assert len(ready.model.divisions) == count
        cls.with_divisions += count > 0
        return ready


def suites_of(tested: Any) -> Suites:
    """Return the runner's tests for the CPU, by category."""
    node_cases()  # Otherwise the runner makes them.
    cases = BackendTest(tested).test_cases
    suites = {}
    for name, case in cases.items():
        category = name.removeprefix("OnnxBackend").removesuffix("Test")
        names = (test for test in unittest.defaultTestLoader.getTestCaseNames(case) if test.endswith("_cpu"))
        suites[category] = unittest.TestSuite(map(case, names))
    return suites


@pytest.fixture(scope="module")
def ours() -> Suites:
    """Return the runner's tests of our backend."""
    return suites_of(OurBackend)


@pytest.fixture
def failures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs tests and returns those that fail or are skipped, each with the reason."""
    monkeypatch.setenv("ONNX_MODELS", str(tmp_path))  # The runner writes data beside the `light` models.

    monkeypatch.setattr(op_pool_common, "pool", pool)

    def run(suite: unittest.TestSuite) -> Mapping[str, str]:
        result = unittest.TestResult()
        suite.run(result)
        found = [*result.failures, *result.errors, *result.skipped]
        return {_name(test): reason for test, reason in found}

    return run


@cache
def _plain() -> frozenset[str]:
    """Return the node tests without any operator of ours, except one test of each operator."""
    ours = {"Reshape", *_SIZES, *(operator.__name__ for operator in _OPERATORS)}
    seen, plain = set(), set()
    for case in node_cases():
        (node, *others) = case.model.graph.node
        first = (bool(others), node.op_type)
        if (others or (node.op_type not in ours and first in seen)) and not _divisions(case.model):
            plain.add(f"{case.name}_cpu")
        seen.add(first)
    return frozenset(plain)


def _name(test: Any) -> str:
    name: str = test.id().rpartition(".")[2]
    return name


def _some(suite: Iterable[Any], wanted: Callable[[str], bool]) -> unittest.TestSuite:
    return unittest.TestSuite(test for test in suite if wanted(_name(test)))


class TestRunner:
    """Whatever the reference evaluator passes, `vinculum.backend` passes, and no test is skipped."""

    @pytest.mark.parametrize(("category", "least"), CATEGORIES.items())
    def test_every_test(self, ours: Suites, failures: Run, category: str, least: int) -> None:
        suite = _some(ours[category], lambda name: name not in EXCLUDED and name not in LONG and name not in _plain())
        assert suite.countTestCases() >= least
        assert failures(suite) == {}
        assert OurBackend.with_divisions > 100

    @pytest.mark.exhaustive  # Half a minute in operators that other tests run too.
    def test_all_others(self, ours: Suites, failures: Run) -> None:
        tests = [(test, name == "RealModel") for name, suite in ours.items() for test in suite]
        suite = unittest.TestSuite(
            test for test, real in tests if real or _name(test) in LONG or _name(test) in _plain() - EXCLUDED.keys()
        )
        assert suite.countTestCases() >= len(LONG) + len(_plain() - EXCLUDED.keys())
        assert failures(suite) == {}

    @pytest.mark.exhaustive
    @pytest.mark.filterwarnings("ignore")  # The evaluator alone lets NumPy warn.
    def test_what_is_excluded_the_evaluator_fails_itself(self, ours: Suites, failures: Run) -> None:
        """A test that passes, or that no longer exists, must be removed from the list."""
        for suites in (suites_of(ReferenceBackend), ours):
            failed = failures(
                unittest.TestSuite(_some(suite, EXCLUDED.__contains__) for suite in suites.values())
            ).keys()
            undecided = {_DRAWN, _ROUNDED, *([_PILLOW] if importlib.util.find_spec("PIL") else [])}
            assert failed | {name for name, reason in EXCLUDED.items() if reason in undecided} == EXCLUDED.keys()


def test_divisions_to_the_last_bit() -> None:
    """ONNX's runner itself allows small differences."""
    cases = [case for case in node_cases() if [n.op_type for n in case.model.graph.node] in (["Div"], ["Reciprocal"])]
    assert len(cases) > 10
    for case in cases:
        for inputs, (expected,) in case.data_sets:
            (result,) = backend.run_model(case.model, inputs)
            assert _shown(result) == _shown(expected), case.name


def _divisions(model: ModelProto) -> int:
    return sum(node.op_type in DIVIDES for node in all_nodes(model.graph.node))


def test_nodes_one_of_each_operator() -> None:
    """`run_node` returns the outputs of a model of that node, for every operator that the evaluator knows."""
    first: dict[tuple[str, str], Any] = {}
    for case in node_cases():
        if len(case.model.graph.node) == 1 and f"{case.name}_cpu" not in EXCLUDED:
            node: NodeProto = case.model.graph.node[0]
            first.setdefault((node.domain, node.op_type), case)
    assert len(first) > 150
    for case in first.values():
        # Some cases hold messages in the place of arrays.
        inputs = [numpy_helper.to_array(x) if isinstance(x, TensorProto) else x for x in case.data_sets[0][0]]
        expected = backend.run_model(case.model, inputs)
        versions = {entry.domain: entry.version for entry in case.model.opset_import}
        names = [value.name for value in case.model.graph.input]
        outputs = backend.run_node(
            case.model.graph.node[0],
            dict(zip(names, inputs, strict=True)),
            opset_version=versions.get("", onnx.defs.onnx_opset_version()),
        )
        assert [_shown(value) for value in outputs] == [_shown(value) for value in expected], case.name


def _shown(value: Any) -> object:
    """Return a value in a form in which every bit is compared."""
    if isinstance(value, list):
        return [_shown(item) for item in value]
    if not isinstance(value, np.ndarray):
        return value
    return value.dtype, value.shape, value.tolist() if value.dtype == object else value.tobytes()
