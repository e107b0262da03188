"""The data of tensors: initializers and the values of Constant nodes, in the message or in external files.

The shapes that a model declares and the files that it names are checked before they are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, SparseTensorProto, TensorProto, helper, numpy_helper

from vinculum.errors import ModelError
from vinculum.files import regular_size
from vinculum.tensors.shapes import LARGEST_SIZE
from vinculum.text import one_line, quoted, shape_text

LARGEST_RANK = 64  # NumPy's own limit
NUMBERS_AND_STRINGS: dict[str, Any] = {
    "value_float": np.float32,
    "value_floats": np.float32,
    "value_int": np.int64,
    "value_ints": np.int64,
    "value_string": object,
    "value_strings": object,
}
"""The attributes of Constant, from operator set 12 on, that are not tensors, and their element types."""
_LARGEST_DENSE = 1 << 30
PACKED_BITS = {"UINT4": 4, "INT4": 4, "FLOAT4E2M1": 4, "UINT2": 2, "INT2": 2, "FLOAT6E2M3": 6, "FLOAT6E3M2": 6}
"""The element types of which several elements share a byte, and their bits."""
_PACKED_IN_WORDS = (4, 2)  # 6-bit numbers are packed in raw data only; elsewhere each has a word.


def tensor_of(node: NodeProto) -> TensorProto | None:
    """Return a Constant node's tensor; None if it is sparse, or an attribute of the function."""
    for attribute in node.attribute:
        if attribute.ref_attr_name:
            return None
        if attribute.name == "value" and attribute.HasField("t"):
            tensor: TensorProto = attribute.t
            return tensor
        if attribute.name in NUMBERS_AND_STRINGS:
            value = helper.get_attribute_value(attribute)
            return numpy_helper.from_array(np.array(value, NUMBERS_AND_STRINGS[attribute.name]))
    return None


def dense_tensor(sparse: SparseTensorProto, owner: str) -> TensorProto:
    """Return the dense tensor of a sparse one, which is at most as large as the message may be.

    ModelError if it is larger, or its indices do not fit.
    """
    values, indices = array_of(sparse.values), array_of(sparse.indices)
    size = prod(sparse.dims) * values.itemsize
    if min(sparse.dims, default=1) < 0 or size > _LARGEST_DENSE:
        raise ModelError(f"{owner} holds a sparse tensor of {size} bytes; at most {_LARGEST_DENSE} are possible")
    dense = np.zeros(tuple(sparse.dims), values.dtype)
    try:
        if indices.ndim == 1:
            dense.reshape(-1)[indices] = values
        else:
            dense[tuple(indices.T)] = values
    except (IndexError, ValueError):
        raise ModelError(f"{owner} holds a sparse tensor whose indices do not fit its shape") from None
    return numpy_helper.from_array(dense)


def decode(tensor: TensorProto, folder: Path, owner: str) -> NDArray[Any]:
    """Return a tensor's array, read-only.

    - `tensor`: with its data in it, or in a file of `folder`.
    - `owner`: the tensor's title in messages: ``"initializer 'w'"``.

    ModelError if shape, element type and data do not agree.
    """
    try:
        array = numpy_helper.to_array(complete(tensor, folder, owner))
    except (TypeError, ValueError, KeyError, OverflowError) as error:
        raise ModelError(f"{owner} cannot be decoded: {one_line(error)}") from None
    array.flags.writeable = False
    return array


