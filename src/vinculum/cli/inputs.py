"""The inputs of a model: arrays from ``.npy``, ``.npz`` and TensorProto ``.pb`` files, or drawn from a seed."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO, Any, NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from vinculum.errors import BroadcastError, MissingPackageError, ModelError
from vinculum.files import regular_size
from vinculum.models.onnx.tensors import decode
from vinculum.models.sampling.drawn_inputs import dimension_sizes, drawn_inputs
from vinculum.models.values import ModelTensor
from vinculum.reporting.models.run import InputReport
from vinculum.spec.element_types import ElementType
from vinculum.tensors.storage import dtype_of, read_npy_header
from vinculum.text import listed, one_line, quoted

# A compressed member can expand a thousandfold; the file of a plain array is as large as the array.
_LARGEST_MEMBER = 4 * 2**30


class InputFile(NamedTuple):
    """The file of an input, and its member if it is an ``.npz``; None is that of the input's name, or the only one."""

    name: str
    path: Path
    member: str | None = None

    def __str__(self) -> str:
        return str(self.path) if self.member is None else f"{self.path}:{self.member}"


@dataclass(frozen=True, eq=False)
class ModelInputs:
    """The inputs of a run of a model: the arrays by name, the report on each, and the files.

    - `seed`: The seed of the inputs without a file; None if there is none.
    """

    arrays: Mapping[str, NDArray[Any]]
    reports: tuple[InputReport, ...]
    files: tuple[Path, ...]
    seed: int | None


def model_inputs(
    tensors: Sequence[ModelTensor],
    options: Sequence[str],
    seed: int | None,
    dims: Sequence[str] = (),
    *,
    large: bool = False,
) -> ModelInputs:
    """Return the inputs given by ``--input``, ``--seed`` and ``--dim``.

    Dimensions without a given size are 1, or with `large` a useful size.
    """
    files = input_files(options, tensors)
    arrays = read_inputs(files, tensors)
    sizes = dimension_sizes(dims, tensors, arrays)
    missing = [tensor for tensor in tensors if tensor.name not in arrays and not tensor.optional]
    if missing and seed is None:
        first = ", ".join(map(str, missing[:10]))
        option = f"--input {missing[0].name}=FILE"
        raise ModelError(f"no array for input {first}; give one with {option}, or draw it with --seed 0")
    drawn = drawn_inputs(tensors, arrays, seed or 0, sizes, large=large)
    arrays |= {name: one.array for name, one in drawn.items()}
    reports = tuple(
        InputReport(t.name, str(t.element_type), arrays[t.name].shape, "seed", None, drawn[t.name].assumed)
        if t.name in drawn
        else InputReport(t.name, str(t.element_type), arrays[t.name].shape, "file", str(files[t.name]))
        for t in tensors
        if t.name in arrays
    )
    return ModelInputs(arrays, reports, tuple(file.path for file in files.values()), seed if drawn else None)


@contextmanager
def sizes_advised(inputs: Sequence[InputReport]) -> Iterator[None]:
    """Add to the error of a run the sizes that nobody gave, because many models do not run on them."""
    try:
        yield
    except MissingPackageError:  # Other sizes install no package.
        raise
    except (BroadcastError, ModelError) as error:
        assumed = {name: size for one in inputs for name, size in one.assumed.items()}
        if not assumed:
            raise
        told = ", ".join(f"{name} = {size}" for name, size in assumed.items())
        option = "--input" if set(assumed) == {"?"} else "--dim"
        raise type(error)(f"{error}; assumed {told}: give others with {option}") from None


def input_files(options: Sequence[str], tensors: Sequence[ModelTensor]) -> dict[str, InputFile]:
    """Return the files given as ``NAME=FILE`` or ``NAME=FILE.npz:MEMBER``, by name."""
    names = [tensor.name for tensor in tensors]
    files: dict[str, InputFile] = {}
    for option in options:
        file = _input_file(option, names)
        if file.name in files:
            raise ModelError(f"--input gives {quoted(file.name)} twice; give it once")
        files[file.name] = file
    return files


