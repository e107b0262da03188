"""Axes that versions count or understand differently.

Each rule is as `table` says.
"""

from __future__ import annotations

from onnx import NodeProto, helper

from vinculum.models.convert.opset.adapters.adaptation import Adaptation

_AXES = ("axis", "axes", "scan_input_axes", "scan_output_axes")


def axes_from_the_front(step: Adaptation) -> None:
    """Count axes from the front, as all operators do below operator set 11."""
    for name in _AXES:
        if step.up or not step.given(name):
            continue
        value = step.value(name)
        axes = value if isinstance(value, list) else [value]
        if all(axis >= 0 for axis in axes) or value == step.older_default(name):
            continue
        rank = step.rank(step.operand(0))
        if rank is None or step.node.op_type == "Scan":
            raise ValueError(f"{step.title(step.target)} has no negative {name}, and the rank is not known; declare it")
        rank += len(axes) if step.node.op_type == "Unsqueeze" else 0
        positive = [axis + rank if axis < 0 else axis for axis in axes]
        step.give(name, positive if isinstance(value, list) else positive[0])


def softmax_13(step: Adaptation) -> list[NodeProto]:
    """Normalise along one axis from operator set 13 on, over all dimensions from the axis on together before."""
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
        raise ValueError(f"{step.title(step.target)} normalises over all dimensions from axis on; declare the rank")
    if not -rank <= axis < rank:
        raise ValueError(f"its axis is {axis}, and its operand has {rank} dimensions")
    order = list(range(rank))
    order[axis], order[-1] = order[-1], order[axis]
    step.give("axis", rank - 1)
    ahead = make("Transpose", [x], [inner], fresh("Transpose"), perm=order)
    return [ahead, step.node, make("Transpose", [outer], [y], fresh("Transpose"), perm=order)]
