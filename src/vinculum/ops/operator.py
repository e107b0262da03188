"""An operator version that is prepared once and called many times; every division goes through it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, overload

import numpy as np
import numpy.typing as npt

from vinculum.errors import AttributeValueError, BroadcastError, ElementTypeError
from vinculum.kernels import backend
from vinculum.kernels.contract import Arithmetic, Exceptions
from vinculum.ops.array_backends import backend_of
from vinculum.ops.policies import Overflow, Policies, ZeroDivisor, raise_exceptions
from vinculum.reference.exact_quotient import rational_quotient
from vinculum.spec.attributes import checked_attributes
from vinculum.spec.element_types import REAL, ElementType
from vinculum.spec.model import AttributeValue, Broadcasting, Dialect, IntegerRounding, OperatorSpec
from vinculum.spec.rows import find
from vinculum.tensors.broadcasting import Alignment, join
from vinculum.tensors.inference import infer
from vinculum.tensors.libraries import in_library_of
from vinculum.tensors.scalars import with_element_types
from vinculum.tensors.shapes import LARGEST_SIZE, Dimension, SymbolicShape
from vinculum.tensors.storage import as_operand, checked_out, dtype_of, element_type_of, native_dtype
from vinculum.tensors.type_checking import check_element_types

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vinculum.ops.annotations import ArrayT, Elements, FloatT, IntegerT, Mask, Operand

Array = npt.NDArray[Any]

_NDARRAY = np.ndarray
_AXES_OF_EQUAL_SHAPES = {Broadcasting.LIMITED: (None, 0), Broadcasting.PDPD: (None, -1, 0)}


class Operator:
    """One operator version with fixed attributes and policies, ready to divide.

    Parameters
    ----------
    name : str
        ``"Div"``, ``"Reciprocal"`` or ``"Divide"``.
    opset : int, optional
        ONNX operator-set version; the newest if None.
    dialect : {"onnx", "openvino", "sonnx"}, optional
        Decided by the name if None; ``"Div"`` is then ONNX's.
    variant : {"real", "float", "int"}, optional
        Which of SONNX's three operators.
    axis, broadcast, consumed_inputs, m_pythondiv, auto_broadcast : optional
        The attributes that the version defines; None leaves one at its default.
    zero_divisor, overflow : str
        See `Policies`; integers only. `overflow` None is ``"wrap"``, and ``"raise"`` for SONNX, which has these two.

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
    >>> Operator("Div", opset=14)(np.array([-7, 7], np.int8), np.array([2, 2], np.int8))
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
        overflow: Overflow | None = None,
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
            # The constraints [C2] and [C3] leave the caller no choice; the document does not mention MIN/-1.
            if zero_divisor != "raise":
                raise AttributeValueError(f"zero_divisor is {zero_divisor!r}; {self._spec.title} allows 'raise' only")
            if overflow == "saturate":
                raise AttributeValueError(f"overflow is {overflow!r}; {self._spec.title} allows 'raise' and 'wrap'")
        if overflow is None:
            overflow = "raise" if self._spec.dialect is Dialect.SONNX else "wrap"
        self._policies = Policies(zero_divisor, overflow)
        self._names = self._spec.operand_names
        self._unary = len(self._names) == 1
        self._rule = Broadcasting.MULTIDIRECTIONAL if self._unary else self._spec.broadcasting_rule(self._attributes)
        rounded = bool(self._spec.integer_rounding)
        self._divide = backend().division(
            Arithmetic(
                dtypes=tuple(dtype_of(t) for t in self._spec.element_types if t is not REAL),
                reciprocal=self._unary,
                broadcasts=self._rule is Broadcasting.MULTIDIRECTIONAL,
                floor=rounded and self._spec.rounding(self._attributes) is IntegerRounding.FLOOR,
                zero_divisor=zero_divisor,
                overflow=overflow,
            )
        )
        # Kernels divide equal shapes without checking the axis; with another axis equal shapes do not fit.
        axes = _AXES_OF_EQUAL_SHAPES.get(self._rule)
        fits = axes is None or self._attributes.get("axis") in axes
        self._at_once: Callable[[Any, Any, Array | None], Any] = self._divide if fits else _not_at_once

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
        """The policies for integers: zero divisors and MIN/-1."""
        return self._policies

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the arguments that it was made from."""
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

    @overload
    def __call__(
        self, a: ArrayT, b: Operand | float | None = None, out: ArrayT | None = None, *, where: Mask = None
    ) -> ArrayT: ...
    @overload
    def __call__(self, a: Operand | float, b: ArrayT, out: ArrayT | None = None, *, where: Mask = None) -> ArrayT: ...
    @overload
    def __call__(
        self,
        a: Elements[IntegerT],
        b: Elements[IntegerT] | int | None = None,
        out: NDArray[IntegerT] | None = None,
        *,
        where: Mask = None,
    ) -> NDArray[IntegerT]: ...
    @overload
    def __call__(
        self, a: int, b: Elements[IntegerT], out: NDArray[IntegerT] | None = None, *, where: Mask = None
    ) -> NDArray[IntegerT]: ...
    @overload
    def __call__(
        self,
        a: Elements[FloatT],
        b: Elements[FloatT] | float | None = None,
        out: NDArray[FloatT] | None = None,
        *,
        where: Mask = None,
    ) -> NDArray[FloatT]: ...
    @overload
    def __call__(
        self, a: float, b: Elements[FloatT], out: NDArray[FloatT] | None = None, *, where: Mask = None
    ) -> NDArray[FloatT]: ...
    @overload
    def __call__(
        self, a: Elements[np.object_], b: Elements[np.object_] | None = None, out: NDArray[np.object_] | None = None
    ) -> NDArray[np.object_]: ...
    def __call__(self, a: Any, b: Any = None, out: Any = None, *, where: object = None) -> Any:
        """Divide.

        Parameters
        ----------
        a : array
            The dividend; for Reciprocal, the only operand.
        b : array
            The divisor, of the same element type. A Python int or float with an array takes the array's type if
            that holds it; SONNX's operators take no Python numbers.
        out : array, optional
            Where to write: of the result's element type and shape. It may be an operand.
        where : array of bool, optional
            Where to divide; elsewhere `out`, which is then required, keeps its elements, whatever the operands are
            there. In CPU memory only.

        Returns
        -------
        array
            `out` if given, else a new array of the operands' element type, in the library of the first operand that is
            not NumPy's (PyTorch, JAX, CuPy, Dask, or any with ``__array_namespace__``), else an ndarray.

        Raises
        ------
        ElementTypeError
            If an operand has no element type, or one that the version does not take.
        BroadcastError
            If the shapes do not fit by the version's rule.
        AttributeValueError
            If `where` is given without `out`, or with arrays that are not in CPU memory.
        DivisionByZeroError, IntegerOverflowError
            As the policies say; `out` may then hold partial results.
        """
        if where is not None:
            return self._masked(a, b, out, where)
        # For few elements these lines take longer than the division.
        quotients = self._at_once(a, b, out)
        if quotients.__class__ is _NDARRAY:
            return quotients
        if isinstance(quotients, Exceptions):
            self._raise(quotients, out)
        return self._checked_call(a, b, out)

    def _checked_call(self, a: object, b: object, out: Array | None) -> Array:
        """Divide operands that need preparation: view them as arrays, or raise an error that explains why not."""
        a, b = self._typed(a, b)
        backend = backend_of(a, b)
        if backend is not None:
            lazy: Array = backend.divide(self, self._operands(a, b, backend.as_operand), out)
            return lazy
        operands = self._operands(a, b, as_operand)
        given = tuple(element_type_of(x, name) for x, name in zip(operands, self._names, strict=True))
        element_type = check_element_types(self._spec, given)
        dtype = dtype_of(element_type)
        alignment = alignment_of(self, *(x.shape for x in operands))
        if prod(size for size in alignment.shape if size) * dtype.itemsize > LARGEST_SIZE:
            raise BroadcastError(f"the result's shape {alignment.shape} holds more elements than memory can address")
        result = None if out is None else checked_out(out, dtype, alignment.shape)
        quotients = self._quotients(operands, alignment, result)
        if isinstance(quotients, Exceptions):
            self._raise(quotients, out)
        if out is None or result is None:
            adopted: Array = in_library_of((a, b), quotients)
            return adopted
        if quotients is not result:
            result[...] = quotients
        return out

    def _masked(self, a: object, b: object, out: Array | None, where: object) -> Array:
        """Divide where a mask is true, and leave `out` unchanged elsewhere, whatever the operands are there."""
        if backend_of(a, b, where) is not None:
            raise AttributeValueError(
                "where masks arrays in CPU memory only; instead, divide by 1 where it is False, and replace the "
                "quotients there"
            )
        if out is None:
            raise AttributeValueError(
                "where is given without out, which keeps its elements where the mask is False; give out, such as "
                "np.zeros_like(a)"
            )
        operands = self._operands(*self._typed(a, b), as_operand)
        mask = as_operand(where, "where")
        if mask.dtype != np.bool_:
            raise ElementTypeError(f"where has type {mask.dtype}; a mask has type bool")
        alignment = alignment_of(self, *(x.shape for x in operands))
        try:
            mask = np.broadcast_to(mask, alignment.shape)
        except ValueError:
            raise BroadcastError(f"where has shape {mask.shape}, the result {alignment.shape}") from None
        target = checked_out(out, native_dtype(operands[-1].dtype), alignment.shape)
        divisor = operands[-1] if self._unary else _onto(operands[-1], alignment)
        harmless = np.where(mask, divisor, np.ones((), divisor.dtype))
        quotients = self(harmless) if self._unary else self(operands[0], harmless)
        np.copyto(target, quotients, where=mask)
        return out

    def _quotients(self, operands: tuple[Array, ...], alignment: Alignment, out: Array | None) -> Array | Exceptions:
        """Divide operands that the version takes, into `out` or a new array."""
        dividend, divisor = operands[0], None
        if not self._unary:
            divisor = _onto(operands[1], alignment)
        quotients: Array | Exceptions | None
        if divisor is not None and divisor.dtype == object:
            quotients = divide_rationals(dividend, divisor)
        else:
            quotients = self._divide(dividend, divisor, out)
        assert quotients is not None  # Everything that a kernel refuses has been checked.
        return quotients

    def _typed(self, a: object, b: object) -> tuple[object, object]:
        """Give a Python number beside an array its element type; SONNX demands that operands state theirs, [GR2]."""
        if self._unary or self._spec.dialect is Dialect.SONNX:
            return a, b
        return with_element_types(a, b, self._names)

    def _operands(self, a: object, b: object, view: Callable[[object, str], Any]) -> tuple[Any, ...]:
        given = (a,) if b is None else (a, b)
        if len(given) == len(self._names):
            return tuple(view(operand, name) for operand, name in zip(given, self._names, strict=True))
        if b is None:
            first, second = self._names
            raise ElementTypeError(f"{self._spec.title} takes two operands, {first} and {second}; {second} is None")
        raise ElementTypeError(f"{self._spec.title} takes one operand, {self._names[0]}; two given")

    def _raise(self, exceptions: Exceptions, out: Array | None) -> NoReturn:
        raise_exceptions(exceptions, self._policies, self._spec, partial=out is not None)


def alignment_of(operator: Operator, a: tuple[int, ...], b: tuple[int, ...] = ()) -> Alignment:
    """Return how the version's broadcasting rule joins operands of these shapes; BroadcastError if it does not."""
    axis = operator.attributes.get("axis")
    return join(operator._rule, a, b, axis if isinstance(axis, int) else None)