def read_inputs(files: Mapping[str, InputFile], tensors: Sequence[ModelTensor]) -> dict[str, NDArray[Any]]:
    """Return the arrays in files, by the inputs' names."""
    declared = {tensor.name: tensor for tensor in tensors}
    return {name: _typed(_read(file), declared[name]) for name, file in files.items()}


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Return every array in an ``.npz`` file, by its name."""
    where = f"arrays from {str(path)!r}"
    try:
        regular_size(path)
        with zipfile.ZipFile(path) as archive:
            names = [info.filename.removesuffix(".npy") for info in archive.infolist()]
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise ModelError(f"{where} cannot be read: {getattr(error, 'strerror', None) or one_line(error)}") from None
    if path.suffix.lower() != ".npz":
        raise ModelError(f"{where}: unknown kind of file; allowed: .npz")
    return {name: _read(InputFile(name, path, name)) for name in names}


def _input_file(option: str, names: Sequence[str]) -> InputFile:
    # The name itself may contain an equals sign.
    starts = [position for position, character in enumerate(option) if character == "="]
    split = next((p for p in starts if option[:p] in names), starts[0] if starts else -1)
    name, place = option[:split], option[split + 1 :]
    if split < 0 and len(names) == 1:  # No choice is needed.
        name, place, split = names[0], option, len(names[0])
    if split < 1 or not place:
        raise ModelError(f"--input {quoted(option)} is not of the form NAME=FILE; inputs: {listed(names)}")
    if name not in names:
        raise ModelError(f"the model has no input {quoted(name)}; its inputs: {listed(names)}")
    head, colon, member = place.partition(".npz:")
    if colon and not Path(place).exists():
        return InputFile(name, Path(f"{head}.npz"), member)
    return InputFile(name, Path(place))


def _read(file: InputFile) -> NDArray[Any]:
    readers = {".npy": _read_npy, ".npz": _read_npz, ".pb": _read_tensor_proto}
    where = f"input {quoted(file.name)} from {str(file)!r}"
    reader = readers.get(file.path.suffix.lower())
    if reader is None:
        raise ModelError(f"{where}: unknown kind of file; allowed: .npy, .npz, .pb (an ONNX TensorProto)")
    try:
        return reader(file, regular_size(file.path))
    except ModelError as error:
        raise ModelError(f"{where}: {error}") from None
    except Exception as error:  # The readers raise a dozen classes of errors, all because of the file.
        raise ModelError(f"{where} cannot be read: {getattr(error, 'strerror', None) or one_line(error)}") from None


def _read_npy(file: InputFile, size: int) -> NDArray[Any]:
    with file.path.open("rb") as stream:
        return _array(stream, size)


def _read_npz(file: InputFile, size: int) -> NDArray[Any]:
    with zipfile.ZipFile(file.path) as archive:
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        wanted = file.name if file.member is None else file.member
        if file.member is None and wanted not in members and len(members) == 1:
            wanted = next(iter(members))
        if wanted not in members:
            raise ModelError(f"it has no member {quoted(wanted)}; its members: {listed(list(members))}")
        info = members[wanted]
        if info.file_size > max(_LARGEST_MEMBER, info.compress_size):
            gib = f"{info.file_size / 2**30:.1f} GiB"
            raise ModelError(f"its member {quoted(wanted)} expands to {gib}; save it as an .npy file")
        with archive.open(info) as stream:
            return _array(stream, info.file_size)


def _array(stream: IO[bytes], size: int) -> NDArray[Any]:
    """Return the array in ``.npy`` format that fills a stream of a known size."""
    shape, fortran_order, dtype = read_npy_header(stream)
    if dtype.hasobject:
        raise ModelError("it holds Python objects, which are never unpickled; save numbers")
    needed, there = prod(shape) * dtype.itemsize, size - stream.tell()
    if needed != there or min(shape, default=0) < 0:
        raise ModelError(f"{dtype} of shape {shape} takes {needed} bytes; the file has {there}")
    # One more byte, so that a member of an archive is read to its end, where its checksum is checked.
    content = stream.read(needed + 1)
    if len(content) != needed:
        raise ModelError(f"{dtype} of shape {shape} takes {needed} bytes; only {len(content)} can be read")
    return np.ndarray(shape, dtype, buffer=content, order="F" if fortran_order else "C")


def _read_tensor_proto(file: InputFile, size: int) -> NDArray[Any]:
    tensor = TensorProto.FromString(file.path.read_bytes())
    return decode(tensor, file.path.parent, "its tensor")


def _typed(array: NDArray[Any], tensor: ModelTensor) -> NDArray[Any]:
    """View raw elements as the declared type if ``.npy`` files have no name for that type."""
    if isinstance(tensor.element_type, ElementType) and hasattr(ml_dtypes, tensor.element_type.numpy):
        dtype = dtype_of(tensor.element_type)
        if array.dtype == np.dtype(f"V{dtype.itemsize}"):
            return array.view(dtype)
    return array