def complete(tensor: TensorProto, folder: Path, owner: str) -> TensorProto:
    """Return the tensor with all its data in it, after checking its size.

    ModelError if shape, element type and data do not agree.
    """
    if is_external(tensor):
        path, offset, size = _place_of_data(tensor, folder, owner)
        whole = TensorProto(name=tensor.name, data_type=tensor.data_type, dims=tensor.dims)
        whole.raw_data = read_slice(path, offset, size, owner).tobytes()
        return whole
    bits, count = _measured(tensor, owner)
    if tensor.HasField("raw_data") and tensor.data_type != TensorProto.STRING:
        _agree(len(tensor.raw_data), -(-count * bits // 8), "bytes", tensor, owner)
    else:
        field = helper.tensor_dtype_to_field(tensor.data_type)
        _agree(len(getattr(tensor, field)), _entries(tensor, count, bits), f"entries of {field}", tensor, owner)
    return tensor


def anchor(tensor: TensorProto, folder: Path, owner: str) -> None:
    """Give a tensor with external data the absolute path of the file, so that the data can be copied later.

    ModelError if shape, element type and data do not agree.
    """
    path, offset, size = _place_of_data(tensor, folder, owner)
    check_slice(path, offset, size, owner)
    refer(tensor, str(path), offset, size)


def refer(tensor: TensorProto, location: str, offset: int, size: int) -> None:
    """Set the file, the offset and the size of a tensor's data."""
    tensor.data_location = TensorProto.EXTERNAL
    del tensor.external_data[:]
    for key, value in (("location", location), ("offset", str(offset)), ("length", str(size))):
        tensor.external_data.add(key=key, value=value)


def anchored_place(tensor: TensorProto) -> tuple[Path, int, int]:
    """Return the file, the offset and the size of the data of an anchored tensor."""
    entries = {entry.key: entry.value for entry in tensor.external_data}
    return Path(entries["location"]), int(entries["offset"]), int(entries["length"])


def array_of(tensor: TensorProto) -> NDArray[Any]:
    """Return the elements of a tensor that is complete or anchored; ModelError if its data can no longer be read."""
    if not is_external(tensor):
        return numpy_helper.to_array(tensor)
    data = read_slice(*anchored_place(tensor), f"initializer {quoted(tensor.name)}")
    if _bits(tensor, tensor.name) % 8 == 0:
        return data.view(helper.tensor_dtype_to_np_dtype(tensor.data_type)).reshape(tuple(tensor.dims))
    whole = TensorProto(data_type=tensor.data_type, dims=tensor.dims, raw_data=data.tobytes())
    return numpy_helper.to_array(whole)


def _measured(tensor: TensorProto, owner: str) -> tuple[int, int]:
    """Return the bits of one element and the number of elements."""
    bits = _bits(tensor, owner)
    if tensor.HasField("segment"):
        raise ModelError(f"{owner} is a segment of a tensor; only whole tensors can be read")
    check_size(tensor.dims, bits, owner)
    if any(size < 0 for size in tensor.dims):
        raise ModelError(f"{owner} has shape {shape_text(tensor.dims)}: no dimension may be negative")
    return bits, prod(tensor.dims)


def is_external(tensor: TensorProto) -> bool:
    """Return whether a tensor's data is in an external file."""
    return tensor.data_location == TensorProto.EXTERNAL


def _bits(tensor: TensorProto, owner: str) -> int:
    known = TensorProto.DataType.values()
    if tensor.data_type not in known or tensor.data_type == TensorProto.UNDEFINED:
        raise ModelError(f"{owner} has the unknown element type number {tensor.data_type}")
    if tensor.data_type == TensorProto.STRING:
        return 8
    name = TensorProto.DataType.Name(tensor.data_type)
    return PACKED_BITS.get(name) or 8 * helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize


def _entries(tensor: TensorProto, count: int, bits: int) -> int:
    if tensor.data_type in (TensorProto.COMPLEX64, TensorProto.COMPLEX128):
        return 2 * count
    return -(-count * bits // 8) if bits in _PACKED_IN_WORDS else count


def _agree(actual: int, needed: int, unit: str, tensor: TensorProto, owner: str) -> None:
    if actual != needed:
        dims = tuple(tensor.dims)
        name = TensorProto.DataType.Name(tensor.data_type).lower()
        raise ModelError(f"{owner} of {name} and shape {dims} needs {needed} {unit}; it has {actual}")


def _place_of_data(tensor: TensorProto, folder: Path, owner: str) -> tuple[Path, int, int]:
    """Return the file, the offset and the size of a tensor's data, after checking the size but not the file's."""
    bits, count = _measured(tensor, owner)
    size = -(-count * bits // 8)
    if tensor.data_type == TensorProto.STRING:
        raise ModelError(f"{owner} has strings in external data; they can only be stored in the model itself")
    entries = {entry.key: entry.value for entry in tensor.external_data}
    path = data_file(folder, entries.get("location", ""), owner)
    offset = _number(entries.get("offset", "0"), "offset", owner)
    _agree(_number(entries.get("length", str(size)), "length", owner), size, "bytes", tensor, owner)
    return path, offset, size


def _number(text: str, what: str, owner: str) -> int:
    # 19 digits are enough for every file size; int() itself refuses numbers of thousands of digits.
    if not (text.isascii() and text.isdigit() and len(text) <= 19):
        raise ModelError(f"the external data of {owner} has {what} {quoted(text)}; it must be a whole number")
    return int(text)


def check_size(shape: Sequence[int | str | None], bits: int, owner: str) -> None:
    """Refuse a shape that no array can have, for any values of its unknown dimensions.

    ModelError if the rank is above NumPy's, or the size in bytes exceeds 2**63 - 1 (not counting dimensions of 0, as in
    NumPy).
    """
    if len(shape) > LARGEST_RANK:
        raise ModelError(f"{owner} has {len(shape)} dimensions; at most {LARGEST_RANK} are possible")
    elements = prod(size for size in shape if isinstance(size, int) and size > 0)
    if -(-elements * bits // 8) > LARGEST_SIZE:
        raise ModelError(f"{owner} has shape {shape_text(shape)}: its size in bytes exceeds 2**63 - 1")


def data_file(folder: Path, location: str, owner: str) -> Path:
    """Return the path of a data file that a model names, after checking that it lies in the model's folder.

    ModelError if the location is empty, absolute, climbs up by ``..``, leads outside through a link, or does not exist.
    """
    given = f"the external data of {owner} is at {quoted(location)}"
    posix, windows = PurePosixPath(location), PureWindowsPath(location)
    if not location or posix.is_absolute() or windows.drive or windows.root or ".." in windows.parts:
        raise ModelError(f"{given}; allowed: a path relative to the model's folder, without '..'")
    try:
        home = folder.resolve(strict=True)
        path = (home / location).resolve(strict=True)
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelError(f"{given}, which cannot be read: {one_line(error)}") from None
    if not path.is_relative_to(home):
        raise ModelError(f"{given}, a link that leads outside the model's folder; put the file itself there")
    return path


def check_slice(path: Path, offset: int, size: int, owner: str) -> None:
    """Check that a file has `size` bytes from `offset` on.

    ModelError if the file cannot be read or is too short.
    """
    wanted = f"{owner} needs {size} bytes at offset {offset} of {quoted(path.name)}"
    try:
        available = regular_size(path)
    except OSError as error:
        raise ModelError(f"{wanted}, which cannot be read: {one_line(error)}") from None
    if offset + size > available:
        raise ModelError(f"{wanted}, which has only {available}")


def read_slice(path: Path, offset: int, size: int, owner: str) -> NDArray[np.uint8]:
    """Return `size` bytes of a file from `offset` on; memory is allocated only after the size of the file is checked.

    ModelError if the file cannot be read or is too short.
    """
    check_slice(path, offset, size, owner)
    try:
        data = np.fromfile(path, dtype=np.uint8, count=size, offset=offset)
    except OSError as error:
        raise ModelError(f"{owner} cannot be read from {quoted(path.name)}: {one_line(error)}") from None
    if data.size != size:
        raise ModelError(f"{quoted(path.name)} ended early while {owner} was read")
    return data
