"""Exact divisions in PyTorch: an operator for `torch.compile`, export, vmap and autograd, and a mode for PyTorch's own.

`vinculum.div`, `vinculum.reciprocal` and `vinculum.divide` of tensors that PyTorch traces, maps or differentiates are
calls of the operator ``torch.ops.vinculum.div``. Import this module before `torch.compile` is called.

The gradient is the usual derivative of a/b, computed by exact divisions, products and sums of the element type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from vinculum.errors import ElementTypeError, SpecLookupError
from vinculum.ops.flooring import remainder
from vinculum.ops.onnx import div, reciprocal
from vinculum.ops.openvino import divide as openvino_divide
from vinculum.ops.policies import Overflow, Policies, ZeroDivisor
from vinculum.spec.element_types import ElementType, by_numpy_name
from vinculum.spec.model import Broadcasting, Dialect, IntegerRounding
from vinculum.tensors import storage
from vinculum.tensors.libraries import element_type_name
from vinculum.tensors.type_checking import check_element_types

if TYPE_CHECKING:
    from vinculum.ops.operator import Operator
    from vinculum.tensors.shapes import SymbolicShape

__all__ = ["exact", "onnx_translations"]


@torch.library.custom_op("vinculum::div", mutates_args=(), device_types="cpu")
def _div(a: Tensor, b: Tensor, floor: bool, zero_divisor: str, overflow: str) -> Tensor:
    """Divide tensors of one type; integers are truncated or floored."""
    policies: Any = {"zero_divisor": zero_divisor, "overflow": overflow}
    quotients: Any = (openvino_divide if floor else div)(a.detach(), b.detach(), **policies)
    return quotients.contiguous()


@_div.register_fake
def _(a: Tensor, b: Tensor, floor: bool, zero_divisor: str, overflow: str) -> Tensor:
    return a.new_empty(torch.broadcast_shapes(a.shape, b.shape))


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    a, b, *_ = inputs
    ctx.shapes = a.shape, b.shape
    ctx.save_for_backward(b, output)


def _backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
    b, quotient = ctx.saved_tensors
    of_a = _called(gradient, b, False, "raise", "wrap")
    of_b = -of_a * quotient
    shape_a, shape_b = ctx.shapes
    return of_a.sum_to_size(shape_a), of_b.sum_to_size(shape_b), None, None, None


_div.register_autograd(_backward, setup_context=_keep)


@_div.register_vmap
def _(info: Any, dims: tuple[int | None, ...], a: Tensor, b: Tensor, *options: Any) -> tuple[Tensor, int]:
    ranks = [x.dim() - (d is not None) for x, d in zip((a, b), dims, strict=False)]
    laid = []
    for x, d, rank in zip((a, b), dims, ranks, strict=False):
        missing = max(ranks) - rank
        first = x.unsqueeze(0) if d is None else x.movedim(d, 0)
        laid.append(first.reshape(first.shape[:1] + (1,) * missing + first.shape[1:]))
    return _div(*laid, *options), 0


class _Div(torch.autograd.Function):
    """The operator for `torch.func.grad` and the like, which ignore gradients registered with an operator."""

    generate_vmap_rule = True
    forward = staticmethod(_div)
    setup_context = staticmethod(_keep)
    backward = staticmethod(_backward)


def _called(a: Tensor, b: Tensor, *options: Any) -> Any:
    wrapped = any(map(torch._C._functorch.is_functorch_wrapped_tensor, (a, b)))
    return _Div.apply(a, b, *options) if wrapped else _div(a, b, *options)


for _function in (div, reciprocal, openvino_divide):
    torch.compiler.allow_in_graph(_function)


def as_operand(value: object, name: str) -> Any:
    """Return an operand as a tensor."""
    if isinstance(value, Tensor):
        return value
    array = storage.as_operand(value, name)
    # In the modes of fake tensors, only tensors made of Python numbers are fake too.
    return torch.tensor(array.tolist(), dtype=getattr(torch, array.dtype.name))


def element_type_of(operand: Any, name: str) -> ElementType:
    """Return a tensor's element type; ElementTypeError if no operator divides it."""
    try:
        return by_numpy_name(element_type_name(operand.dtype))
    except SpecLookupError:
        raise ElementTypeError(f"{name} has type {operand.dtype}, which no operator divides") from None


