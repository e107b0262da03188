"""A TensorProto is decoded only where shape, element type and data agree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.models.built_models import one_line
from vinculum.errors import ModelError
from vinculum.models.onnx.tensors import check_size, complete, decode, read_slice

PACKED = [
    *(ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2, ml_dtypes.uint2),
    *(ml_dtypes.float4_e2m1fn, ml_dtypes.float6_e2m3fn, ml_dtypes.float6_e3m2fn),
]
ARRAYS = [np.arange(6, dtype=dtype).reshape(2, 3) for dtype in "efdbhiqBHIQ"] + [
    np.array([True, False]),
    np.array([1 + 2j], np.complex64),
    np.array(3.5),
    np.zeros((0, 4), np.float32),
    np.array([1, 2, 3]).astype(ml_dtypes.bfloat16),
    *(np.array([1, 0, 1, 1, 0, 0, 1]).astype(dtype) for dtype in PACKED),
    np.array([1, 2, 3]).astype(ml_dtypes.float8_e5m2),
]


def _external(array: Any, **entries: object) -> TensorProto:
    """Return a tensor whose data stand in ``data.bin``, its entries replaced by those given."""
    tensor = numpy_helper.from_array(array, "w")
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": "data.bin", **entries}.items():
        tensor.external_data.add(key=key, value=str(value))
    return tensor


class TestDecoded:
    """Every element type, in raw data, in typed fields and in external data."""

    @pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}{array.shape}")
    @pytest.mark.parametrize("stored", ["raw data", "typed fields", "in a file", "in a part of a file"])
    def test_every_type(self, tmp_path: Path, array: Any, stored: str) -> None:
        raw = numpy_helper.from_array(array)
        (tmp_path / "data.bin").write_bytes(b"before" + raw.raw_data + b"after")
        code = helper.np_dtype_to_tensor_dtype(array.dtype)
        tensor = {
            "raw data": raw,
            "typed fields": helper.make_tensor("w", code, array.shape, array.reshape(-1).tolist()),
            "in a file": _external(array, offset=6),
            "in a part of a file": _external(array, offset=6, length=len(raw.raw_data)),
        }[stored]
        assert tensor.HasField("raw_data") == (stored == "raw data")
        decoded = decode(tensor, tmp_path, "w")
        assert (decoded.dtype, decoded.shape, decoded.tobytes()) == (array.dtype, array.shape, array.tobytes())
        assert not decoded.flags.writeable
        if "file" in stored:
            assert complete(tensor, tmp_path, "w").raw_data == raw.raw_data

    def test_strings(self, tmp_path: Path) -> None:
        tensor = TensorProto(data_type=TensorProto.STRING, dims=[2], string_data=[b"x", b"yz"])
        assert decode(tensor, tmp_path, "s").tolist() == ["x", "yz"]


class TestRefused:
    """Bad input: an initializer whose shape, element type and data do not agree."""

    @pytest.mark.parametrize(
        ("data", "words"),
        [
            *(({"raw_data": bytes(n)}, f"float and shape (2,) needs 8 bytes; it has {n}") for n in (7, 9)),
            *(({"float_data": [1.0] * n}, f"needs 2 entries of float_data; it has {n}") for n in (0, 1, 3)),
            ({"int32_data": [1, 2]}, "needs 2 entries of float_data; it has 0"),
        ],
    )
    def test_too_little_and_too_much(self, tmp_path: Path, data: dict[str, Any], words: str) -> None:
        with one_line(ModelError, "initializer 'w' of ", words):
            decode(TensorProto(data_type=TensorProto.FLOAT, dims=[2], **data), tmp_path, "initializer 'w'")

    @pytest.mark.parametrize(
        ("dims", "parts"),
        [
            ((2, -1), ("tensor 'w'", "(2, -1)", "negative")),
            ((2**40, 2**23), ("2**63 - 1",)),
            ((2**62, 2**62, 0), ("2**63 - 1",)),  # A dimension of zero hides nothing.
            ((1,) * 65, ("65 dimensions", "at most 64")),
        ],
    )
    def test_impossible_shapes(self, tmp_path: Path, dims: tuple[int, ...], parts: tuple[str, ...]) -> None:
        with one_line(ModelError, *parts):
            decode(TensorProto(data_type=TensorProto.INT8, dims=dims, raw_data=b"1234"), tmp_path, "tensor 'w'")
        for shape, bits in (((2**60, 7), 8), ((2**61, 3, "N", None), 4), ((1,) * 64, 8)):
            check_size(shape, bits, "x")

    def test_a_shape_larger_than_its_data_allocates_nothing(self, tmp_path: Path) -> None:
        with one_line(ModelError, f"needs {2**62} bytes", "has 4"):
            decode(TensorProto(data_type=TensorProto.FLOAT, dims=[2**60], raw_data=b"1234"), tmp_path, "w")

    @pytest.mark.parametrize("code", [0, 99])
    def test_unknown_element_types(self, tmp_path: Path, code: int) -> None:
        tensor = TensorProto(dims=[1], raw_data=b"1234")
        # The field is an enum: protobuf hands an unknown number on only if a file holds it.
        tensor.MergeFromString(bytes([0x10, code]))
        with one_line(ModelError, "element type number"):
            decode(tensor, tmp_path, "w")

    def test_segments(self, tmp_path: Path) -> None:
        tensor = numpy_helper.from_array(np.ones(2, np.float32))
        tensor.segment.begin = 0
        with one_line(ModelError, "segment"):
            decode(tensor, tmp_path, "w")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a model's folder with a data file in it, a folder, links, and a secret beside it."""
    (tmp_path / "secret.bin").write_bytes(bytes(8))
    inside = tmp_path / "model"
    (inside / "below").mkdir(parents=True)
    for file in ("data.bin", "below/data.bin"):
        (inside / file).write_bytes(bytes(range(8)))
    for link, target in (("link.bin", "data.bin"), ("out.bin", "../secret.bin"), ("linked", "..")):
        (inside / link).symlink_to(target)
    return inside


