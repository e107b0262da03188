"""Element types by the names that IR files use."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vinculum.errors import ModelError
from vinculum.models.openvino_ir.types import bits_of, constant, declared_type
from vinculum.models.openvino_ir.xml import Layer
from vinculum.spec.element_types import ELEMENT_TYPES, INT4, ElementType
from vinculum.tensors.storage import dtype_of

OneLine = Callable[..., AbstractContextManager[None]]


def _layer(name: str) -> Layer:
    return Layer("0", "x", "Convert", "opset1", {"destination_type": name}, (), (), ())


class TestDeclaredType:
    """Every type of Divide-1, boolean, and nothing else."""

    @pytest.mark.parametrize("element_type", [t for t in ELEMENT_TYPES if t.openvino], ids=str)
    def test_every_type_that_divides(self, element_type: ElementType) -> None:
        assert declared_type(_layer(str(element_type.openvino)), "destination_type") is element_type

    @pytest.mark.parametrize("name", ["boolean", "BOOL"])
    def test_boolean(self, name: str) -> None:
        assert declared_type(_layer(name), "destination_type") == "bool"

    @pytest.mark.parametrize("name", ["u1", "u2", "nf4", "f4e2m1", "f8e8m0", "string", "dynamic", "", "a\nb"])
    def test_others(self, one_line: OneLine, name: str) -> None:
        with one_line(ModelError, "layer 'x' (Convert) has element type", "allowed: bf16", "boolean"):
            declared_type(_layer(name), "destination_type")

    def test_bits(self) -> None:
        assert [bits_of(INT4), bits_of("bool")] == [4, 8]


WHOLE_BYTES = [element_type for element_type in ELEMENT_TYPES if element_type.bits >= 8]


def _const(**data: object) -> Layer:
    values = {name: str(value) for name, value in data.items()}
    return Layer("0", "w", "Const", "opset1", values, (), (("0", "0"),), ())


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a file of 16 bytes, 0x00 to 0x0f."""
    path = tmp_path / "model.bin"
    path.write_bytes(bytes(range(16)))
    return path


class TestRead:
    """Every element type, at any offset."""

    @pytest.mark.parametrize("element_type", WHOLE_BYTES, ids=str)
    def test_whole_bytes(self, data: Path, element_type: ElementType) -> None:
        size = element_type.bits // 8
        for offset in (0, 3):
            layer = _const(element_type=element_type.openvino, shape="1,1", offset=offset, size=size)
            array = constant(layer, data)
            assert array.dtype == dtype_of(element_type)
            assert array.shape == (1, 1)
            assert array.tobytes() == bytes(range(offset, offset + size))
            assert array.flags.aligned
            assert not array.flags.writeable

    @pytest.mark.parametrize(("name", "expected"), [("u4", [1, 2, 15, 8, 7]), ("i4", [1, 2, -1, -8, 7])])
    def test_two_in_a_byte_the_first_in_the_low_half(self, data: Path, name: str, expected: list[int]) -> None:
        data.write_bytes(bytes([0x21, 0x8F, 0x97]))
        array: Any = constant(_const(element_type=name, shape="5", offset=0, size=3), data)
        assert [int(value) for value in array] == expected

    def test_boolean(self, data: Path) -> None:
        assert constant(_const(element_type="boolean", shape="3", offset=0, size=3), data).tolist() == [
            False,
            True,
            True,
        ]

    def test_scalar_and_empty(self, data: Path, tmp_path: Path) -> None:
        assert constant(_const(element_type="i32", shape="", offset=0, size=4), data).shape == ()
        # OpenVINO's serializer gives one byte to what has no elements.
        for size in (0, 1):
            layer = _const(element_type="f32", shape="0,3", offset=7, size=size)
            assert constant(layer, tmp_path / "absent.bin").shape == (0, 3)
        empty = constant(_const(element_type="f32", shape="0,3", offset=0, size=0), tmp_path / "absent.bin")
        assert empty.shape == (0, 3)
        assert empty.dtype == np.float32

    def test_names_of_older_files(self, data: Path) -> None:
        assert constant(_const(element_type="FP16", shape="1", offset=0, size=2), data).dtype == np.float16


class TestRefused:
    """Bad input: an offset beyond the file, a size that does not match, a shape that overflows."""

    GOOD = {"element_type": "i32", "shape": "2", "offset": "4", "size": "8"}  # noqa: RUF012  it is only read

    @pytest.mark.parametrize(
        ("name", "value", "part"),
        [
            (
                "offset",
                "12",
                "8 bytes at offset 12",
            ),
            ("offset", "9223372036854775807", "has only 16"),
            ("offset", "-4", "may not be negative"),
            ("offset", "x", "whole number"),
            ("size", "4", "needs 8 bytes; size is 4"),
            ("size", "-8", "may not be negative"),
            ("shape", "3", "needs 12 bytes; size is 8"),
            ("shape", "-2", "negative"),
            ("shape", "2,", "whole number"),
            ("shape", "?", "whole number"),
            ("shape", f"{2**40},{2**40}", "2**63 - 1"),
            ("shape", ",".join("1" * 65), "at most 64"),
            ("element_type", "u1", "element type 'u1', which cannot be read; allowed: bf16, f16"),
            ("element_type", "string", "'string'"),
            ("element_type", "nonsense", "'nonsense'"),
        ],
    )
    def test_wrong_attributes(self, data: Path, one_line: OneLine, name: str, value: str, part: str) -> None:
        with one_line(ModelError, "layer 'w' (Const)", part):
            constant(_const(**{**self.GOOD, name: value}), data)

    @pytest.mark.parametrize("name", ["element_type", "shape", "offset", "size"])
    def test_missing_attributes(self, data: Path, one_line: OneLine, name: str) -> None:
        rest = {key: value for key, value in self.GOOD.items() if key != name}
        with one_line(ModelError, "layer 'w' (Const)", f"no attribute {name}"):
            constant(_const(**rest), data)

    def test_a_file_that_is_not_there(self, tmp_path: Path, one_line: OneLine) -> None:
        with one_line(ModelError, "layer 'w' (Const)", "'absent.bin'", "cannot be read"):
            constant(_const(**self.GOOD), tmp_path / "absent.bin")
