"""Operators that divide internally: the model has no Div for these divisions, and no engine here makes them exact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# What is divided, or by what: the operators that do, with their domains.
_ONNX = {
    "by a standard deviation": (
        "BatchNormalization GroupNormalization InstanceNormalization LayerNormalization MeanVarianceNormalization"
    ),
    "by a root of a mean of squares": "RMSNormalization",
    "by a power of a sum of squares": "LRN",
    "by a norm": "LpNormalization ai.onnx.ml.Normalizer",
    "by a sum of exponentials": ("Attention LogSoftmax Softmax SoftmaxCrossEntropyLoss ai.onnx.preview.FlexAttention"),
    "a sum by a count or by weights": "NegativeLogLikelihoodLoss",
    "by a root of the size of a head": "LinearAttention",
    "a sum by a count": "AveragePool GlobalAveragePool Mean ReduceMean RoiAlign",
    "by a scale": "DynamicQuantizeLinear QLinearConv QLinearMatMul QuantizeLinear",
    "for its remainder": "Mod",
    "by 1 + exp(-x)": "CausalConvWithState Sigmoid SwiGLU Swish",
    "by 1 + exp(-x), in its gates": "GRU LSTM",
    "by 1 + |x|": "Softsign",
    "by its alpha": "Celu",
    "by the root of 2": "Gelu",
    "by 1 - ratio, in training mode": "Dropout",
    "1 by a power, for negative exponents": "Pow",
    "by its length": "BlackmanWindow DFT HammingWindow HannWindow",
    "positions, by a scale": "AffineGrid Resize Upsample",
    "a distance, by its delta": "Range",
    "by a sum of exponentials, if asked to": (
        "ai.onnx.ml.LinearClassifier ai.onnx.ml.SVMClassifier ai.onnx.ml.TreeEnsembleClassifier"
    ),
    "a sum by a count, if asked to": "ai.onnx.ml.TreeEnsemble ai.onnx.ml.TreeEnsembleRegressor",
    "by a root of squared gradients": "ai.onnx.preview.training.Adagrad ai.onnx.preview.training.Adam",
}
_OPENVINO = {
    "by a standard deviation": "BatchNormInference GroupNormalization MVN",
    "by a root of a mean of squares": "RMS",
    "by a power of a sum of squares": "LRN",
    "by a norm": "GRN NormalizeL2",
    "by a sum of exponentials": "LogSoftmax ScaledDotProductAttention Softmax",
    "a sum by a count": "AdaptiveAvgPool AvgPool ROIAlign ReduceMean",
    "by a scale": "FakeQuantize",
    "for its remainder": "FloorMod Mod",
    "by 1 + exp(-x)": "Sigmoid Swish",
    "by 1 + exp(-x), in its gates": "GRUCell GRUSequence LSTMCell LSTMSequence",
    "by 1 + |x|": "SoftSign",
    "positions, by a scale": "Interpolate",
}

ONNX: Mapping[tuple[str, str], str] = {
    (domain, name): divides
    for divides, operators in _ONNX.items()
    for domain, _, name in (operator.rpartition(".") for operator in operators.split())
}
"""What ONNX's operators divide internally, and by what: from their function bodies or, without one, their formulas.

Operators that divide only the sizes of their operands, such as DepthToSpace, are not listed.
"""

_OPENVINO_KINDS = {kind.casefold(): divides for divides, kinds in _OPENVINO.items() for kind in kinds.split()}
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
