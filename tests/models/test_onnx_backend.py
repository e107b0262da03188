"""ONNX's own tests of division, taken from the installed onnx package."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper
from onnx.backend.test.case import node as node_tests

from vinculum.models import load

# Importing the two modules registers their cases; `collect_testcases` would take seconds to import all others too.
for operator in ("div", "reciprocal"):
    importlib.import_module(f"onnx.backend.test.case.node.{operator}")
CASES = [case for case in node_tests._NodeTestCases if "div" in case.name or "reciprocal" in case.name]
SOFTSIGN = Path(onnx.__file__).parent / "backend/test/data/pytorch-converted/test_Softsign"


class TestNodes:
    """The backend node tests whose name holds ``div`` or ``reciprocal``."""

    def test_all_of_them_are_here(self) -> None:
        names = {case.name for case in CASES}
        assert {"test_div", "test_div_example", "test_div_bcast", "test_div_int8", "test_div_uint64"} <= names
        assert {"test_reciprocal", "test_reciprocal_example"} <= names

    @pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
    def test_to_the_last_bit(self, tmp_path: Path, case: Any) -> None:
        (tmp_path / "model.onnx").write_bytes(case.model.SerializeToString())
        model = load(tmp_path / "model.onnx")
        assert len(model.divisions) == 1
        for inputs, outputs in case.data_sets:
            names = [tensor.name for tensor in model.inputs]
            (result,) = model.run(dict(zip(names, inputs, strict=True))).values()
            assert result.dtype == outputs[0].dtype
            assert result.tobytes() == np.ascontiguousarray(outputs[0]).tobytes()


class TestSoftsign:
    """``pytorch-converted/test_Softsign`` with its data: an opset-6 model that broadcasts in an Add."""

    def test_its_data_set(self) -> None:
        model = load(SOFTSIGN / "model.onnx")
        arrays = []
        for name in ("input_0.pb", "output_0.pb"):
            content = (SOFTSIGN / "test_data_set_0" / name).read_bytes()
            arrays.append(numpy_helper.to_array(TensorProto.FromString(content)))
        assert [division.operator for division in model.divisions] == ["Div-6"]
        (result,) = model.run({model.inputs[0].name: arrays[0]}).values()
        assert result.tobytes() == arrays[1].tobytes()
