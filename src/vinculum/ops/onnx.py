"""The ONNX operators Div and Reciprocal, every version."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Unpack, overload

from vinculum.ops.operator import Operator, prepared
from vinculum.ops.policies import Overflow, ZeroDivisor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vinculum.ops.annotations import ArrayT, Div, Elements, FloatT, IntegerT, Operand, Reciprocal

_RAISE: Final = "raise"
_WRAP: Final = "wrap"


@overload
def div(a: ArrayT, b: Operand | float, **options: Unpack[Div[ArrayT]]) -> ArrayT: ...
@overload
def div(a: Operand | float, b: ArrayT, **options: Unpack[Div[ArrayT]]) -> ArrayT: ...
@overload
def div(
    a: Elements[IntegerT], b: Elements[IntegerT] | int, **options: Unpack[Div[NDArray[IntegerT]]]
) -> NDArray[IntegerT]: ...
@overload
def div(a: int, b: Elements[IntegerT], **options: Unpack[Div[NDArray[IntegerT]]]) -> NDArray[IntegerT]: ...
@overload
def div(
    a: Elements[FloatT], b: Elements[FloatT] | float, **options: Unpack[Div[NDArray[FloatT]]]
) -> NDArray[FloatT]: ...
@overload
def div(a: float, b: Elements[FloatT], **options: Unpack[Div[NDArray[FloatT]]]) -> NDArray[FloatT]: ...
def div(
    a: Any,
    b: Any,
    *,
    opset: int | None = None,
    axis: int | None = None,
    broadcast: int | None = None,
    consumed_inputs: Sequence[int] | None = None,
    out: Any = None,
    where: Any = None,
    zero_divisor: ZeroDivisor = "raise",
    overflow: Overflow = "wrap",
) -> Any:
    """Return the quotient of each pair: truncated for integers, correctly rounded for floats.

    Parameters
    ----------
    a : array
        Dividend, of an element type that the version takes: a NumPy array or scalar, a buffer, an object with
        ``__array__`` or ``__dlpack__``, a Dask array, or an array on a CUDA device; nothing is converted.
    b : array
        Divisor, of the same element type, and of a shape that the version broadcasts with the dividend's.
    opset : int, optional
        ONNX operator-set version; it selects that set's version of Div, the newest if None.
    axis, broadcast : int, optional
        Attribute of Div-1 and Div-6.
    consumed_inputs : sequence of int, optional
        Attribute of Div-1, a hint without effect.
    out : array, optional
        Where to write, of the result's element type and shape; it may be an operand.
    where : array of bool, optional
        Where to divide; elsewhere `out`, which is then required, keeps its elements. In CPU memory only.
    zero_divisor : {"raise", "zero", "saturate"}
        For integers, where the standard is silent: raise an error; give 0; or give the largest or smallest value by
        the dividend's sign, and 0 for 0/0. Floats follow IEEE 754 and never raise or warn.
    overflow : {"wrap", "raise", "saturate"}
        For MIN/-1, where the standard is silent: give MIN; raise an error; or give the largest value.

    Returns
    -------
    array
        Of the operands' element type and the joined shape, and of the library of the first operand that is not NumPy's.

    Raises
    ------
    ElementTypeError, BroadcastError, AttributeValueError, SpecLookupError
        If the version does not allow what was given; the message says what it allows.
    DivisionByZeroError, IntegerOverflowError
        As the policies say; `out` may then hold partial results.

    Notes
    -----
    ONNX operators, Div, versions 1, 6, 7, 13 and 14.

    Examples
    --------
    >>> import numpy as np
    >>> from vinculum import div
    >>> div(np.array([-11, 12], np.int32), np.array([3, 3], np.int32))
    array([-3,  4], dtype=int32)
    """
    if consumed_inputs is not None:
        operator = Operator(
            "Div",
            opset=opset,
            axis=axis,
            broadcast=broadcast,
            consumed_inputs=consumed_inputs,
            zero_divisor=zero_divisor,
            overflow=overflow,
        )
    elif opset is None and axis is None and broadcast is None and zero_divisor is _RAISE and overflow is _WRAP:
        operator = _newest_div()  # Finding it by its arguments would take longer than dividing a few elements.
    else:
        operator = _div(opset, axis, broadcast, zero_divisor, overflow)
    return operator(a, b, out) if where is None else operator(a, b, out, where=where)


@overload
def reciprocal(x: ArrayT, **options: Unpack[Reciprocal[ArrayT]]) -> ArrayT: ...
@overload
def reciprocal(x: Elements[FloatT], **options: Unpack[Reciprocal[NDArray[FloatT]]]) -> NDArray[FloatT]: ...
def reciprocal(
    x: Any,
    *,
    opset: int | None = None,
    consumed_inputs: Sequence[int] | None = None,
    out: Any = None,
    where: Any = None,
) -> Any:
    """Return 1/x of each element, correctly rounded.

    Parameters
    ----------
    x : array
        Of a floating-point element type that the version takes.
    opset : int, optional
        ONNX operator-set version; it selects that set's version of Reciprocal, the newest if None.
    consumed_inputs : sequence of int, optional
        A hint of Reciprocal-1, without effect.
    out : array, optional
        Where to write, of the result's element type and shape; it may be `x`.
    where : array of bool, optional
        As in `div`.

    Returns
    -------
    array
        Of x's element type and shape.

    Raises
    ------
    ElementTypeError, BroadcastError, AttributeValueError, SpecLookupError
        If the version does not allow what was given; the message says what it allows.

    Notes
    -----
    ONNX operators, Reciprocal, versions 1, 6 and 13. 1/0 is an infinity with the zero's sign, as in IEEE 754.
    """
    if consumed_inputs is None:
        operator = _reciprocal(opset)
    else:
        operator = Operator("Reciprocal", opset=opset, consumed_inputs=consumed_inputs)
    return operator(x, None, out) if where is None else operator(x, None, out, where=where)


@cache
def _newest_div() -> Operator:
    return Operator("Div")


_div = prepared("Div", "opset", "axis", "broadcast", "zero_divisor", "overflow")
_reciprocal = prepared("Reciprocal", "opset")
