"""``--input NAME=FILE``: the array that each option names, and files that are refused before they are read."""

from __future__ import annotations

import zipfile
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any, Literal

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import numpy_helper

from tests.cases import case
from vinculum.cli import inputs as module
from vinculum.cli.inputs import input_files, read_inputs
from vinculum.errors import ModelError
from vinculum.models import ModelTensor
from vinculum.spec.element_types import BFLOAT16, FLOAT, FLOAT8E4M3FN, FLOAT8E5M2, INT4, INT32, ElementType

Array = NDArray[Any]


def declared(*names: str, element_type: ElementType = FLOAT) -> list[ModelTensor]:
    return [ModelTensor(name, element_type, None) for name in names]


def read(option: str, tensor: ModelTensor) -> Array:
    tensors = [tensor]
    return read_inputs(input_files([option], tensors), tensors)[tensor.name]


class TestOptions:
    """NAME=FILE, and NAME=FILE.npz:MEMBER."""

    @pytest.mark.parametrize(
        ("option", "name", "path", "member"),
        [
            ("x=a.npy", "x", "a.npy", None),
            ("x=a=b.npy", "x", "a=b.npy", None),
            ("y=z=a.npy", "y=z", "a.npy", None),
            ("x:0=a.npz:x:0", "x:0", "a.npz", "x:0"),
            ("x=dir.npz/a.npz:m", "x", "dir.npz/a.npz", "m"),
            ("x=a.npz:", "x", "a.npz", ""),
        ],
    )
    def test_parts(self, option: str, name: str, path: str, member: str | None) -> None:
        (file,) = input_files([option], declared("x", "y=z", "x:0")).values()
        assert (file.name, str(file.path), file.member) == (name, str(Path(path)), member)

    def test_a_path_that_exists_has_no_member(self, tmp_path: Path) -> None:
        odd = tmp_path / "a.npz:b.npy"
        np.save(odd, np.ones(2, np.float32))
        assert read(f"x={odd}", *declared("x")).shape == (2,)

    def test_a_file_alone(self) -> None:
        """A model with one input needs no name."""
        (file,) = input_files(["a.npz:m"], declared("x")).values()
        assert (file.name, str(file.path), file.member) == ("x", "a.npz", "m")


class TestArrays:
    """Arrays keep the values, the element type and the order of the file."""

    def test_npy(self, tmp_path: Path) -> None:
        shapes: list[tuple[int, ...]] = [(), (0,), (3,), (2, 0, 4), (2, 3, 4)]
        orders: tuple[Literal["C", "F"], ...] = ("C", "F")
        for shape, order, dtype in product(shapes, orders, ("float32", ">f8", "int8", "bool", "U3")):
            with case(shape, order, dtype):
                array = np.asarray(np.arange(np.prod(shape)).reshape(shape).astype(dtype), order=order)
                np.save(tmp_path / "x.npy", array)
                np.testing.assert_array_equal(read(f"x={tmp_path / 'x.npy'}", *declared("x")), array, strict=True)

    def test_other_files(self, tmp_path: Path) -> None:
        """A later version of the format, members of an archive, and a TensorProto."""
        (tensor,) = declared("x")
        with (tmp_path / "later.npy").open("wb") as file:
            np.lib.format.write_array(file, np.arange(3), version=(2, 0))
        np.savez_compressed(tmp_path / "two.npz", x=np.arange(2), y=np.arange(5))
        np.savez(tmp_path / "one.npz", other=np.arange(4))
        (tmp_path / "x.pb").write_bytes(numpy_helper.from_array(np.arange(6)).SerializeToString())
        for name, size in {"later.npy": 3, "two.npz": 2, "two.npz:y": 5, "one.npz": 4, "x.pb": 6}.items():
            with case(name):
                np.testing.assert_array_equal(read(f"x={tmp_path / name}", tensor), np.arange(size), strict=True)

    @pytest.mark.parametrize("element_type", [BFLOAT16, FLOAT8E4M3FN, FLOAT8E5M2, INT4])
    def test_raw_bytes_are_of_the_declared_type(self, tmp_path: Path, element_type: ElementType) -> None:
        dtype = np.dtype(getattr(ml_dtypes, element_type.numpy))
        array = np.array([[1, -2, 3]]).astype(dtype)
        (tensor,) = declared("x", element_type=element_type)
        for saved in (array.view(f"V{dtype.itemsize}"), array):
            np.save(tmp_path / "x.npy", saved)
            np.testing.assert_array_equal(read(f"x={tmp_path / 'x.npy'}", tensor), array, strict=True)

    def test_nothing_else_is_taken_for_another_type(self, tmp_path: Path) -> None:
        np.save(tmp_path / "x.npy", np.zeros(3, np.uint16))
        assert read(f"x={tmp_path / 'x.npy'}", *declared("x", element_type=BFLOAT16)).dtype == np.uint16
        np.save(tmp_path / "x.npy", np.zeros(3, "V4"))
        assert read(f"x={tmp_path / 'x.npy'}", *declared("x", element_type=INT32)).dtype == np.dtype("V4")


