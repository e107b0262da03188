"""Which values a session of ONNX Runtime takes from NumPy and gives to it as they are."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from onnx import TensorProto, helper

from vinculum.models.engines.onnxruntime.running import gives_numbers, is_of_numbers


def test_those_of_numpy_s_own_types_of_numbers() -> None:
    for name, code in TensorProto.DataType.items():
        if name == "UNDEFINED":
            continue
        dtype = helper.tensor_dtype_to_np_dtype(code)
        own = dtype.isbuiltin == 1 and dtype.kind in "biuf"
        output = SimpleNamespace(type=f"tensor({name.lower()})")
        session = SimpleNamespace(get_outputs=lambda output=output: [output])
        assert (is_of_numbers(np.zeros(1, dtype)), gives_numbers(session)) == (own, own), name
