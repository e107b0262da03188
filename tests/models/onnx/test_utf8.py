"""Names that are not text are refused before anything looks at them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from onnx import ModelProto, TensorProto, helper

from vinculum.errors import ModelError
from vinculum.models import load

OneLine = Callable[..., AbstractContextManager[None]]


class TestNotUtf8:
    """Bad input: a malformed ONNX file."""

    @pytest.mark.parametrize("name", ["MARKop", "MARKin", "MARKw", "MARKdim", "MARKkey", "MARKattr"])
    def test_at_any_depth(
        self, tmp_path: Path, one_line: OneLine, onnx_model: Callable[..., ModelProto], name: str
    ) -> None:
        weight = helper.make_tensor("MARKw", TensorProto.FLOAT, [1], [1.0])
        weight.data_location = TensorProto.EXTERNAL
        weight.external_data.add(key="MARKkey", value="x")
        floats = (TensorProto.FLOAT, ["MARKdim"])
        node = helper.make_node("MARKop", ["MARKin"], ["c"], MARKattr=1)
        model = onnx_model([node], {"MARKin": floats}, {"c": floats}, initializers=[weight])
        content = model.SerializeToString()
        assert name.encode() in content
        (tmp_path / "model.onnx").write_bytes(content.replace(name.encode(), b"\xff" + name[1:].encode()))
        with one_line(ModelError, "not"):
            load(tmp_path / "model.onnx")
