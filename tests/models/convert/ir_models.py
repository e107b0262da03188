"""Small IR files, pairs of operands that go wrong easily, and both ends of a conversion run on them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto

from tests.models.built_models import check_file
from tests.models.ir_writer import OpenvinoWriter, Value
from vinculum.models import Model
from vinculum.models.onnx.file import normalise
from vinculum.models.onnx.model import model_of
from vinculum.models.openvino_ir.types import TensorType
from vinculum.models.sampling.edge_values import edge_values
from vinculum.spec.element_types import ELEMENT_TYPES, REAL, ElementType
from vinculum.tensors.storage import dtype_of, element_type_of

Sizes = tuple[int | None, ...]
DIVIDING = [t for t in ELEMENT_TYPES if t is not REAL]


def write_ir(folder: Path, writer: OpenvinoWriter) -> Path:
    """Write a model; return the path of its XML."""
    path = folder / "model.xml"
    path.write_bytes(writer.xml("m"))
    path.with_suffix(".bin").write_bytes(writer.data())
    return path


def divide_ir(
    folder: Path, element_type: ElementType, a: Sizes | None, b: Sizes | NDArray[Any] | None, **data: str
) -> Path:
    """Write the model q = a / b of one Divide; b is a Const if its array is given, None is any rank."""
    writer = OpenvinoWriter()
    writer.reserve(["a", "b"])
    first = writer.parameter("a", TensorType(element_type, a))
    if isinstance(b, np.ndarray):
        second = Value(TensorType(element_type, b.shape), "b", b)
    else:
        second = writer.parameter("b", TensorType(element_type, b))
    result = writer.layer("Divide", "ratio", data, (first, second), Value(TensorType(element_type, None), "q"))
    writer.result(result, "q")
    return write_ir(folder, writer)


def pairs(element_type: ElementType) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return every pair of a type of 8 bits or fewer, every pair of edge values of a wider one."""
    if element_type.bits > 8:
        values = edge_values(element_type)
    elif element_type.binary_format is not None:
        values = np.arange(256, dtype=np.uint8).view(dtype_of(element_type))
    else:
        values = np.arange(element_type.minimum, element_type.maximum + 1).astype(dtype_of(element_type))
    return np.repeat(values, len(values)), np.tile(values, len(values))


def onnx_model_of(proto: ModelProto, folder: Path, *, check: bool = True) -> Model:
    """Return a model that the onnx package's full check lets through."""
    file = folder / "converted.onnx"
    file.write_bytes(proto.SerializeToString())
    if check:
        check_file(file)
    copy = ModelProto()
    copy.CopyFrom(proto)
    normalise(copy, file)
    return model_of(copy, file)


def assert_same(
    original: Model, converted: Model, inputs: Mapping[str, NDArray[Any]], **policies: Any
) -> dict[str, NDArray[Any]]:
    """Run both models, demand the same bits under the same names, and return the outputs."""
    options = {"zero_divisor": "zero"} | policies
    expected, actual = original.run(inputs, **options), converted.run(inputs, **options)
    assert list(expected) == list(actual)
    for name in expected:
        assert expected[name].dtype == actual[name].dtype
        assert expected[name].shape == actual[name].shape
        assert bits(expected[name]) == bits(actual[name])
    return actual


def bits(array: NDArray[Any]) -> bytes:
    """Return the encodings, always the same one of NaN, and 0 in the half byte that an integer of 4 bits leaves."""
    if array.dtype == bool or element_type_of(array).bits == 4:
        return (array.astype(np.int8) & 15).tobytes()
    if element_type_of(array).is_integer:
        return array.tobytes()
    one_nan = array.copy()
    one_nan[np.isnan(array)] = np.nan
    return one_nan.tobytes()
