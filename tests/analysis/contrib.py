"""ONNX Runtime's own operators, with attributes and operands that they take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.analysis.operators import Trial, number

F, U8, I32, I64 = np.float32, np.uint8, np.int32, np.int64
ONE = np.array([1], F)
WEIGHTS = np.random.default_rng(5).normal(size=(6, 12)).astype(F)
TABLES = [np.random.default_rng(k).normal(size=(5, 4)).astype(F) for k in range(3)]


_QUANTISED = (0, 255, U8, (2, 3))
_POINT = np.array(7, U8)
_BLOCKS = np.random.default_rng(2).integers(0, 256, (4, 2, 8), U8)

OF_ITS_OWN = "SimplifiedLayerNormalization"
"""What ONNX Runtime has in ONNX's domain."""
CASES: list[tuple[str, list[Any], Mapping[str, Any], int]] = [
    ("Attention", [(1, 3, 6), WEIGHTS, (12,)], {"num_heads": 2}, 1),
    ("Attention", [(2, 3, 6), WEIGHTS, (12,)], {"num_heads": 2, "unidirectional": 1, "scale": 2.0}, 1),
    ("Attention", [(2, 3, 6), (6, 12), np.ones(12, F), (1, 3, I32, (2,))], {"num_heads": 1}, 1),
    ("Attention", [(1, 3, 6), WEIGHTS, (12,), None, (2, 1, 2, 4, 2)], {"num_heads": 2}, 2),
    ("Attention", [(1, 3, 6), WEIGHTS, (12,), None, None, (1, 2, 3, 3)], {"num_heads": 2}, 1),
    ("BiasGelu", [(2, 3), (3,)], {}, 1),
    ("DynamicQuantizeMatMul", [(2, 3), np.arange(12, dtype=U8).reshape(3, 4), ONE], {}, 1),
    ("EmbedLayerNormalization", [(0, 4, I32, (2, 3)), (0, 4, I32, (2, 3)), *TABLES, (4,), (4,)], {"epsilon": 1e-12}, 2),
    ("EmbedLayerNormalization", [(0, 4, I32, (2, 3)), None, (5, 4), (5, 4), None, (4,), (4,)], {}, 2),
    ("FastGelu", [(2, 3), (3,)], {}, 1),
    ("FastGelu", [(2, 3)], {}, 1),
    ("FusedConv", [(1, 2, 5, 5), (3, 2, 3, 3), (3,)], {"activation": "Relu"}, 1),
    ("FusedConv", [(1, 2, 5, 5), (3, 2, 3, 3), (3,), (1, 3, 3, 3)], {"activation": "Relu"}, 1),
    ("FusedConv", [(1, 2, 5, 5), (3, 2, 3, 3), (3,)], {"activation": "LeakyRelu", "activation_params": [0.5]}, 1),
    ("FusedConv", [(1, 2, 5, 5), (3, 2, 3, 3), (3,)], {"activation": "Clip", "activation_params": [-1.0, 2.0]}, 1),
    ("FusedConv", [(1, 2, 5, 5), (3, 2, 3, 3)], {"activation": "Tanh"}, 1),
    ("FusedGemm", [(2, 3), (3, 4), (4,)], {"activation": "Sigmoid"}, 1),
    ("FusedGemm", [(2, 3), (3, 4), (4,)], {"activation": "LeakyRelu", "activation_alpha": 0.3, "alpha": 2.0}, 1),
    ("FusedMatMul", [(2, 3), (4, 3)], {"transB": 1, "alpha": 0.125}, 1),
    ("FusedMatMul", [(2, 3, 2), (2, 3, 4)], {"transA": 1, "alpha": 1e30}, 1),
    ("FusedMatMul", [(2, 3, 2), (3, 2, 4)], {"transBatchA": 1}, 1),
    ("FusedMatMul", [(2, 3, 4), (5, 3, 4)], {"transBatchA": 1, "transBatchB": 1, "transB": 1}, 1),
    ("FusedMatMul", [(2, 3, 4), (2, 3, 5)], {"transBatchA": 1, "transA": 1, "transBatchB": 1, "alpha": 2.0}, 1),
    ("GatherBlockQuantized", [(0, 255, U8, (4, 32)), (0, 3, I64, (2,)), (4, 2)], {"bits": 8, "block_size": 16}, 1),
    ("Gelu", [(2, 3)], {}, 1),
    ("GroupQueryAttention", [(1, 3, 32), (1, 3, 16), (1, 3, 16), None, None, np.array([2], I32), np.array(3, I32)],
     {"num_heads": 2, "kv_num_heads": 1}, 3),
    ("GroupQueryAttention",
     [(1, 1, 32), (1, 1, 16), (1, 1, 16), (1, 1, 5, 16), (1, 1, 5, 16), np.array([3], I32), np.array(4, I32)],
     {"num_heads": 2, "kv_num_heads": 1}, 3),
    ("GroupQueryAttention",
     [(1, 3, 32), (1, 3, 16), (1, 3, 16), None, None, np.array([2], I32), np.array(3, I32), (4, 8), (4, 8)],
     {"num_heads": 2, "kv_num_heads": 1, "do_rotary": 1, "smooth_softmax": 1}, 3),
    ("GroupQueryAttention", [(2, 3, 32), (2, 3, 16), (2, 3, 16), None, None, np.array([2, 0], I32), np.array(3, I32)],
     {"num_heads": 2, "kv_num_heads": 1, "local_window_size": 2, "softcap": 3.0}, 3),
    ("MatMulIntegerToFloat", [(0, 255, U8, (2, 3)), np.arange(12, dtype=U8).reshape(3, 4), ONE, ONE], {}, 1),
    *(
        ("MatMulNBits", [(2, 32), _BLOCKS, (4, 2), *more], {"K": 32, "N": 4, "bits": 4, "block_size": 16, **other}, 1)
        for more, other in (
            ([], {}), ([], {"accuracy_level": 4}), ([_BLOCKS[:, :1, 0].copy()], {}), ([None, None, (4,)], {})
        )
    ),
    ("MultiHeadAttention", [(1, 3, 4), (1, 5, 4), (1, 5, 6)], {"num_heads": 2}, 1),
    ("MultiHeadAttention", [(1, 3, 4), (1, 5, 4), (1, 5, 6), (14,)], {"num_heads": 2}, 1),
    ("MultiHeadAttention", [(1, 3, 4), (1, 5, 4), (1, 5, 4), None, (0, 5, I32, (1,))], {"num_heads": 2}, 1),
    ("MultiHeadAttention", [(1, 3, 4), (1, 3, 4), (1, 3, 4), None, (0, 1, I32, (1, 3))],
     {"num_heads": 2, "unidirectional": 1, "mask_filter_value": -3.4028234663852886e38}, 1),
    ("MultiHeadAttention", [(1, 3, 4), (1, 3, 4), (1, 3, 4), None, None, (1, 2, 3, 3)], {"num_heads": 2}, 1),
    ("MultiHeadAttention", [(1, 3, 4), (1, 3, 4), (1, 3, 4), None, None, None, (1, 2, 2, 2), (1, 2, 2, 2)],
     {"num_heads": 2}, 3),
    ("QAttention",
     [(0, 255, U8, (1, 3, 6)), np.arange(72, dtype=U8).reshape(6, 12), np.ones(12, F), number(0.1), number(0.1)],
     {"num_heads": 2}, 1),
    ("QGemm", [(0, 255, U8, (2, 3)), number(0.1), _POINT, np.arange(12, dtype=U8).reshape(3, 4), number(0.1), _POINT],
     {}, 1),
    ("QGemm", [(0, 255, U8, (2, 3)), number(0.1), _POINT, np.arange(12, dtype=U8).reshape(3, 4), number(0.1), _POINT,
               None, number(0.1), _POINT], {}, 1),
    *(
        (name, [_QUANTISED, number(0.1), _POINT, (0, 255, U8, (3,)), number(0.2), _POINT, number(0.01), _POINT], {}, 1)
        for name in ("QLinearAdd", "QLinearMul")
    ),
    *(
        (name, [_QUANTISED, number(0.1), _POINT, number(0.01), _POINT], {}, 1)
        for name in ("QLinearSigmoid", "QLinearLeakyRelu")
    ),
    ("QLinearSoftmax", [_QUANTISED, number(0.1), _POINT, number(0.01), _POINT], {"axis": -1, "opset": 13}, 1),
    ("QLinearAveragePool", [(0, 255, U8, (1, 2, 5, 5)), number(0.1), _POINT, number(0.01), _POINT],
     {"kernel_shape": [2, 2]}, 1),
    ("QLinearGlobalAveragePool", [(0, 255, U8, (1, 2, 5, 5)), number(0.1), _POINT, number(0.01), _POINT], {}, 1),
    ("QLinearConcat", [number(0.1), _POINT, _QUANTISED, number(0.1), _POINT, _QUANTISED, number(0.3), _POINT],
     {"axis": 1}, 1),
    ("QLinearWhere",
     [np.array([True, False, True]), _QUANTISED, number(0.1), _POINT, _QUANTISED, number(0.1), _POINT, number(0.1),
      _POINT], {}, 1),
    ("QuantizeLinear", [(2, 3), number(0.1), _POINT], {}, 1),
    ("DequantizeLinear", [_QUANTISED, number(0.1), _POINT], {}, 1),
    ("QuickGelu", [(2, 3)], {}, 1),
    ("QuickGelu", [(2, 3)], {"alpha": -0.5}, 1),
    ("RotaryEmbedding", [(1, 2, 3, 4), np.array([[0, 1, 2]], I64), (4, 2), (4, 2)], {}, 1),
    ("RotaryEmbedding", [(1, 3, 8), np.array([1], I64), (4, 2), (4, 2)],
     {"interleaved": 1, "num_heads": 2, "rotary_embedding_dim": 4}, 1),
    ("SkipLayerNormalization", [(1, 3, 8), (1, 3, 8), (8,), (8,), (8,)], {"epsilon": 1e-5}, 4),
    ("SkipLayerNormalization", [(2, 3, 8), (3, 8), (8,)], {}, 1),
    ("SkipSimplifiedLayerNormalization", [(1, 3, 8), (1, 3, 8), (8,), (8,)], {"epsilon": 1e-6}, 4),
    ("SkipSimplifiedLayerNormalization", [(1, 3, 8), (1, 3, 8), (8,)], {}, 1),
    ("SimplifiedLayerNormalization", [(3, 8), (8,)], {"epsilon": 1e-6}, 1),
    ("SimplifiedLayerNormalization", [(2, 3, 4), (3, 4)], {"axis": 1}, 1),
    ("TransposeMatMul", [(3, 2), (3, 4)], {"transA": 1}, 1),
]  # fmt: skip
TRIED = [
    Trial(name, operands, attributes, opset=17, results=results, domain="" if name == OF_ITS_OWN else "com.microsoft")
    for name, operands, attributes, results in CASES
]
