"""A TensorProto is decoded only where shape, element type and data agree."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.models.built_models import one_line
from vinculum.errors import ModelError
from vinculum.models.onnx.tensors import anchor, array_of, check_size, complete, decode, read_slice

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
    """Return a tensor whose data is in ``data.bin``, with other entries if given."""
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
            anchor(tensor, tmp_path, "w")
            np.testing.assert_array_equal(array_of(tensor), array, strict=True)

    def test_strings(self, tmp_path: Path) -> None:
        tensor = TensorProto(data_type=TensorProto.STRING, dims=[2], string_data=[b"x", b"yz"])
        assert decode(tensor, tmp_path, "s").tolist() == ["x", "yz"]


def _tensor(code: int = TensorProto.FLOAT, dims: Sequence[int] = (2,), **data: Any) -> TensorProto:
    return TensorProto(data_type=code, dims=dims, **data)


class TestRefused:
    """Bad input: an initializer whose shape, element type and data do not agree."""

    @pytest.mark.parametrize(
        ("tensor", "words"),
        [
            *((_tensor(raw_data=bytes(n)), f"w of float and shape (2,) needs 8 bytes; it has {n}") for n in (7, 9)),
            *((_tensor(float_data=[1.0] * n), f"needs 2 entries of float_data; it has {n}") for n in (0, 1, 3)),
            (_tensor(int32_data=[1, 2]), "needs 2 entries of float_data; it has 0"),
            (_tensor(dims=(2**60,), raw_data=b"1234"), f"needs {2**62} bytes; it has 4"),  # Nothing is allocated.
            (_tensor(dims=(2, -1)), "w has shape (2, -1): no dimension may be negative"),
            (_tensor(TensorProto.INT8, (2**40, 2**23)), "exceeds 2**63 - 1"),
            (_tensor(TensorProto.INT8, (2**62, 2**62, 0)), "exceeds 2**63 - 1"),  # A size of 0 makes no difference.
            (_tensor(dims=(1,) * 65), "w has 65 dimensions; at most 64"),
            # Protobuf keeps an unknown number of the enum only if it reads one.
            *((TensorProto.FromString(bytes([0x10, code])), f"element type number {code}") for code in (0, 99)),
            (_tensor(segment=TensorProto.Segment(begin=0)), "w is a segment of a tensor"),
            (_tensor(TensorProto.STRING, data_location=TensorProto.EXTERNAL), "w has strings in external data"),
        ],
    )
    def test_tensor(self, tmp_path: Path, tensor: TensorProto, words: str) -> None:
        with one_line(ModelError, words):
            decode(tensor, tmp_path, "w")

    def test_largest_shapes(self) -> None:
        for shape, bits in (((2**60, 7), 8), ((2**61, 3, "N", None), 4), ((1,) * 64, 8)):
            check_size(shape, bits, "x")


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
