"""Divisors that no node computes: what operators divide by inside."""

from __future__ import annotations

import onnx.parser

import vinculum
from tests.cases import case

_X, _IMAGE = "float[2, 3, 4] x", "float[2, 3, 4, 4] x"
_LOSS = "float[2, 3] x, int64[2] t"

CASES = [
    # operands, node, what is assumed, what is found
    (f"{_X}, float[3] w", "y = InstanceNormalization <epsilon = 0.0> (x, w, w)", "", "zero-over-zero"),
    (f"{_X}, float[3] w", "y = InstanceNormalization (x, w, w)", "", ""),
    (f"{_X}, float[4] w", "y = LayerNormalization <epsilon = 1e-46> (x, w)", "", "zero-over-zero"),
    (f"{_X}, float[4] w", "y = RMSNormalization <epsilon = 0.0> (x, w)", "x=0:1", "zero-over-zero"),
    (f"{_X}, float[4] w", "y = RMSNormalization <epsilon = 0.0> (x, w)", "x=1:2", ""),
    (f"{_X}, float[3] w", "y = GroupNormalization <num_groups = 1, epsilon = 0.0> (x, w, w)", "", "zero-over-zero"),
    (_X, "y = MeanVarianceNormalization <axes = [0, 2]> (x)", "", "zero-over-zero"),
    (_IMAGE, "y = LRN <size = 3, bias = 0.0> (x)", "", "zero-over-zero"),
    (_IMAGE, "y = LRN <size = 3> (x)", "", ""),
    (_IMAGE, "y = LRN <size = 5, alpha = 1e-4, beta = 0.75> (x)", "x=-50:50", ""),
    (_IMAGE, "y = LRN <size = 5, alpha = 1e-4, beta = 0.75> (x)", "x=-5e5:5e5", "zero-divisor"),
    (f"{_X}, float[3] v", "y = BatchNormalization <epsilon = 0.0> (x, v, v, v, v)", "v=0:1", "zero-divisor"),
    (f"{_X}, float[3] v", "y = BatchNormalization (x, v, v, v, v)", "v=0:1", ""),
    (f"{_X}, float[3] v", "y = BatchNormalization (x, v, v, v, v)", "v=-1:1", "zero-divisor"),
    (f"{_X}, float[3] v", "y, m, n = BatchNormalization <epsilon = 0.0, training_mode = 1> (x, v, v, v, v)", "v=1:1",
     "zero-over-zero"),
    (_X, "e = Constant <value_floats = [-1.0, 2.0, 2.0, 2.0]> () y = Pow(x, e)", "", "zero-divisor"),
    (_X, "e = Constant <value_floats = [1.0, 2.0, 2.0, 2.0]> () y = Pow(x, e)", "", ""),
    (f"{_X}, float e", "y = Pow(x, e)", "e=-2:-1", "zero-divisor"),
    (f"{_X}, float e", "y = Pow(x, e)", "x=1:2", ""),
    (f"{_LOSS}, float[3] w", "y = NegativeLogLikelihoodLoss (x, t, w)", "w=0:1", "zero-over-zero"),
    (f"{_LOSS}, float[3] w", "y = NegativeLogLikelihoodLoss (x, t, w)", "w=0.5:1", ""),
    (f"{_LOSS}, float[3] w", 'y = NegativeLogLikelihoodLoss <reduction = "sum"> (x, t, w)', "w=0:1", ""),
    (_LOSS, "y = SoftmaxCrossEntropyLoss <ignore_index = 0> (x, t)", "", "zero-over-zero"),
    (_LOSS, "y = SoftmaxCrossEntropyLoss <ignore_index = -100> (x, t)", "t=0:2", ""),
    ("float[4] x, bool[4] m", "c = Compress <axis = 0> (x, m) y = ReduceMean (c)", "", "zero-over-zero"),
    ("float[n] x", "y = ReduceMean (x)", "", ""),
    ("float[n] x", "y = ReduceMean (x)", "n=0:5", "zero-over-zero"),
    ("float[3] x, float s, uint8 z", "y = QuantizeLinear (x, s, z)", "s=0:1", "zero-over-zero"),
    ("float[3] x", "y, s, z = DynamicQuantizeLinear (x)", "", "zero-over-zero"),
    ("float[3] x", "y, s, z = DynamicQuantizeLinear (x)", "x=1:2", ""),
]  # fmt: skip


def test_what_divides_inside() -> None:
    for inputs, nodes, assumed, rules in CASES:
        opset = 23 if "RMS" in nodes else 21
        text = f'<ir_version: 10, opset_import: ["" : {opset}]> g ({inputs}) => (float y) {{ {nodes} }}'
        model = onnx.parser.parse_model(text.replace("(float y)", "(uint8 y)") if "Quantize" in nodes else text)
        del model.graph.output[0].type.tensor_type.shape.dim[:]
        model.graph.output[0].type.tensor_type.ClearField("shape")
        with case(nodes, assumed):
            report = vinculum.check(model, assume=assumed.split(), runs=0)
            assert [finding.rule for finding in report.findings] == rules.split()
            assert not report.unknown_operators
