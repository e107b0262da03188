"""Operators that divide internally: the model has no Div for these divisions, and no engine here makes them exact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_DEVIATION = "by a standard deviation"
_MEAN = "a sum by a count"
_NORM = "by a norm"
_SUM = "by a sum of exponentials"
_GATES = "by 1 + exp(-x), in its gates"
_SCALE = "by a scale"
_LOSS = "a sum by a count or by weights"
_MOMENTS = "by a root of squared gradients"
_LENGTH = "by its length"
_POSITIONS = "positions, by a scale"

ONNX: Mapping[tuple[str, str], str] = {
    **{("", name): _DEVIATION for name in ("BatchNormalization", "GroupNormalization", "InstanceNormalization")},
    **{("", name): _DEVIATION for name in ("LayerNormalization", "MeanVarianceNormalization")},
    ("", "RMSNormalization"): "by a root of a mean of squares",
    ("", "LRN"): "by a power of a sum of squares",
    ("", "LpNormalization"): _NORM,
    ("ai.onnx.ml", "Normalizer"): _NORM,
    **{("", name): _SUM for name in ("Attention", "LogSoftmax", "Softmax", "SoftmaxCrossEntropyLoss")},
    ("ai.onnx.preview", "FlexAttention"): _SUM,
    ("", "NegativeLogLikelihoodLoss"): _LOSS,
    ("", "LinearAttention"): "by a root of the size of a head",
    **{("", name): _MEAN for name in ("AveragePool", "GlobalAveragePool", "Mean", "ReduceMean", "RoiAlign")},
    **{("", name): _SCALE for name in ("DynamicQuantizeLinear", "QLinearConv", "QLinearMatMul", "QuantizeLinear")},
    ("", "Mod"): "for its remainder",
    ("", "Sigmoid"): "by 1 + exp(-x)",
    **{("", name): "by 1 + exp(-x)" for name in ("CausalConvWithState", "SwiGLU", "Swish")},
    **{("", name): _GATES for name in ("GRU", "LSTM")},
    ("", "Softsign"): "by 1 + |x|",
    ("", "Celu"): "by its alpha",
    ("", "Gelu"): "by the root of 2",
    ("", "Dropout"): "by 1 - ratio, in training mode",
    ("", "Pow"): "1 by a power, for negative exponents",
    **{("", name): _LENGTH for name in ("BlackmanWindow", "DFT", "HammingWindow", "HannWindow")},
    **{("", name): _POSITIONS for name in ("AffineGrid", "Resize", "Upsample")},
    ("", "Range"): "a distance, by its delta",
    **{("ai.onnx.ml", name): "by a sum of exponentials, if asked to" for name in ("LinearClassifier", "SVMClassifier")},
    **{("ai.onnx.ml", name): "a sum by a count, if asked to" for name in ("TreeEnsembleRegressor", "TreeEnsemble")},
    ("ai.onnx.ml", "TreeEnsembleClassifier"): "by a sum of exponentials, if asked to",
    **{("ai.onnx.preview.training", name): _MOMENTS for name in ("Adagrad", "Adam")},
}
"""What ONNX's operators divide internally, and by what: from their function bodies or, without one, their formulas.

Operators that divide only the sizes of their operands, such as DepthToSpace, are not listed.
"""

OPENVINO: Mapping[str, str] = {
    **dict.fromkeys(("BatchNormInference", "GroupNormalization", "MVN"), _DEVIATION),
    "RMS": "by a root of a mean of squares",
    "LRN": "by a power of a sum of squares",
    **dict.fromkeys(("GRN", "NormalizeL2"), _NORM),
    **dict.fromkeys(("LogSoftmax", "ScaledDotProductAttention", "Softmax"), _SUM),
    **dict.fromkeys(("AdaptiveAvgPool", "AvgPool", "ROIAlign", "ReduceMean"), _MEAN),
    "FakeQuantize": _SCALE,
    **dict.fromkeys(("FloorMod", "Mod"), "for its remainder"),
    **dict.fromkeys(("Sigmoid", "Swish"), "by 1 + exp(-x)"),
    **dict.fromkeys(("GRUCell", "GRUSequence", "LSTMCell", "LSTMSequence"), _GATES),
    "SoftSign": "by 1 + |x|",
    "Interpolate": _POSITIONS,
}
"""What OpenVINO's layers divide internally, and by what."""

_OPENVINO_KINDS = {kind.casefold(): divides for kind, divides in OPENVINO.items()}
_KNOWN_DOMAINS = {"", *(domain for domain, _ in ONNX)}


@dataclass(frozen=True)
class InnerDivision:
    """A node that divides internally, or may.

    Attributes
    ----------
    name, path : str
        The node's, as in `Division`.
    operator : str
        Its operator, with the domain if it has one.
    divides : str
        What it divides, or by what: ``"by a standard deviation"``.
    has_body : bool
        Whether ONNX defines the operator by a function body of other operators.
    """

    name: str
    path: str
    operator: str
    divides: str
    has_body: bool = False


def what_onnx_divides(domain: str, op_type: str) -> str | None:
    """Return what an operator divides internally, None if nothing; for an unknown domain, a text that says so."""
    if domain not in _KNOWN_DOMAINS:
        return f"perhaps: operators of {domain} are not known here"
    return ONNX.get((domain, op_type))


def what_openvino_divides(kind: str) -> str | None:
    """Return what a layer divides internally, None if nothing. Case is ignored: files and OpenVINO differ in it."""
    return _OPENVINO_KINDS.get(kind.casefold())