def divide_blocks(operator: Operator, *blocks: Array, out: Array | None = None) -> Array | Exceptions:
    """Divide blocks of operands aligned as `alignment_of` says, each of the result's rank and of an allowed type.

    The quotients go to `out` or a new array; it returns the exceptions instead if a policy raises.
    """
    shapes = [block.shape for block in blocks]
    return operator._quotients(blocks, join(Broadcasting.MULTIDIRECTIONAL, shapes[0], shapes[-1]), out)


def _not_at_once(a: object, b: object, out: Array | None) -> None:
    """Return None, so that the call checks the shapes."""


def _onto(divisor: Array, alignment: Alignment) -> Array:
    """View a divisor in the result's shape, as the rule aligns it, by adding and dropping dimensions of size 1."""
    kept = [1 if dimension is None else divisor.shape[dimension] for dimension in alignment.b]
    return np.broadcast_to(divisor.reshape(kept), alignment.shape)


def divide_rationals(a: Array, b: Array) -> Array | Exceptions:
    """Divide arrays of one shape, of `fractions.Fraction`, SONNX's reals; nothing if a divisor is zero."""
    zeros = [index for index in np.ndindex(b.shape) if not b.item(index)]
    if zeros:
        return Exceptions(b.size, len(zeros), zeros[0], 0, None)
    quotients = np.empty(a.shape, object)
    for index in np.ndindex(a.shape):
        quotients[index] = rational_quotient(a.item(index), b.item(index))
    return quotients


def prepared(name: str, *parameters: str) -> Callable[..., Operator]:
    """Return a function that takes the values of these parameters, and makes an operator for each set of values once.

    Values of different types are kept apart, so that ``opset=1.0`` is refused even after a call with ``opset=1``. The
    types of the elements of a sequence are not compared, so no parameter may be a sequence.
    """

    def make(*values: Any) -> Operator:
        return Operator(name, **dict(zip(parameters, values, strict=True)))

    kept = lru_cache(maxsize=256, typed=True)(make)

    def get(*values: object) -> Operator:
        try:
            return kept(*values)
        except TypeError:  # A list, say, cannot be looked up; Operator refuses it if it is not allowed.
            return make(*values)

    return get
