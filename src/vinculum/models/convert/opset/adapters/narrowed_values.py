"""Values of attributes and operands that two versions of an operator understand differently, or one not at all.

Each rule is as `table` says.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

from onnx import NodeProto, TensorProto

from vinculum.models.convert.opset.adapters.adaptation import Adaptation

_INTEGERS = tuple(TensorProto.DataType.Value(f"{sign}INT{bits}") for sign in ("U", "") for bits in (8, 16, 32, 64))
_INFINITY_BECAME_LARGEST = (TensorProto.FLOAT8E4M3FNUZ, TensorProto.FLOAT8E5M2FNUZ)


def sizes_above_zero(step: Adaptation) -> None:
    """Drop allowzero=1 below operator set 14 where it changes nothing: the shape is constant and holds no 0."""
    shape = step.constant(step.operand(1))
    if not step.up and step.value("allowzero") and shape is not None and shape.all():
        step.drop("allowzero")


def refused(reason: str) -> Callable[[Adaptation], None]:
    """Return the rule that two versions have nothing in common."""

    def rule(step: Adaptation) -> None:
        raise ValueError(reason)

    return rule


def without_values(attribute: str, *values: str) -> Callable[[Adaptation], None]:
    """Return the rule that the older version lacks values of an attribute."""

    def rule(step: Adaptation) -> None:
        value = step.value(attribute)
        if isinstance(value, bytes) and value.decode() in values and not step.up:
            raise ValueError(f"{step.title(step.target)} has no {attribute}={value.decode()!r}")

    return rule


def in_old_words(step: Adaptation) -> list[NodeProto]:
    """Give what the node leaves to a default that the versions do not share; drop the hint."""
    for name in sorted(step.source.attributes.keys() & step.target.attributes.keys()):
        if not step.given(name) and step.value(name) is not None:
            step.give(name, step.value(name))
    step.drop("consumed_inputs")
    return [step.node]


def with_default(name: str, value: object) -> Callable[[Adaptation], None]:
    """Return the rule that one of the versions needs an attribute that the other may leave out."""

    def rule(step: Adaptation) -> None:
        attribute = step.target.attributes.get(name)
        if attribute is not None and attribute.required and not step.given(name):
            step.give(name, value)

    return rule


def grid_sample_20(step: Adaptation) -> list[NodeProto] | None:
    """Call the modes as operator set 20 does."""
    if not step.up:
        return None
    mode = step.value("mode")
    if step.given("mode") and mode in (b"bilinear", b"bicubic"):
        step.give("mode", mode.decode().removeprefix("bi"))
    return [step.node]


def same_shapes(step: Adaptation) -> None:
    """Refuse to broadcast below operator set 8."""
    shapes = [step.shape(name) for name in step.node.input]
    known = all(shape is not None and None not in shape for shape in shapes)
    if not step.up and not (known and len(set(shapes)) == 1) and len(shapes) > 1:
        raise ValueError(f"{step.title(step.target)} does not broadcast, and the shapes are not known to be equal")


def scalar_scale(step: Adaptation) -> None:
    """Refuse scales along an axis below operator set 13."""
    if not step.up:
        if step.rank(step.operand(1)) != 0:
            raise ValueError(f"{step.title(step.target)} takes a scalar scale, and it is not known to be one")
        step.drop("axis")


def roi_align_16(step: Adaptation) -> list[NodeProto]:
    """Write the coordinates that RoiAlign had before it had an attribute for them."""
    name, old = "coordinate_transformation_mode", "output_half_pixel"
    if step.up:
        step.give(name, old)
    elif step.value(name) != old.encode():
        raise ValueError(f"{step.title(step.target)} has no {name} but {old}")
    else:
        step.drop(name)
    return [step.node]


def given_pads(step: Adaptation) -> None:
    """Refuse a ConvTranspose that computes its pads: the versions put an odd one on different sides."""
    if step.given("output_shape") or step.value("auto_pad") in (b"SAME_UPPER", b"SAME_LOWER"):
        raise ValueError("the versions pad on different sides where pads are not given; give them")


def windows_in_data(step: Adaptation) -> None:
    """Refuse windows that begin in the padding at the end: only from operator set 22 on they are left out."""
    if not step.value("ceil_mode") or step.value("auto_pad") != b"NOTSET":
        return
    shape, kernel = step.shape(step.operand(0)), step.value("kernel_shape")
    n = len(kernel)
    strides, pads = step.value("strides") or [1] * n, step.value("pads") or [0] * (2 * n)
    dilations = step.value("dilations") or [1] * n
    for d, size in enumerate(shape[2:] if shape is not None else [None] * n):
        if not isinstance(size, int):
            raise ValueError("with ceil_mode=1 it needs the sizes of its input; declare them")
        extent = (kernel[d] - 1) * dilations[d] + 1
        last = ceil((size + pads[d] + pads[n + d] - extent) / strides[d]) * strides[d]
        if last >= size + pads[d]:
            raise ValueError("its last window begins in the padding, and only one version leaves it out")


def integer_modulo(step: Adaptation) -> None:
    """Refuse the floored remainder of floats below operator set 28."""
    element_type = step.element_type(step.operand(0)) or step.element_type(step.operand(1))
    if not step.up and not step.value("fmod") and element_type not in _INTEGERS:
        raise ValueError(f"{step.title(step.target)} has no fmod=0 for floats, and its operands are or may be floats")


def finite_to_float8(step: Adaptation) -> None:
    """Refuse casts in which an infinity becomes NaN below operator set 24, and the largest number from there on."""
    to = step.value("to") if step.node.op_type == "Cast" else step.element_type(step.operand(1))
    if to in _INFINITY_BECAME_LARGEST and step.value("saturate"):
        raise ValueError("the versions cast infinities to its element type differently")
