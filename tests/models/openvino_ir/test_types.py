"""Element types by the names that IR files use."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from vinculum.errors import ModelError
from vinculum.models.openvino_ir.types import bits_of, declared_type
from vinculum.models.openvino_ir.xml import Layer
from vinculum.spec.element_types import ELEMENT_TYPES, INT4, ElementType

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
