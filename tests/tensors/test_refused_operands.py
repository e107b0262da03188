"""Operands without an element type that an operator divides are refused in one line."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest

from vinculum import ConstraintError, ElementTypeError, div, divide, reciprocal, sonnx
from vinculum.tensors.storage import as_operand
from vinculum.text import kind_of

GOOD = np.ones(2, "i4")
ERRORS = (BufferError, RuntimeError, TypeError, ValueError)


def refusal_of(call: Any, *operands: object) -> str:
    """Return the one line with which a call refuses its operands, now and later."""
    lines = set()
    for _ in range(2):
        with pytest.raises(ElementTypeError) as refusal:
            call(*operands)
        lines.add(str(refusal.value))
    (line,) = lines
    assert "\n" not in line
    return line


class TestWithoutElementType:
    """A value whose element type would have to be guessed."""

    @pytest.mark.parametrize(
        "value",
        [
            [1, 2],
            [[1.0], [2.0]],
            (1, 2),
            [],
            True,
            1j,
            None,
            "12",
            b"12",
            Fraction(1, 2),
            Decimal(1),
            range(2),
            {1: 2},
            {1, 2},
            iter([1, 2]),
            object(),
            np.ndarray,
            np.float32,
            np.dtype("f4"),
            lambda: GOOD,
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_refused(self, value: object) -> None:
        kind = kind_of(value)
        assert refusal_of(div, value, GOOD) == f"A is {kind}; pass np.asarray(A, dtype=...)"
        if value is not None:  # nothing given for B is a call with one operand
            assert refusal_of(div, GOOD, value) == f"B is {kind}; pass np.asarray(B, dtype=...)"
            assert refusal_of(divide, GOOD, value) == f"b is {kind}; pass np.asarray(b, dtype=...)"
        assert refusal_of(reciprocal, value) == f"X is {kind}; pass np.asarray(X, dtype=...)"

    def test_what_makes_an_array(self) -> None:
        """The code in a message can be pasted."""
        tensor = onnx.numpy_helper.from_array(GOOD)
        assert refusal_of(div, tensor, GOOD) == "A is a TensorProto; pass onnx.numpy_helper.to_array(A)"
        with pytest.raises(ElementTypeError, match=r"^input 'x' is a list; pass np\.asarray\(\.\.\., dtype=\.\.\.\)$"):
            as_operand([1, 2], "input 'x'")

    @pytest.mark.parametrize("mask", [False, True, [True, False]])
    def test_a_masked_array(self, mask: Any) -> None:
        masked = np.ma.MaskedArray(GOOD, mask)
        assert refusal_of(div, masked, GOOD).startswith("A is a masked array")
        assert refusal_of(div, GOOD, masked).startswith("B is a masked array")
        assert refusal_of(reciprocal, np.ma.masked).startswith("X is a masked array")


class TestOtherTypes:
    """Arrays of types that no operator divides."""

    @pytest.mark.parametrize("shape", [(), (2,), (0,), (2, 0)])
    @pytest.mark.parametrize(
        "dtype",
        [
            "?",
            "c8",
            "c16",
            "M8[D]",
            "m8[s]",
            "U3",
            "S3",
            "V4",
            [("a", "i4")],
            np.longdouble,
            np.dtypes.StringDType(),
            ml_dtypes.float8_e4m3b11fnuz,
            ml_dtypes.float8_e5m2fnuz,
        ],
        ids=str,
    )
    def test_refused(self, dtype: Any, shape: tuple[int, ...]) -> None:
        array = np.zeros(shape, dtype)
        for call, name in ((div, "A"), (divide, "a")):
            line = refusal_of(call, array, array)
            assert line.startswith(f"{name} has NumPy type {array.dtype}, which no division operator takes; allowed: ")
        assert refusal_of(reciprocal, array).startswith(f"X has NumPy type {array.dtype}, ")

    @pytest.mark.parametrize("values", [[1, 2], [None, None], [0.5, Fraction(1)], [Fraction(1), "1"], [Decimal(1)]])
    def test_objects_other_than_fractions(self, values: list[object]) -> None:
        array = np.array(values, object)
        assert "the reals are fractions.Fraction, and nothing is converted" in refusal_of(div, array, array)


class TestBrokenExporters:
    """Errors of objects that cannot be viewed become one line."""

    def test_a_released_memoryview(self) -> None:
        view = memoryview(bytearray(4))
        view.release()
        assert refusal_of(div, view, GOOD).startswith("A is a memoryview")

    @pytest.mark.parametrize("interface", ["nonsense", {}, {"version": 3}, 5, {"shape": (2,), "typestr": "!!"}])
    def test_a_broken_array_interface(self, interface: object) -> None:
        duck = type("Duck", (), {"__array_interface__": interface})()
        assert refusal_of(div, duck, GOOD).startswith("A is a Duck")

    @pytest.mark.parametrize(
        ("error", "members", "words"),
        [
            *((kind("first\nand second"), {}, "that NumPy cannot view (first and second)") for kind in ERRORS),
            (BufferError("Can't export"), {"requires_grad": True}, "that requires a gradient; pass its .detach()"),
            *(
                (None, {"__dlpack_device__": lambda self, x=x: x}, "that NumPy cannot view")
                for x in ((3, 1), None, "cpu")
            ),
        ],
    )
    def test_a_broken_dlpack_exporter(self, error: Exception | None, members: dict[str, Any], words: str) -> None:
        def export(self: object, **options: object) -> object:
            if error is not None:
                raise error
            return 7

        protocol = {"__dlpack__": export, "__dlpack_device__": lambda self: (1, 0), **members}
        assert refusal_of(div, type("Exporter", (), protocol)(), GOOD).startswith(f"A is an Exporter {words}")


class Quantity(np.ndarray[Any, Any]):
    """An array with a unit."""

    def __array_ufunc__(self, *arguments: object, **options: object) -> Any:
        raise AssertionError("no division asks for it")


class TestOwnArithmetic:
    """Arrays with their own arithmetic, whose unit or index a division would lose, are refused."""

    @pytest.mark.parametrize(
        "value",
        [
            np.ones(2, "i4").view(Quantity),
            type("Series", (), {"__array__": lambda self: GOOD, "__array_ufunc__": None})(),
            type("Lazy", (), {"__array_interface__": GOOD.__array_interface__, "__array_ufunc__": None})(),
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_refused(self, value: object) -> None:
        kind = type(value).__name__
        line = refusal_of(div, value, GOOD)
        assert line.startswith(f"A is a {kind} of {__name__}, which defines its own arithmetic (__array_ufunc__)")
        assert line.endswith("pass its values, such as numpy.asarray(A)")
        assert refusal_of(divide, GOOD, value).startswith(f"b is a {kind} of ")
        assert refusal_of(reciprocal, value).startswith(f"X is a {kind} of ")
        if isinstance(value, np.ndarray):
            assert div(np.asarray(value), GOOD).tolist() == [1, 1]


@pytest.mark.clause("SONNX Div (*)", "[GR1]")
@pytest.mark.parametrize(
    "kind",
    [
        *(
            type("csr_array", (), {"__module__": module})
            for module in ("scipy.sparse._csr", "scipy.sparse", "sparse._coo")
        ),
        type("csr_array", (), {"layout": "torch.sparse_csr"}),
    ],
)
@pytest.mark.parametrize("call", [div, divide, sonnx.div, sonnx.error_conditions])
def test_sparse_tensors(kind: type, call: Any) -> None:
    """[GR1] is the tag of SONNX, but no other operator has sparse tensors either.

    Stand-ins: what tells a sparse array from a dense one is the package that its class is from, or its layout.
    """
    for operands, name in (((kind(), GOOD), "[Aa]"), ((GOOD, kind()), "[Bb]")):
        with pytest.raises(ConstraintError, match=rf"^\[GR1\] {name} is a sparse tensor \(csr_array\)") as refusal:
            call(*operands)
        assert refusal.value.tag == "[GR1]"
