"""An operator version prepared once and called many times: the one pipeline that every division takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from math import prod
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from vinculum.errors import AttributeValueError, BroadcastError, ElementTypeError
from vinculum.kernels.attempts import DONE, PLAIN, REFUSED
from vinculum.ops.dispatch import Division, division
from vinculum.ops.native import NativeDivision
from vinculum.ops.policies import Overflow, Policies, ZeroDivisor
from vinculum.spec.attributes import checked_attributes
from vinculum.spec.element_types import REAL, ElementType
from vinculum.spec.model import AttributeValue, Broadcasting, Dialect, IntegerRounding, OperatorSpec
from vinculum.spec.registry import find
from vinculum.tensors.broadcasting import Shape, join
from vinculum.tensors.inference import infer
from vinculum.tensors.shapes import LARGEST_SIZE, Dimension, SymbolicShape
from vinculum.tensors.storage import (
    as_operand,
    check_out,
    check_out_layout,
    clashes,
    dtype_of,
    element_type_of,
    native_dtype,
)
from vinculum.tensors.type_checking import check_element_types
from vinculum.tensors.walk import Strides, Walk, plan

Array = npt.NDArray[Any]
# Divides operands to a result if they are few and plain; tells how it went.
Attempt = Callable[[object, object, object], int]


def refuse(a: object, b: object, out: object) -> int:
    """Leave every division to the general way."""
    return REFUSED


class Operator:
    """One operator version with its attributes and policies, which do not change any more, ready to divide.

    Parameters
    ----------
    name : str
        ``"Div"``, ``"Reciprocal"`` or ``"Divide"``.
    opset : int, optional
        ONNX operator-set version; the newest if None.
    dialect : {"onnx", "openvino", "sonnx"}, optional
        By the name if None; ``"Div"`` is then ONNX's.
    variant : {"real", "float", "int"}, optional
        Which of SONNX's three operators.
    axis, broadcast, consumed_inputs, m_pythondiv, auto_broadcast : optional
        The attributes that the version defines; None leaves one at its default.
    zero_divisor, overflow : str
        See `Policies`; integers only.

    Raises
    ------
    SpecLookupError
        If there is no such operator or version.
    AttributeValueError
        If the version lacks the attribute, or an attribute or policy lacks the value.

    Examples
    --------
    >>> import numpy as np
    >>> from vinculum import Operator
    >>> Operator("Div", opset=14)(np.int8([-7, 7]), np.int8([2, 2]))
    array([-3,  3], dtype=int8)
    """

    def __init__(
        self,
        name: str,
        *,
        opset: int | None = None,
        dialect: str | None = None,
        variant: str | None = None,
        axis: int | None = None,
        broadcast: int | None = None,
        consumed_inputs: Sequence[int] | None = None,
        m_pythondiv: bool | None = None,
        auto_broadcast: str | None = None,
        zero_divisor: ZeroDivisor = "raise",
        overflow: Overflow = "wrap",
    ) -> None:
        self._spec = find(name, opset=opset, dialect=dialect, variant=variant)
        given = {
            "axis": axis,
            "broadcast": broadcast,
            "consumed_inputs": consumed_inputs,
            "m_pythondiv": m_pythondiv,
            "auto_broadcast": auto_broadcast,
        }
        self._attributes = MappingProxyType(checked_attributes(self._spec, given))
        if self._spec.dialect is Dialect.SONNX:
            # [C2], [C3] and [V1] are constraints of the operator, not a choice of the caller's.
            if zero_divisor != "raise":
                raise AttributeValueError(f"zero_divisor is {zero_divisor!r}; {self._spec.title} allows 'raise' only")
            if overflow == "saturate":
                raise AttributeValueError(f"overflow is {overflow!r}; {self._spec.title} allows 'raise' only")
            overflow = "raise"
        self._policies = Policies(zero_divisor, overflow)
        # A reciprocal is a division whose dividend, 1, is repeated for every divisor.
        self._unary = len(self._spec.inputs) == 1
        self._rule = Broadcasting.MULTIDIRECTIONAL if self._unary else self._spec.broadcasting_rule(self._attributes)
        self._rounding = (
            self._spec.rounding(self._attributes) if self._spec.integer_rounding else IntegerRounding.TRUNCATING
        )
        # Per operator, so that a call looks one small key up instead of hashing the operator as well.
        self._plan = lru_cache(maxsize=1024)(self._new_plan)
        self._divisions: dict[np.dtype[Any], tuple[Division, Attempt]] = {}
        # The attempt of the element type that was divided last.
        self._attempt: Attempt = refuse

    @property
    def spec(self) -> OperatorSpec:
        """The specification row of the operator version."""
        return self._spec

    @property
    def attributes(self) -> Mapping[str, AttributeValue]:
        """The attributes that were given, by the names that the version declares."""
        return self._attributes

    @property
    def policies(self) -> Policies:
        """What integer zero divisors and MIN/-1 give."""
        return self._policies

    def __reduce__(self) -> tuple[object, ...]:
        """Travel to another process as what it was made from."""
        spec, numbered = self._spec, self._spec.dialect is not Dialect.SONNX
        arguments: dict[str, Any] = {
            "opset": spec.since_version if numbered else None,
            "dialect": spec.dialect.value,
            "variant": spec.variant,
            "zero_divisor": self._policies.zero_divisor,
            "overflow": self._policies.overflow,
            **self._attributes,
        }
        return partial(Operator, spec.name, **arguments), ()

    def __repr__(self) -> str:
        attributes = "".join(f", {name}={value!r}" for name, value in self._attributes.items())
        return f"<{self._spec.title}{attributes}>"

    def infer(
        self, element_types: Sequence[ElementType | str], shapes: Sequence[Sequence[Dimension] | None]
    ) -> tuple[ElementType, SymbolicShape | None]:
        """Return the element type and shape of the result; see `vinculum.tensors.inference.infer`."""
        return infer(self._spec, self._attributes, element_types, shapes)

    def __call__(self, a: object, b: object = None, out: Array | None = None) -> Array:
        """Divide.

        Parameters
        ----------
        a : array
            The dividend; of Reciprocal, the one operand.
        b : array
            The divisor, of the same element type.
        out : ndarray, optional
            Where to write: of the result's element type and shape. It may be an operand.

        Returns
        -------
        ndarray
            `out` if given, else a new array of the operands' element type.

        Raises
        ------
        ElementTypeError
            If an operand has no element type, or one that the version does not take.
        BroadcastError
            If the shapes do not fit by the version's rule.
        DivisionByZeroError, IntegerOverflowError
            By the policies; `out` may then hold partial results.
        """
        # A call on few elements costs what happens here, not what is divided.
        result = out
        if out is None and type(a) is np.ndarray and a.flags.c_contiguous:
            # One number may be divided by many.
            result = np.empty(a.shape or (b.shape if type(b) is np.ndarray and b.flags.c_contiguous else ()), a.dtype)
        attempted = self._attempt(a, b, result)
        if attempted == DONE:
            return result  # type: ignore[return-value]  # only an array is ever done
        if attempted == PLAIN:
            return self._plain_call(a, b, result, partial=out is not None)  # type: ignore[arg-type]  # likewise
        del result  # the general way allocates its own
        return self._general_call(a, b, out)

    def _plain_call(self, a: Array, b: Array, result: Array, partial: bool) -> Array:
        dtype = a.dtype
        dividend, divisor = (_one(dtype), a) if self._unary else (a, b)
        divide, _ = self._divisions[dtype]
        layouts = dividend.shape, dividend.strides, divisor.shape, divisor.strides, result.shape, result.strides
        self._divide(divide, dividend, divisor, result, self._plan(*layouts, dtype.itemsize), partial)
        return result

    def _general_call(self, a: object, b: object, out: Array | None) -> Array:
        dividend, divisor = self._operands(a, b)
        dtype = native_dtype(dividend.dtype)
        known = self._divisions.get(dtype) if dtype == native_dtype(divisor.dtype) else None
        divide, self._attempt = known or self._checked_division(dividend, divisor)
        layouts = dividend.shape, dividend.strides, divisor.shape, divisor.strides
        if out is None:
            walk = self._plan(*layouts, None, None, dtype.itemsize)
            result = walk.new_result(dtype)
            self._divide(divide, dividend, divisor, result, walk, partial=False)
            return result
        check_out(out, dtype)
        walk = self._plan(*layouts, out.shape, out.strides, dtype.itemsize)
        if not (clashes(out, dividend) or clashes(out, divisor)):
            self._divide(divide, dividend, divisor, np.asarray(out), walk, partial=True)
            return out
        result = walk.new_result(dtype)
        walk = self._plan(*layouts, result.shape, result.strides, dtype.itemsize)
        self._divide(divide, dividend, divisor, result, walk, partial=False)
        out[...] = result
        return out

    def _divide(
        self, divide: Division, dividend: Array, divisor: Array, result: Array, walk: Walk, partial: bool
    ) -> None:
        if not result.size:
            return
        exceptional = divide(dividend, divisor, result, walk)
        if exceptional is not None:
            exceptional.raise_by(self._policies, self._spec, result.size, partial=partial)

    def _operands(self, a: object, b: object) -> tuple[Array, Array]:
        names = self._spec.inputs
        if len(names) == 2:
            if b is None:
                raise ElementTypeError(
                    f"{self._spec.title} takes two operands, {names[0].name} and {names[1].name}; one given"
                )
            return as_operand(a, names[0].name), as_operand(b, names[1].name)
        if b is not None:
            raise ElementTypeError(f"{self._spec.title} takes one operand, {names[0].name}; two given")
        divisor = as_operand(a, names[0].name)
        return _one(divisor.dtype), divisor

    def _checked_division(self, dividend: Array, divisor: Array) -> tuple[Division, Attempt]:
        names = self._spec.inputs
        operands = (dividend, divisor)[-len(names) :]
        given = tuple(element_type_of(x, n.name) for x, n in zip(operands, names, strict=True))
        element_type = check_element_types(self._spec, given)
        divide = division(element_type, self._rounding, self._policies)
        if element_type is REAL:  # the elements of an object array are looked at in every call
            return divide, refuse
        dtype = dtype_of(element_type)
        found = divide, self._new_attempt(divide, dtype) if isinstance(divide, NativeDivision) else refuse
        self._divisions[dtype] = found
        return found

    def _new_attempt(self, divide: NativeDivision, dtype: np.dtype[Any]) -> Attempt:
        attempt = divide.attempt(dtype, repeats=self._rule is Broadcasting.MULTIDIRECTIONAL)
        if not self._unary:
            return attempt
        one = _one(dtype)
        return lambda a, b, out: attempt(one, a, out) if b is None else REFUSED

    def _new_plan(
        self,
        a: Shape,
        a_strides: Strides,
        b: Shape,
        b_strides: Strides,
        out: Shape | None,
        out_strides: Strides | None,
        item_size: int,
    ) -> Walk:
        axis = self._attributes.get("axis")
        alignment = join(self._rule, a, b, axis if isinstance(axis, int) else None)
        if prod(size for size in alignment.shape if size) * item_size > LARGEST_SIZE:
            raise BroadcastError(f"the result's shape {alignment.shape} holds more elements than memory can address")
        if out is not None and out_strides is not None:
            check_out_layout(out, out_strides, alignment.shape, item_size)
        return plan(alignment, a_strides, b_strides, out_strides, item_size)


def prepared(make: Callable[..., Operator]) -> Callable[..., Operator]:
    """Keep the operators that `make` returns, by its arguments.

    Arguments of different type are kept apart, so that ``opset=1.0`` is refused after ``opset=1`` as it is before.
    """
    kept = lru_cache(maxsize=256, typed=True)(make)

    def get(*arguments: object) -> Operator:
        try:
            return kept(*arguments)
        except TypeError:  # a list, say, cannot be looked up; Operator tells whether it is allowed
            return make(*arguments)

    return get


@lru_cache(maxsize=64)
def _one(dtype: np.dtype[Any]) -> Array:
    """Return the dividend of a reciprocal."""
    return np.ones((), dtype)
