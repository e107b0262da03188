"""The SONNX operators Div for reals, floats and integers, with their constraints and their numeric accuracy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt

from vinculum.errors import BroadcastError, ConstraintError, ElementTypeError
from vinculum.ops.array_backends import backend_of
from vinculum.ops.operator import Operator, prepared
from vinculum.reference.accuracy import Accuracy, ErrorBound
from vinculum.reference.accuracy import accuracy as _accuracy
from vinculum.spec.element_types import Kind
from vinculum.tensors.storage import as_operand, element_type_of, native

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vinculum.ops.annotations import ArrayT, Elements, FloatT, IntegerT, Operand

Array = npt.NDArray[Any]
_Overflow = Literal["raise", "wrap"]
_VARIANTS = {Kind.REAL: "real", Kind.FLOAT: "float"}

_div = prepared("Div", "dialect", "variant", "overflow")


@overload
def div(a: ArrayT, b: Operand, *, out: ArrayT | None = None, overflow: _Overflow = "raise") -> ArrayT: ...
@overload
def div(a: Operand, b: ArrayT, *, out: ArrayT | None = None, overflow: _Overflow = "raise") -> ArrayT: ...
@overload
def div(
    a: Elements[IntegerT],
    b: Elements[IntegerT],
    *,
    out: NDArray[IntegerT] | None = None,
    overflow: _Overflow = "raise",
) -> NDArray[IntegerT]: ...
@overload
def div(
    a: Elements[FloatT], b: Elements[FloatT], *, out: NDArray[FloatT] | None = None, overflow: _Overflow = "raise"
) -> NDArray[FloatT]: ...
@overload
def div(
    a: Elements[np.object_],
    b: Elements[np.object_],
    *,
    out: NDArray[np.object_] | None = None,
    overflow: _Overflow = "raise",
) -> NDArray[np.object_]: ...
def div(a: Any, b: Any, *, out: Any = None, overflow: _Overflow = "raise") -> Any:
    """Return the quotient of each pair: exact for reals, correctly rounded for floats, truncated for integers.

    Parameters
    ----------
    a, b : array
        Of one shape [C1] and one element type [C2]: object arrays of ``fractions.Fraction`` (real); float16, float or
        double (float); or one of the eight integer types (int). Nothing is converted [GR2, GR3].
    out : array, optional
        Where to write, of the operands' element type and shape; it may be an operand.
    overflow : {"raise", "wrap"}, optional
        What MIN/-1 of integers gives: an error, as ``sonnx_div_checked_*`` of the C library returns its position, or
        MIN, as ``sonnx_div_*`` there writes.

    Returns
    -------
    array
        Of the operands' element type and shape. 0/0 of floats, the document's only error condition, is NaN:
        `error_conditions` tells where.

    Raises
    ------
    ConstraintError
        Naming the tag: shapes [C1], element types [C2], a zero divisor ([C2] of real, [C3] of int), a sparse tensor
        [GR1], an operand without element type [GR2, GR3], MIN/-1 [V1]; with the first index if elements are the
        cause.
    ElementTypeError
        If no SONNX Div takes the element type.
    AttributeValueError
        If `overflow` has another value.

    Notes
    -----
    SONNX Div (real, real), (float, float) and (int, int). The tag [V1] is ours: the document does not mention
    that MIN/-1 does not fit the type.
    """
    return _operator(a, b, overflow)(a, b, out)


def error_conditions(a: object, b: object) -> list[tuple[int, ...]]:
    """Return the indices, in row-major order, where floating-point operands are both zero: 0/0, which gives NaN.

    Parameters
    ----------
    a, b : array
        Operands that `div` takes. Reals and integers have no error condition.

    Raises
    ------
    ConstraintError, ElementTypeError
        As `div`, for operands that do not fit.
    """
    dividend, divisor = _operands(a, b)
    if _operator(dividend, divisor).spec.variant != "float":
        return []
    indices = np.argwhere(_is_zero(native(dividend)) & _is_zero(native(divisor)))
    return [tuple(index) for index in indices.tolist()]


def accuracy(a: object, b: object, a_err: ErrorBound, b_err: ErrorBound) -> Accuracy:
    """Return sound upper bounds of the errors of ``div(a, b)`` from bounds of the errors of its operands.

    Parameters
    ----------
    a, b : array
        Operands that `div` takes.
    a_err, b_err : array_like
        Upper bounds of the absolute errors of `a` and `b`, in a shape that broadcasts to theirs.

    Returns
    -------
    Accuracy
        ``.propagated``: how far the operands' errors move the exact quotient; ``.introduced``: how far rounding or
        truncation moves it; ``.total``: how far the result may lie from the exact quotient of the exact operands.
        Exact for reals, else binary64 rounded outward; infinite where there is no bound.

    Raises
    ------
    ConstraintError, ElementTypeError
        As `div`, for operands that do not fit.
    AttributeValueError
        If a bound is negative or NaN.

    Notes
    -----
    SONNX Div, numeric accuracy; the bounds of the published note are corrected as `vinculum.reference.accuracy` says.
    """
    dividend, divisor = _operands(a, b)
    _operator(dividend, divisor)
    return _accuracy(native(dividend), native(divisor), a_err, b_err, element_type_of(dividend))


def _is_zero(array: Array) -> Array:
    """Find zeros by their encodings: where a library flushes subnormal numbers, a comparison takes them for zero."""
    encodings = array.view(f"u{array.itemsize}")
    magnitudes: Array = encodings << np.ones((), encodings.dtype)
    return np.equal(magnitudes, 0)


def _operands(a: object, b: object, view: Callable[[object, str], Any] = as_operand) -> tuple[Any, Any]:
    try:
        return view(a, "A"), view(b, "B")
    except ElementTypeError as error:
        raise ConstraintError(f"[GR2] [GR3] {error}", tag="[GR2]") from None


def _operator(a: object, b: object, overflow: _Overflow = "raise") -> Operator:
    """Return the operator of the operands' element type, after checking their types and shapes."""
    backend = backend_of(a, b)
    if backend is None:
        dividend, divisor = _operands(a, b)
        types = element_type_of(dividend, "A"), element_type_of(divisor, "B")
        shapes = dividend.shape, divisor.shape
    else:
        dividend, divisor = _operands(a, b, backend.as_operand)
        types = backend.element_type_of(dividend, "A"), backend.element_type_of(divisor, "B")
        shapes = backend.shape_of(dividend), backend.shape_of(divisor)
    if types[0] is not types[1]:
        raise ConstraintError(f"[C2] A is {types[0]} and B {types[1]}; SONNX Div requires one element type", tag="[C2]")
    operator = _div("sonnx", _VARIANTS.get(types[0].kind, "int"), overflow)
    try:
        operator.infer(types, shapes)
    except BroadcastError as error:
        raise ConstraintError(f"[C1] {error}", tag="[C1]") from None
    return operator
