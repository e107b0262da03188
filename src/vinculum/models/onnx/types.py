"""The types and shapes of the values in an ONNX model, as far as ONNX's own inference finds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray
from onnx import ModelProto, helper, numpy_helper

from vinculum.models.onnx.inference import infer_types

_LARGEST_KEPT = 1024  # Elements; shapes, axes and the like are far smaller.


def with_inferred_types(model: ModelProto, constants: Mapping[str, NDArray[Any]]) -> ModelProto:
    """Return a copy of a model with the types that ONNX infers written into it; the model itself if it infers none.

    Parameters
    ----------
    model : ModelProto
        Without its initializers.
    constants : Mapping of str to array
        The values of the initializers; small ones may decide shapes.
    """
    copy = ModelProto()
    copy.CopyFrom(model)
    inputs = {value.name for value in copy.graph.input}
    for name, array in constants.items():
        if array.size <= _LARGEST_KEPT and array.dtype != object:
            copy.graph.initializer.append(numpy_helper.from_array(array, name))
        elif name not in inputs:
            code = helper.np_dtype_to_tensor_dtype(array.dtype)
            copy.graph.input.append(helper.make_tensor_value_info(name, code, array.shape))
    return infer_types(copy)
