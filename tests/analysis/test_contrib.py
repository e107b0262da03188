"""What is found in graphs with ONNX Runtime's own operators: hazards stay found, guards seen, and none is unknown."""

from __future__ import annotations

import onnx.parser

import vinculum
from tests.cases import case

HEAD = '<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>'
NORMALISED = "h = com.microsoft.SkipLayerNormalization <epsilon = 1e-5> (x, x, w, w)"
ATTENDED = "a = com.microsoft.MultiHeadAttention <num_heads = 2> (x, x, x)"
CASES = [
    # nodes, what is assumed, what is found
    (f"{NORMALISED} n = ReduceL2 (h) y = Div(h, n)", "", "zero-over-zero"),
    (f"{NORMALISED} n = Abs (h) d = Add (n, one) y = Div(h, d)", "", ""),
    (f"{NORMALISED} s = com.microsoft.FusedMatMul <transB = 1, alpha = 0.5> (h, h) a = Softmax (s) y = Div (a, a)", "",
     "zero-over-zero"),
    ("y = com.microsoft.SkipLayerNormalization <epsilon = 0.0> (x, x, w)", "", "zero-over-zero"),
    ("y = com.microsoft.SkipLayerNormalization (x, x, w)", "", ""),
    ("y = com.microsoft.SkipSimplifiedLayerNormalization <epsilon = 0.0> (x, x, w)", "", "zero-over-zero"),
    ("y = SimplifiedLayerNormalization <epsilon = 0.0> (x, w)", "x=-1:1", "zero-over-zero"),
    ("y = SimplifiedLayerNormalization <epsilon = 0.0> (x, w)", "x=1:2", ""),
    ("g = com.microsoft.QuickGelu (x) y = Div (x, g)", "x=-1:1", "zero-over-zero"),
    ("g = com.microsoft.QuickGelu (x) y = Div (one, g)", "x=1:2", ""),
    ("g = com.microsoft.BiasGelu (x, w) d = Add (g, one) y = Div (x, d)", "", ""),
    ("g = com.microsoft.FastGelu (x) d = Sub (g, one) y = Div (one, d)", "x=-1:1", ""),
    (f"{ATTENDED} d = Add (a, one) y = Div (one, d)", "x=-0.5:0.5", ""),
    (f"{ATTENDED} d = Add (a, one) y = Div (one, d)", "x=-1:1", "zero-divisor"),
    ("y = com.acme.Div (x, x)", "", ""),
]  # fmt: skip


def test_what_is_found() -> None:
    for nodes, assumed, rules in CASES:
        text = f"{HEAD} g (float[1, 3, 4] x, float[4] w) => (float[?] y) <float one = {{1}}> {{ {nodes} }}"
        model = onnx.parser.parse_model(text)
        if "com.acme" in nodes:
            model.opset_import.add(domain="com.acme", version=1)
        model.graph.output[0].type.tensor_type.ClearField("shape")
        with case(nodes, assumed):
            report = vinculum.check(model, assume=assumed.split(), runs=0)
            assert " ".join(finding.rule for finding in report.findings) == rules
            assert set(report.unknown_operators) == ({"com.acme.Div"} if "acme" in nodes else set())
