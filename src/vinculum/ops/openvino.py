"""The OpenVINO operator Divide-1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack, overload

from vinculum.ops.operator import prepared
from vinculum.ops.policies import Overflow, ZeroDivisor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vinculum.ops.annotations import ArrayT, Divide, Elements, FloatT, IntegerT, Operand


@overload
def divide(a: ArrayT, b: Operand | float, **options: Unpack[Divide[ArrayT]]) -> ArrayT: ...
@overload
def divide(a: Operand | float, b: ArrayT, **options: Unpack[Divide[ArrayT]]) -> ArrayT: ...
@overload
def divide(
    a: Elements[IntegerT], b: Elements[IntegerT] | int, **options: Unpack[Divide[NDArray[IntegerT]]]
) -> NDArray[IntegerT]: ...
@overload
def divide(a: int, b: Elements[IntegerT], **options: Unpack[Divide[NDArray[IntegerT]]]) -> NDArray[IntegerT]: ...
@overload
def divide(
    a: Elements[FloatT], b: Elements[FloatT] | float, **options: Unpack[Divide[NDArray[FloatT]]]
) -> NDArray[FloatT]: ...
@overload
def divide(a: float, b: Elements[FloatT], **options: Unpack[Divide[NDArray[FloatT]]]) -> NDArray[FloatT]: ...
def divide(
    a: Any,
    b: Any,
    *,
    m_pythondiv: bool = True,
    auto_broadcast: str = "numpy",
    axis: int = -1,
    out: Any = None,
    where: Any = None,
    zero_divisor: ZeroDivisor = "raise",
    overflow: Overflow = "wrap",
) -> Any:
    """Return the quotient of each pair: floor or truncated for integers, correctly rounded for floats.

    Parameters
    ----------
    a : array
        Dividend; `vinculum.div` lists what may be an operand.
    b : array
        Divisor, of the same element type, and of a shape that `auto_broadcast` joins with the dividend's.
    m_pythondiv : bool
        For integers: floor division if true, truncating if false. Floats ignore it.
    auto_broadcast : {"numpy", "none", "pdpd"}
        The broadcasting rule.
    axis : int
        With ``pdpd`` the dimension of `a` at which `b` begins; -1 aligns the ends of both. The document has no such
        attribute; IR files may.
    out : array, optional
        Where to write, of the result's element type and shape; it may be an operand.
    where : array of bool, optional
        Where to divide; elsewhere `out`, which is then required, keeps its elements. In CPU memory only.
    zero_divisor : {"raise", "zero", "saturate"}
        For integers, where the document does not define the result; see `vinculum.div`.
    overflow : {"wrap", "raise", "saturate"}
        For MIN/-1; see `vinculum.div`.

    Returns
    -------
    array
        Of the operands' element type and the joined shape.

    Raises
    ------
    ElementTypeError, BroadcastError, AttributeValueError
        If Divide-1 does not allow what was given; the message says what it allows.
    DivisionByZeroError, IntegerOverflowError
        As the policies say; `out` may then hold partial results.

    Notes
    -----
    OpenVINO operation set 1, Divide-1. float8e4m3fn has no infinity: a quotient too large for it, and x/0, is NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from vinculum import divide
    >>> divide(np.array([-11, 12], np.int32), np.array([3, 3], np.int32))
    array([-4,  4], dtype=int32)
    """
    operator = _divide(m_pythondiv, auto_broadcast, axis, zero_divisor, overflow)
    return operator(a, b, out) if where is None else operator(a, b, out, where=where)


_divide = prepared("Divide", "m_pythondiv", "auto_broadcast", "axis", "zero_divisor", "overflow")