OUTSIDE = (
    "",
    "../secret.bin",
    "below/../data.bin",
    "/etc/passwd",
    "C:data.bin",
    r"\data.bin",
    r"..\secret.bin",
    r"\\h\x",
)
ABSENT = ("below", "absent.bin", "nul\0byte", "x" * 5000)


class TestExternalData:
    """Bad input: external data outside the model's folder, beyond the file, or of another size."""

    @pytest.mark.parametrize("location", ["data.bin", "below/data.bin", "link.bin"])
    def test_read(self, folder: Path, location: str) -> None:
        assert complete(_external(np.ones(2, np.float32), location=location), folder, "w").raw_data == bytes(range(8))
        assert read_slice(folder / location, 4, 3, "w").tolist() == [4, 5, 6]
        assert read_slice(folder / location, 8, 0, "w").tolist() == []

    @pytest.mark.parametrize(
        ("entries", "part"),
        [
            *(({"location": x}, f"is at {x!r}; allowed: a path relative to the model's folder") for x in OUTSIDE),
            *(
                ({"location": x}, "a link that leads outside the model's folder")
                for x in ("out.bin", "linked/secret.bin")
            ),
            *(({"location": x}, "which cannot be read: ") for x in ABSENT),
            ({"offset": 1}, "has only 8"),
            ({"offset": 9}, "has only 8"),
            ({"offset": 2**63}, "has only 8"),
            ({"offset": -1}, "whole number"),
            ({"offset": "9" * 5000}, "whole number"),
            ({"length": 4}, "needs 8 bytes"),
            ({"length": 2**40}, "needs 8 bytes"),
            ({"length": "x"}, "whole number"),
        ],
    )
    def test_refused(self, folder: Path, entries: dict[str, object], part: str) -> None:
        with one_line(ModelError, "initializer 'w'", part):
            decode(_external(np.ones(2, np.float32), **entries), folder, "initializer 'w'")

    def test_strings(self, tmp_path: Path) -> None:
        tensor = _external(np.ones(2, np.float32))
        tensor.data_type = TensorProto.STRING
        with one_line(ModelError, "strings"):
            decode(tensor, tmp_path, "w")
