"""Libraries that are called with arrays, and loaders of ONNX: a row is both executed and printed."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.conformance.asking import executed, message, operation, same_bits, small
from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.runtimes.backends import runtime
from vinculum.conformance.runtimes.libraries import Function, Library
from vinculum.conformance.runtimes.onnx_loaders import LOADERS, OnnxLoader
from vinculum.errors import AttributeValueError, ModelError
from vinculum.sandbox import UnsupportedError
from vinculum.spec.element_types import BFLOAT16, FLOAT, FLOAT16, INT32, UINT8
from vinculum.spec.onnx_div import DIV_6, DIV_13, DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_13
from vinculum.spec.openvino_divide import DIVIDE_1

# A library whose arrays are a class of its own, with other names of element types, and without bfloat16 in NumPy.
MODULE = r"""
import numpy as np

class Array:
    def __init__(self, data, dtype): self.data, self.dtype = data, "lib." + dtype
    def bits(self): return self.data

def divide(a, b, scale=1):
    if a.dtype == "lib.half":
        raise NotImplementedError("no halves\ntoday")
    return Array(a.data / b.data * a.data.dtype.type(scale), a.dtype.removeprefix("lib."))
"""


def floored(a: Any, b: Any) -> Any:
    """Floor a quotient, in several lines."""
    import lib  # type: ignore[import-not-found]  # a test makes it

    whole = a.data // b.data
    return lib.Array(whole, "whole")


LIBRARY = Library(
    name="lib",
    title="Lib",
    package="lib",
    imports=("import lib",),
    calls={Function.DIVIDE: "lib.divide(a, b)", Function.FLOOR_DIVIDE: floored},
    types={"float16": "half", "float32": "single", "bfloat16": "brain", "int32": "whole", "uint8": "byte"},
    array='lib.Array({0}, "{type}")',
    back="{0}.data",
    foreign_array='lib.Array({0}.view(np.{bits}).view(ml_dtypes.bfloat16), "{type}")',
    foreign_back="{0}.data.view(np.{bits}).view(ml_dtypes.{type})",
    options={"scale": {"1": {}, "2": {"title": "Lib, doubled", "calls": {Function.DIVIDE: "lib.divide(a, b, 2)"}}}},
)


@pytest.fixture
def lib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Library:
    """Return the library as a runtime, whose package can be imported."""
    (tmp_path / "lib.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "lib", raising=False)
    return LIBRARY.with_options({})


@pytest.mark.parametrize(
    "asked",
    [
        small(DIV_14, FLOAT, False),
        small(DIV_14, BFLOAT16, False),
        small(DIV_14, UINT8, False),
        small(DIVIDE_1, INT32, False),
        operation(DIV_14, np.ones((0, 2), np.float32), np.ones(2, np.float32)),
    ],
    ids=["float", "bfloat16", "uint8", "int32", "empty"],
)
def test_what_it_prints_is_what_it_does(lib: Library, asked: Operation) -> None:
    a, b = asked.operands
    expected = a // b if a.dtype.kind in "iu" else a / b
    assert same_bits(lib.answer(asked), expected)
    with np.printoptions(floatmode="unique"):
        assert executed(lib.reproducer(asked)).endswith(f"\n{expected!r}\n")


def test_what_it_lacks(lib: Library) -> None:
    def refused(asked: Operation) -> str:
        with pytest.raises(UnsupportedError) as caught:
            lib.answer(asked)
        return str(caught.value)

    assert refused(operation(DIV_14, np.ones(1), np.ones(1))) == "Lib has no division of float64"
    assert refused(small(DIV_14, INT32, False)) == "Lib has no truncating division of integers"
    assert refused(small(RECIPROCAL_13, FLOAT, False)) == "Lib has no reciprocal"
    assert refused(small(DIV_14, FLOAT16, False)) == "no halves today"
    shown = executed(lib.reproducer(small(DIV_14, INT32, False)))
    assert shown.endswith("\nLib has no truncating division of integers\n")


def test_options_change_a_row(lib: Library) -> None:
    asked = operation(DIV_14, np.array([3], np.float32), np.array([2], np.float32))
    doubled = LIBRARY.with_options({"scale": "2"})
    assert (lib.answer(asked).tolist(), doubled.answer(asked).tolist(), doubled.title) == ([1.5], [3.0], "Lib, doubled")
    assert executed(doubled.reproducer(asked)).endswith("array([3.], dtype=float32)\n")
    line = message(AttributeValueError, lambda: LIBRARY.with_options({"scale": "3"}))
    assert line == "scale of lib is '3'; allowed: 1, 2"


def twice(model: Any, inputs: dict[str, Any]) -> Any:
    """Evaluate a model, and double it."""
    from onnx.reference import ReferenceEvaluator

    (quotient,) = ReferenceEvaluator(model).run(None, inputs)
    return [2 * quotient]


def unlucky(model: Any, inputs: Mapping[str, NDArray[Any]]) -> Any:
    """Refuse every model."""
    raise ValueError("Unknown\nkind" if len(inputs) > 1 else "no luck")


class TestLoaders:
    """A runtime is one function of a model and its inputs."""

    def test_asked(self) -> None:
        made = OnnxLoader("twice", "Twice", "onnx", twice, "onnx")
        asked = operation(DIV_14, np.array([3.0]), np.array([2.0]), constant=(False, True))
        made.check()
        made.start()
        assert made.answer(asked).tolist() == [3.0]
        assert executed(made.reproducer(asked)).endswith("\narray([3.])\n")
        assert made.covers(asked)
        assert not made.covers(small(DIVIDE_1, FLOAT, False))
        assert list(made.versions()) == ["onnx"]

    def test_what_it_raises(self) -> None:
        made = OnnxLoader("unlucky", "Unlucky", "onnx", unlucky, "onnx", lacks=("Unknown",))
        with pytest.raises(UnsupportedError, match="Unknown kind"):
            made.answer(small(DIV_14, FLOAT, False))
        with pytest.raises(ValueError, match="no luck"):
            made.answer(small(RECIPROCAL_13, FLOAT, False))

    @pytest.mark.parametrize("name", LOADERS)
    def test_every_row_prints_a_program(self, name: str) -> None:
        made = runtime(name)
        for asked in (small(DIV_14, FLOAT, False), operation(DIV_6, np.ones(3), np.ones(3), constant=(False, True))):
            compile(made.reproducer(asked), name, "exec")


@pytest.mark.parametrize("name", ["onnxruntime", "openvino", "torch", "jax"])
def test_not_installed(name: str) -> None:
    """The packages are hidden in tests: importing them would fail."""
    line = message(ModelError, runtime(name).check)
    assert line.endswith(f"the package {name} is not installed: pip install {name}")
    assert runtime(name).versions()
    assert "import" in runtime(name).reproducer(small(DIV_14, FLOAT, False))


def test_what_is_covered() -> None:
    """A function call has no constants, no older versions and no attributes other than rounding."""
    one, three = np.ones(1, np.float32), np.ones(3, np.float32)
    covered = [
        operation(DIV_14, one, three),
        operation(RECIPROCAL_13, one),
        operation(DIVIDE_1, one, three),
        operation(DIVIDE_1, one, three, m_pythondiv=False, auto_broadcast="numpy"),
        operation(DIVIDE_1, one, one, auto_broadcast="none"),
    ]
    others = [
        operation(DIV_13, one, three),
        operation(DIV_14, one, three, constant=(False, True)),
        operation(DIV_14, one, three, axis=0),
        operation(RECIPROCAL_13, one, constant=True),
        operation(DIVIDE_1, one, three, auto_broadcast="none"),
        operation(DIVIDE_1, one, one, auto_broadcast="pdpd"),
        operation(DIVIDE_1, one, one, m_pythondiv="yes"),
        operation(DIVIDE_1, one, one, axis=0),
    ]
    assert [asked for asked in [*covered, *others] if runtime("numpy").covers(asked)] == covered
