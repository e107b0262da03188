"""Operators other than Div that broadcast B onto A only, and only when told, below operator set 7.

Each rule is as `changed_meanings` says.
"""

from __future__ import annotations

from onnx import NodeProto, TensorProto

from vinculum.models.convert.opset.legacy_broadcasting import legacy_form, trailing_ones
from vinculum.models.convert.opset.node_step import Step
from vinculum.models.convert.opset.operands import Operand
from vinculum.models.execution import Shape

_FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE)
_CONCAT_OF_ANYTHING = 4


def onto_run(step: Step) -> list[NodeProto]:
    """Lay B where `axis` puts it by dimensions of size 1 at its end; below operator set 7 the other way round."""
    a, b = (Operand(n, v, step.types, step.constants) for n, v in zip("AB", step.node.input, strict=True))
    if step.up:
        axis = step.value("axis") if step.value("broadcast") == 1 else None
        step.drop("axis", "broadcast", "consumed_inputs")
        if axis is not None and not _is_one(b.shape):
            if a.shape is None or b.shape is None:
                raise ValueError(f"with axis={axis} it needs the ranks of A and B; declare them")
            b.append_ones(trailing_ones(len(a.shape), len(b.shape), axis), step.rewriter)
        step.set_operands([a.emit(step.rewriter), b.emit(step.rewriter)])
        return [step.node]
    form = None if a.shape is None or b.shape is None else legacy_form(a.shape, b.shape)
    if form is None or a.shape is None or b.shape is None:
        raise ValueError(f"{step.title(step.target)} has to be told how B is broadcast; declare the shapes of A and B")
    for operand, axes in ((a, form.stretch_a), (b, form.stretch_b)):
        sizes = [form.shape[d] if d in axes else 1 for d in range(len(form.shape))]
        known = [size for size in sizes if isinstance(size, int)]
        if len(known) < len(sizes):
            raise ValueError(f"how often {operand.name} has to be repeated is not known; declare the shapes")
        if axes and step.opset < _CONCAT_OF_ANYTHING and step.element_type(step.node.input[0]) not in _FLOATS:
            raise ValueError(f"{operand.name} has to be repeated, and there is no Concat of its element type")
        if axes or operand is a:
            operand.prepend_ones(len(form.shape) - len(operand.shape or ()), step.rewriter)
            operand.tile(known, step.rewriter, step.opset)
    b.drop_ones(form.squeeze_b, step.rewriter)
    step.set_operands([a.emit(step.rewriter), b.emit(step.rewriter)])
    for name, value in form.attributes.items():
        step.give(name, value)
    return [step.node]


def gemm_7(step: Step) -> list[NodeProto]:
    """Say whether C is broadcast onto the product below operator set 7."""
    if step.up:
        step.drop("broadcast")
        return [step.node]
    product, c = step.shape(step.node.output[0]), step.shape(step.operand(2))
    if product is None or c is None or None in product or None in c:
        raise ValueError(f"{step.title(step.target)} has to be told how C is broadcast; declare the shapes of C and Y")
    form = legacy_form(product, c)
    if form is None or form.squeeze_b or form.stretch_b or "axis" in form.attributes:
        raise ValueError(f"{step.title(step.target)} does not broadcast a C of that shape")
    if form.attributes:
        step.give("broadcast", 1)
    return [step.node]


def prelu_7(step: Step) -> list[NodeProto] | None:
    """Lay slopes along the channels, dimension 1, by dimensions of size 1 at their end; below as they are."""
    x, slope = step.shape(step.operand(0)), step.shape(step.operand(1))
    if _is_one(slope) or (x is not None and slope is not None and x == slope and len(x) == 1):
        return None
    if x is None or slope is None:
        raise ValueError("the versions lay slopes along different dimensions; declare the shapes of X and slope")
    operand = Operand("slope", step.operand(1), step.types, step.constants)
    if step.up:
        if len(slope) != 1 or len(x) < 2:
            raise ValueError(f"{step.title(step.source)} does not say where slopes of that shape lie")
        operand.append_ones(len(x) - 2, step.rewriter)
    else:
        if len(x) < 2 or len(slope) != len(x) - 1 or any(size != 1 for size in slope[1:]):
            raise ValueError(f"{step.title(step.target)} has slopes for channels only")
        operand.drop_ones(range(1, len(slope)), step.rewriter)
    step.set_operands([step.operand(0), operand.emit(step.rewriter)])
    return None


def _is_one(shape: Shape | None) -> bool:
    """Return whether a shape is known to be that of one element."""
    return shape is not None and all(size == 1 for size in shape)
