"""Version adapters for attributes and operands whose meaning differs between versions, or that one version lacks.

`table` describes the adapters' interface. Dropout and BatchNormalization express training mode differently in each
version, so only inference can be converted.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

import numpy as np
from onnx import NodeProto, TensorProto, helper

from vinculum.models.convert.opset.adaptation import Adaptation
from vinculum.models.convert.opset.operator_versions import default_of, version_title

_INTEGERS = tuple(TensorProto.DataType.Value(f"{sign}INT{bits}") for sign in ("U", "") for bits in (8, 16, 32, 64))
_INFINITY_BECAME_LARGEST = (TensorProto.FLOAT8E4M3FNUZ, TensorProto.FLOAT8E5M2FNUZ)
_AXES = ("axis", "axes", "scan_input_axes", "scan_output_axes")


def sizes_above_zero(step: Adaptation) -> None:
    """Drop allowzero=1 below operator set 14 where it changes nothing: the shape is constant and holds no 0."""
    shape = step.constant(step.operand(1))
    if not step.up and step.value("allowzero") and shape is not None and shape.all():
        step.drop("allowzero")


def refused(reason: str) -> Callable[[Adaptation], None]:
    """Return an adapter that refuses every node, for versions that have nothing in common."""

    def rule(step: Adaptation) -> None:
        raise ValueError(reason)

    return rule


def without_values(attribute: str, *values: str) -> Callable[[Adaptation], None]:
    """Return an adapter that refuses values of an attribute that the older version lacks."""

    def rule(step: Adaptation) -> None:
        value = step.value(attribute)
        if not step.up and value in map(str.encode, values):
            raise ValueError(f"{version_title(step.target)} has no {attribute}={value.decode()!r}")

    return rule


def explicit_defaults(step: Adaptation) -> list[NodeProto]:
    """Write defaults as explicit attributes, since the versions' defaults differ; drop ``consumed_inputs``."""
    for name in sorted(step.source.attributes.keys() & step.target.attributes.keys()):
        if not step.given(name) and step.value(name) is not None:
            step.give(name, step.value(name))
    step.drop("consumed_inputs")
    return [step.node]


def with_default(name: str, value: object) -> Callable[[Adaptation], None]:
    """Return an adapter that adds an attribute that the target version requires and the source has as optional."""

    def rule(step: Adaptation) -> None:
        attribute = step.target.attributes.get(name)
        if attribute is not None and attribute.required and not step.given(name):
            step.give(name, value)

    return rule


def grid_sample_20(step: Adaptation) -> list[NodeProto] | None:
    """Use the mode names of operator set 20."""
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
        raise ValueError(f"{version_title(step.target)} does not broadcast, and the shapes are not known to be equal")


def scalar_scale(step: Adaptation) -> None:
    """Refuse a scale per axis below operator set 13."""
    if not step.up:
        if step.rank(step.operand(1)) != 0:
            raise ValueError(f"{version_title(step.target)} takes a scalar scale, and it is not known to be one")
        step.drop("axis")


def roi_align_16(step: Adaptation) -> list[NodeProto]:
    """Write out the coordinate mode that RoiAlign used before it had an attribute for it."""
    name, old = "coordinate_transformation_mode", "output_half_pixel"
    if step.up:
        step.give(name, old)
    elif step.value(name) != old.encode():
        raise ValueError(f"{version_title(step.target)} only supports {name}={old}")
    else:
        step.drop(name)
    return [step.node]


def given_pads(step: Adaptation) -> None:
    """Refuse a ConvTranspose that computes its pads: the versions put an odd pad on different sides."""
    if step.given("output_shape") or step.value("auto_pad") in (b"SAME_UPPER", b"SAME_LOWER"):
        raise ValueError("the versions pad on different sides where pads are not given; give them")


def windows_in_data(step: Adaptation) -> None:
    """Refuse windows that begin in the padding at the end: operator sets from 22 on ignore them, older ones do not."""
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
            raise ValueError("its last window begins in the padding, and only one version ignores it")


def integer_modulo(step: Adaptation) -> None:
    """Refuse the floored remainder of floats below operator set 28."""
    # Both operands have the same type, but one may be unknown.
    types = {step.element_type(step.operand(place)) for place in (0, 1)}
    if not step.up and not step.value("fmod") and types.isdisjoint(_INTEGERS):
        raise ValueError(
            f"{version_title(step.target)} has no fmod=0 for floats, and its operands are or may be floats"
        )


def finite_to_float8(step: Adaptation) -> None:
    """Refuse casts in which an infinity becomes NaN below operator set 24 and the largest number from 24 on."""
    to = step.value("to") if step.node.op_type == "Cast" else step.element_type(step.operand(1))
    if to in _INFINITY_BECAME_LARGEST and step.value("saturate"):
        raise ValueError("the versions cast infinities to its element type differently")


