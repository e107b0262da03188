"""Folders of node tests, run as a stranger does: by our engine and ONNX's own runner."""

from __future__ import annotations

import re
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, numpy_helper
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner

import vinculum
from tests.conformance.vectors.exports import exported, lines
from vinculum.backend import VinculumBackend
from vinculum.conformance.vectors.records import CaseLine, Standing

Array = NDArray[Any]


def tensor(path: Path) -> tuple[str, Array]:
    proto = TensorProto.FromString(path.read_bytes())
    return proto.name, numpy_helper.to_array(proto)


def runnable() -> Iterator[tuple[CaseLine, Path, dict[str, Array], Array]]:
    """Yield every case of `node`: its line, its model, what it is given, and the quotient that it must give."""
    for line in lines(exported("onnx")):
        if line.standing is Standing.EXACT:
            folder = exported("onnx") / "node" / line.name
            data = folder / "test_data_set_0"
            inputs = dict(tensor(data / f"input_{i}.pb") for i in range(len(list(data.glob("input_*.pb")))))
            yield line, folder / "model.onnx", inputs, tensor(data / "output_0.pb")[1]


def agrees(given: Array, expected: Array) -> bool:
    """Tell whether two arrays are the same to the last bit, but for what is no number."""
    if (given.dtype, given.shape) != (expected.dtype, expected.shape):
        return False
    kind = f"u{given.dtype.itemsize}"
    same = np.ascontiguousarray(given).view(kind) == np.ascontiguousarray(expected).view(kind)
    return bool(np.all(same.reshape(given.shape) | ((given != given) & (expected != expected))))


class Reciprocal(VinculumBackend):
    """It divides floats of equal shapes by a reciprocal, and all else as our engine."""

    @classmethod
    def prepare(cls, model: Any, device: str = "CPU", **kwargs: Any) -> Any:
        return _Prepared(super().prepare(model, device, **kwargs))


class _Prepared:
    def __init__(self, prepared: Any) -> None:
        self._prepared = prepared

    def run(self, inputs: Any, **kwargs: Any) -> Any:
        if len(inputs) == 2 and inputs[0].dtype == np.float32 and inputs[0].shape == inputs[1].shape:
            with np.errstate(all="ignore"):
                return [inputs[0] * (np.float32(1) / inputs[1])]
        return self._prepared.run(inputs, **kwargs)


def test_our_engine_gives_the_quotients() -> None:
    given = ((line.id, vinculum.load(model).run(inputs).values(), right) for line, model, inputs, right in runnable())
    assert [id for id, (quotient,), right in given if not agrees(quotient, right)] == []


class TestRunner:
    """ONNX's own runner of backends takes the folders as they are, and hears of the tolerance, which is none.

    Its tests of nodes are made in memory; what lies in a folder is of another kind to it.
    """

    @staticmethod
    def run(backend: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[unittest.TestResult, int]:
        """Return the result, and how many tests ran and were not skipped."""
        from onnx.backend.test import runner

        (folder / "simple").symlink_to(exported("onnx") / "node")

        def ours(data_dir: str = "", kind: str | None = None) -> Any:
            return load_model_tests(str(folder), kind) if kind == "simple" else []

        monkeypatch.setattr(runner, "load_model_tests", ours)
        result = unittest.TestResult()
        suite = Runner(backend, __name__).include("_cpu$").test_suite
        tests = suite.countTestCases()  # Which a suite forgets as it runs; results of Python 3.12.1 count none skipped.
        suite.run(result)
        return result, tests - len(result.skipped)

    def test_one_ulp_fails(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A backend that multiplies by the reciprocal passes the runner's usual tolerance, and fails here."""
        result, ran = self.run(Reciprocal, tmp_path, monkeypatch)
        assert ran == sum(line.standing is Standing.EXACT for line in lines(exported("onnx")))
        assert result.errors == []
        failed = {re.sub("_[0-9a-f]{12}_.*", "", str(test)) for test, _ in result.failures}
        assert "test_div_14_float" in failed
        assert all(re.fullmatch(r"test_div_\d+_float", name) for name in failed)