class TestRefusals:
    """A file with false claims is refused before memory is allocated for them."""

    def refusal(self, path: Path) -> str:
        with pytest.raises(ModelError) as error:
            read(f"x={path}", *declared("x"))
        line = str(error.value)
        assert line.startswith(f"input 'x' from {str(path)!r}")
        assert "\n" not in line
        return line

    def test_headers_that_lie(self, tmp_path: Path) -> None:
        def header(shape: tuple[int, ...]) -> bytes:
            stream = BytesIO()
            np.lib.format.write_array_header_1_0(stream, {"descr": "<f4", "fortran_order": False, "shape": shape})
            return stream.getvalue() + b"1234"

        def array(values: Array, version: tuple[int, int]) -> bytes:
            stream = BytesIO()
            np.lib.format.write_array(stream, values, version=version)
            return stream.getvalue()

        no_headers = (b"{", b"(" * 5000, b"{'descr': '<f4'}", b"\0", b"1 +", b"\\")
        whole = array(np.arange(3), (1, 0))
        contents = {
            **dict.fromkeys(map(header, ((2**62, 2**62), (-1,), (-2, -3), (1,) * 200, (10**400,))), ""),
            **{b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text: "cannot be read" for text in no_headers},
            **dict.fromkeys((whole[:-1], whole + b"\0"), "takes 24 bytes"),
            array(np.zeros(2, [("é", "<f4")]), (3, 0)): "named fields",
            array(np.array([{}]), (1, 0)): "Python objects, which are never unpickled",
        }
        for content, words in contents.items():
            with case(content[:80]):
                (tmp_path / "x.npy").write_bytes(content)
                assert words in self.refusal(tmp_path / "x.npy")

    def test_every_truncation_of_an_archive(self, tmp_path: Path) -> None:
        np.savez_compressed(tmp_path / "whole.npz", x=np.arange(5))
        content = (tmp_path / "whole.npz").read_bytes()
        for kept in range(len(content)):
            (tmp_path / "x.npz").write_bytes(content[:kept])
            self.refusal(tmp_path / "x.npz")

    def test_a_changed_member_and_one_that_is_no_array(self, tmp_path: Path) -> None:
        np.savez(tmp_path / "x.npz", x=np.arange(500))
        content = bytearray((tmp_path / "x.npz").read_bytes())
        content[2000] ^= 1
        (tmp_path / "x.npz").write_bytes(bytes(content))
        assert "CRC" in self.refusal(tmp_path / "x.npz")
        with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
            archive.writestr("x", "text")
        assert "magic string" in self.refusal(tmp_path / "x.npz")

    def test_a_member_that_expands_too_far(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "_LARGEST_MEMBER", 10_000)
        np.savez_compressed(tmp_path / "x.npz", x=np.zeros(10_000))
        assert "save it as an .npy file" in self.refusal(tmp_path / "x.npz")
        np.savez(tmp_path / "x.npz", x=np.zeros(10_000))
        assert read(f"x={tmp_path / 'x.npz'}", *declared("x")).size == 10_000