def axes_from_the_front(step: Adaptation) -> None:
    """Count axes from the front, as all operators do below operator set 11."""
    for name in _AXES:
        if step.up or not step.given(name):
            continue
        value = step.value(name)
        axes = value if isinstance(value, list) else [value]
        if all(axis >= 0 for axis in axes) or value == default_of(step.older, name):
            continue
        rank = step.rank(step.operand(0))
        if rank is None or step.node.op_type == "Scan":
            raise ValueError(
                f"{version_title(step.target)} has no negative {name}, and the rank is not known; declare it"
            )
        rank += len(axes) if step.node.op_type == "Unsqueeze" else 0
        positive = [axis + rank if axis < 0 else axis for axis in axes]
        step.give(name, positive if isinstance(value, list) else positive[0])


def softmax_13(step: Adaptation) -> list[NodeProto]:
    """Convert between normalising along one axis, from operator set 13 on, and over all dimensions from it on."""
    x, y = step.operand(0), step.node.output[0]
    axis, rank = step.value("axis"), step.rank(x)
    if axis == -1 or (rank is not None and axis == rank - 1):
        step.give("axis", -1 if step.up or rank is None else rank - 1)
        return [step.node]
    fresh, make = step.rewriter.fresh, helper.make_node
    inner, outer = fresh("rearranged"), fresh("normalised")
    step.node.input[0], step.node.output[0] = inner, outer
    if step.up:
        step.give("axis", -1)
        shape = fresh("shape")
        sizes = make("Shape", [x], [shape], fresh("Shape"))
        flat = make("Flatten", [x], [inner], fresh("Flatten"), axis=axis)
        return [sizes, flat, step.node, make("Reshape", [outer, shape], [y], fresh("Reshape"))]
    if rank is None:
        raise ValueError(f"{version_title(step.target)} normalises over all dimensions from axis on; declare the rank")
    if not -rank <= axis < rank:
        raise ValueError(f"its axis is {axis}, and its operand has {rank} dimensions")
    order = list(range(rank))
    order[axis], order[-1] = order[-1], order[axis]
    step.give("axis", rank - 1)
    ahead = make("Transpose", [x], [inner], fresh("Transpose"), perm=order)
    return [ahead, step.node, make("Transpose", [outer], [y], fresh("Transpose"), perm=order)]


def dropped(name: str, value: int, refusal: str = "") -> Callable[[Adaptation], list[NodeProto]]:
    """Return an adapter that drops an attribute that one version lacks, at the value that is the only one there.

    - `refusal`: of another value, where the version that lacks it is called ``{target}``; empty if all are the same.
    """

    def rule(step: Adaptation) -> list[NodeProto]:
        given = step.value(name)
        if refusal and given is not None and bool(given) is not bool(value):
            raise ValueError(refusal.format(target=version_title(step.target), value=given))
        step.drop(name)
        return [step.node]

    return rule


def in_inference(name: str, value: int, refusal: str) -> Callable[[Adaptation], list[NodeProto]]:
    """Return an adapter like that of `dropped`, which refuses nodes with the further results of training mode."""
    rule = dropped(name, value, refusal)

    def checked(step: Adaptation) -> list[NodeProto]:
        if any(step.node.output[1:]):
            raise ValueError("its results beyond the first are those of training, which differ between the versions")
        del step.node.output[1:]
        return rule(step)

    return checked


def dropout_10(step: Adaptation) -> None:
    """Refuse a mask, which is of the data's element type below operator set 10 and bool from 10 on."""
    if any(step.node.output[1:]):
        raise ValueError(f"the mask of {version_title(step.target)} has another element type")


def dropout_12(step: Adaptation) -> list[NodeProto]:
    """Write the ratio as an operand from operator set 12 on; it has no effect in inference mode."""
    if step.up:
        given = np.array(step.value("ratio"), np.float32)
        step.drop("ratio")
        step.set_operands([step.operand(0), step.rewriter.constant(given, "ratio")])
        return [step.node]
    training = step.constant(step.operand(2)) if step.operand(2) else np.array(False)
    if training is None or training.any():
        raise ValueError(f"it may be in training mode, which {version_title(step.target)} lacks")
    if any(step.node.output[1:]):
        raise ValueError(f"the mask of {version_title(step.target)} is undefined in test mode")
    ratio = step.constant(step.operand(1))
    step.drop("seed")
    if ratio is not None:
        step.give("ratio", float(ratio))
    step.set_operands([step.operand(0)])
    return [step.node]
