"""Version adapters, for operators whose notation or meaning changed between versions.

The key is an operator and the operator set that introduced the newer of two adjacent versions, or `ANY` if the adapter
converts between any two versions at once. An adapter returns the nodes that the node becomes, beside those already
written to the rewriter, or None if the general conversion applies. It raises ValueError if the node is not
representable.

The onnx package's version converter (1.23) cannot be used instead, since it changes results: Add with `axis` is
aligned with other dimensions; Hardmax keeps an axis whose meaning changes, as does Softmax in a downgrade; Resize
computes other coordinates; GroupNormalization keeps the scale of groups; the bounds of Clip and the value of Pad become
float for every element type; Dropout and BatchNormalization leave training mode; Max broadcasts where the version does
not allow it; PRelu's slopes are aligned with other dimensions.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from onnx import NodeProto

from vinculum.models.convert.opset import divisions, meanings, rewritten_operands
from vinculum.models.convert.opset.adaptation import Adaptation
from vinculum.models.onnx.divisions import ALSO_UNIDIRECTIONAL, DIVIDES

Adapter = Callable[[Adaptation], list[NodeProto] | None]

_REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "SumSquare")
_WITH_AXES = (
    *("ArgMax", "ArgMin", "Compress", "Concat", "Flatten", "Hardmax", "LogSoftmax", "ReduceSum", "Scan", "Softmax"),
    *("Split", "Squeeze", "TopK", "Unsqueeze", *(f"Reduce{name}" for name in _REDUCTIONS)),
)
_TRAINING = "it is in training mode, which {target} lacks; set is_test=1"
_TRAINED_OTHERWISE = "it is in training mode, in which {target} has other results"
_ONE_HOT = "negative indices are out of range below operator set 11, and count from the back from there on"

ANY = 0
ADAPTERS: dict[tuple[str, int], Adapter] = {
    **{(name, ANY): divisions.division for name in DIVIDES},
    ("Concat", 4): meanings.with_default("axis", 1),
    ("Reshape", 5): rewritten_operands.moved("shape"),
    ("Cast", 6): rewritten_operands.cast_6,
    ("Clip", 6): meanings.explicit_defaults,
    ("Selu", 6): meanings.explicit_defaults,
    **{(name, 7): divisions.binary_7 for name in ALSO_UNIDIRECTIONAL},
    ("BatchNormalization", 7): meanings.in_inference("is_test", 1, _TRAINING),
    ("Dropout", 7): meanings.in_inference("is_test", 1, _TRAINING),
    ("Gemm", 7): meanings.dropped("broadcast", 1),
    ("PRelu", 7): divisions.prelu_7,
    **{(name, 8): meanings.same_shapes for name in ("Max", "Mean", "Min", "Sum")},
    ("BatchNormalization", 9): meanings.dropped("spatial", 1, "{target} has no spatial={value}"),
    ("Constant", 9): rewritten_operands.constant_9,
    ("Upsample", 9): rewritten_operands.moved("scales", kind=np.float32),
    ("Dropout", 10): meanings.dropout_10,
    ("Slice", 10): rewritten_operands.moved("starts", "ends", "axes"),
    ("TopK", 10): rewritten_operands.moved("k"),
    ("Upsample", 10): rewritten_operands.upsample_10,
    **{(name, 11): meanings.axes_from_the_front for name in _WITH_AXES},
    ("Clip", 11): rewritten_operands.clip_11,
    ("ConvTranspose", 11): meanings.given_pads,
    ("OneHot", 11): meanings.refused(_ONE_HOT),
    ("Pad", 11): rewritten_operands.pad_11,
    ("Resize", 11): rewritten_operands.resize_11,
    ("Scatter", 11): rewritten_operands.scatter_11,
    ("Constant", 12): rewritten_operands.constant_12,
    ("Dropout", 12): meanings.dropout_12,
    ("DequantizeLinear", 13): meanings.scalar_scale,
    ("Hardmax", 13): meanings.softmax_13,
    ("LogSoftmax", 13): meanings.softmax_13,
    ("QuantizeLinear", 13): meanings.scalar_scale,
    ("ReduceSum", 13): rewritten_operands.reduction_axes,
    ("Resize", 13): rewritten_operands.resize_13,
    ("Softmax", 13): meanings.softmax_13,
    ("Split", 13): rewritten_operands.moved("split"),
    ("Squeeze", 13): rewritten_operands.moved("axes"),
    ("Unsqueeze", 13): rewritten_operands.moved("axes"),
    ("BatchNormalization", 14): meanings.in_inference("training_mode", 0, _TRAINED_OTHERWISE),
    ("Reshape", 14): meanings.sizes_above_zero,
    ("Shape", 15): rewritten_operands.shape_15,
    ("RoiAlign", 16): meanings.roi_align_16,
    **{(f"Reduce{name}", 18): rewritten_operands.reduction_axes for name in _REDUCTIONS},
    ("ScatterElements", 18): meanings.without_values("reduction", "max", "min"),
    ("ScatterND", 18): meanings.without_values("reduction", "max", "min"),
    ("Split", 18): rewritten_operands.split_18,
    ("Pad", 19): meanings.without_values("mode", "wrap"),
    ("Resize", 19): meanings.without_values("coordinate_transformation_mode", "half_pixel_symmetric"),
    ("GridSample", 20): meanings.grid_sample_20,
    ("GroupNormalization", 21): meanings.refused("one version scales groups, the other channels"),
    ("AveragePool", 22): meanings.windows_in_data,
    ("MaxPool", 22): meanings.windows_in_data,
    ("Cast", 24): meanings.finite_to_float8,
    ("CastLike", 24): meanings.finite_to_float8,
    ("Mod", 28): meanings.integer_modulo,
}