def shape_of(operand: Any) -> SymbolicShape:
    """Return a tensor's shape."""
    return tuple(operand.shape)


def divide(operator: Operator, operands: Sequence[Any], out: object) -> Any:
    """Return the quotients of tensors by the operator registered with PyTorch."""
    spec, names = operator.spec, operator.spec.operand_names
    if out is not None:
        raise ElementTypeError("out is given with tensors that PyTorch traces, maps or differentiates; leave it away")
    check_element_types(spec, tuple(map(element_type_of, operands, names)))
    binary = len(names) == 2
    if spec.dialect is Dialect.SONNX or (
        binary and spec.broadcasting_rule(operator.attributes) is not Broadcasting.MULTIDIRECTIONAL
    ):
        raise ElementTypeError(
            f"{spec.title} does not broadcast as PyTorch does, and takes no tensors that PyTorch traces, maps or "
            "differentiates; use vinculum.div without an opset"
        )
    divisor = operands[-1]
    dividend = operands[0] if binary else torch.ones((), dtype=divisor.dtype)
    floor = bool(spec.integer_rounding) and spec.rounding(operator.attributes) is IntegerRounding.FLOOR
    policies = operator.policies
    return _called(dividend, divisor, floor, policies.zero_divisor, policies.overflow)


class exact(TorchDispatchMode):  # noqa: N801  # a context manager, as torch.no_grad is
    """Divide integer tensors exactly in a block, in other libraries' code too.

    For tensors in CPU memory whose common type is an integer's, these are computed here: `torch.div` with a
    ``rounding_mode``, `torch.floor_divide` and ``//``, `torch.remainder` and ``%``, and `torch.fmod`, in place, with
    ``out`` and with Python numbers too. PyTorch's own functions end the process at MIN/-1. Everything else is left to
    PyTorch, as are divisions in other threads.

    Parameters
    ----------
    zero_divisor : {"raise", "zero", "saturate"}
        What x/0 gives, as in `vinculum.div`; remainders by 0 are 0 under the last two.
    overflow : {"wrap", "raise", "saturate"}
        What MIN/-1 gives. Its remainder is 0.

    Raises
    ------
    AttributeValueError
        If a policy is none of these.
    DivisionByZeroError, IntegerOverflowError
        In the block, as the policies say.

    Examples
    --------
    >>> with vinculum.torch.exact(overflow="saturate"):  # doctest: +SKIP
    ...     torch.div(torch.tensor([-(2**63), 7]), torch.tensor([-1, 2]), rounding_mode="trunc")
    tensor([9223372036854775807,                   3])
    """

    def __init__(self, *, zero_divisor: ZeroDivisor = "raise", overflow: Overflow = "wrap") -> None:
        super().__init__()
        self._policies = asdict(Policies(zero_divisor, overflow))

    def __torch_dispatch__(
        self, function: Any, types: Any, arguments: tuple[Any, ...] = (), keywords: dict[str, Any] | None = None
    ) -> Any:
        """Compute divisions of integers exactly; leave other functions to PyTorch."""
        keywords = keywords or {}
        compute = _COMPUTED.get((function.overloadpacket, keywords.get("rounding_mode")))
        if compute is None:
            return function(*arguments, **keywords)
        a, b = arguments[:2]
        common = torch.result_type(a, b)
        target = keywords.get("out", a) if function._schema.is_mutable else None
        if not _are_integers(common, a, b) or (target is not None and not torch.can_cast(common, target.dtype)):
            return function(*arguments, **keywords)
        dividend, divisor = (x.to(common) if isinstance(x, Tensor) else _wrapped(x, common) for x in (a, b))
        results = compute(dividend, divisor, **self._policies)
        if target is None:
            return results
        if target is not a:
            target.resize_(results.shape)
        return target.copy_(results)


def _are_integers(common: torch.dtype, *operands: Any) -> bool:
    """Tell whether operands are integers by their common type, and all tensors dense and in CPU memory."""
    tensors = [x for x in operands if isinstance(x, Tensor)]
    counts = not (common.is_floating_point or common.is_complex or common is torch.bool)
    return counts and all(x.device.type == "cpu" and x.layout is torch.strided for x in tensors)


def _wrapped(number: int, dtype: torch.dtype) -> Tensor:
    """Return a Python integer as a tensor, wrapped to the element type as PyTorch does beside a tensor."""
    limits = torch.iinfo(dtype)
    return torch.tensor((number - limits.min) % 2**limits.bits + limits.min, dtype=dtype)


def _floor_remainders(a: Tensor, b: Tensor, *, zero_divisor: ZeroDivisor, overflow: Overflow) -> Any:
    return remainder(a, b, zero_divisor="raise" if zero_divisor == "raise" else "zero")


def _remainders(a: Tensor, b: Tensor, **policies: Any) -> Any:
    """Return C's remainders, which have the dividend's sign."""
    floored = _floor_remainders(a, b, **policies)
    if torch.iinfo(a.dtype).min == 0:
        return floored
    # A floor remainder has the divisor's sign, a truncated one the dividend's.
    other = (floored != 0) & ((floored < 0) != (a < 0))
    return torch.where(other, floored - b, floored)


_COMPUTED: dict[Any, Callable[..., Any]] = {
    (getattr(torch.ops.aten, name + suffix), rounding_mode): compute
    for name, rounding_mode, compute in (
        ("div", "trunc", div),
        ("div", "floor", openvino_divide),
        ("floor_divide", None, openvino_divide),
        ("remainder", None, _floor_remainders),
        ("fmod", None, _remainders),
    )
    for suffix in ("", "_")
}
"""What `exact` calls for an operator of PyTorch and its rounding mode."""


def onnx_translations() -> dict[Any, Callable[..., Any]]:
    """Return the table with which PyTorch's exporter writes exact divisions.

    Returns
    -------
    dict
        For ``torch.onnx.export(..., dynamo=True, custom_translation_table=vinculum.torch.onnx_translations())``. A
        division of floats becomes Div. One of integers becomes a Div whose operands are never MIN/-1, and never x/0
        unless ``zero_divisor="raise"``: no ONNX operator raises, so x/0 is the runtime's own there.

    Raises
    ------
    ImportError
        If the package onnxscript is not installed, which the exporter needs too.
    """
    return {torch.ops.vinculum.div.default: _translated}


def _translated(a: Any, b: Any, floor: bool, zero_divisor: str, overflow: str) -> Any:
    from onnxscript import opset18 as op

    name = a.dtype.name.lower()
    if not name.startswith(("int", "uint")):
        return op.Div(a, b)
    limits = torch.iinfo(getattr(torch, name))
    element_type = a
    if limits.bits < 32:  # Not every runtime has each of these operators for the short types.
        a, b = (op.Cast(x, to=6) for x in (a, b))  # int32

    def number(value: int) -> Any:
        return op.CastLike(op.Constant(value_int=value), a)

    zero, one = number(0), number(1)
    safe = b
    if zero_divisor != "raise":
        by_zero = op.Equal(b, zero)
        safe = op.Where(by_zero, one, b)
    if limits.min < 0:
        overflows = op.And(op.Equal(a, number(limits.min)), op.Equal(safe, number(-1)))
        safe = op.Where(overflows, one, safe)
    quotient = op.Div(a, safe)
    if floor and limits.min < 0:
        rest = op.Sub(a, op.Mul(quotient, safe))
        below = op.And(op.Not(op.Equal(rest, zero)), op.Xor(op.Less(rest, zero), op.Less(safe, zero)))
        quotient = op.Sub(quotient, op.Where(below, one, zero))
    if overflow == "saturate" and limits.min < 0:
        quotient = op.Where(overflows, number(limits.max), quotient)
    if zero_divisor == "zero":
        quotient = op.Where(by_zero, zero, quotient)
    elif zero_divisor == "saturate":
        signed = op.Where(op.Less(a, zero), number(limits.min), number(min(limits.max, 2**63 - 1)))
        quotient = op.Where(by_zero, op.Where(op.Equal(a, zero), zero, signed), quotient)
    return quotient if limits.bits >= 32 else op.CastLike(quotient, element_type)
