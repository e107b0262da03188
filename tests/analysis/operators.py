"""The operators that each transfer function is tried on, with attributes and operands that they take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

FLOATS = ("float32",)
BOTH = ("float32", "int64")
SHAPES = ((2, 3), (3,), (2, 3, 4))
Constant = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Trial:
    """One operator with attributes."""

    operator: str
    # The shape of each, a constant, None for what is left out, or (low, high, type, shape) for integers of their own.
    operands: Sequence[Any] = ((2, 3),)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    types: Sequence[str] = FLOATS  # The element types to try it in.
    opset: int = 18
    results: int = 1  # How many outputs it has.
    tame: bool = False  # Whether runtimes agree on finite operands of common size alone.
    where: Callable[..., bool] | None = None  # Whether the runtime can be given such operands.
    domain: str = ""

    def __str__(self) -> str:
        return "-".join([self.operator, *(f"{k}={v}" for k, v in self.attributes.items()), *map(_shape, self.operands)])


def _shape(operand: Any) -> str:
    return str(operand).replace(" ", "").replace("\n", "")


def ints(*values: int) -> Constant:
    """Return a constant list of int64."""
    return np.array(values, np.int64)


def floats(values: object) -> Constant:
    """Return a constant in float32."""
    return np.array(values, np.float32)


def number(value: float) -> Constant:
    """Return a constant number in float32."""
    return np.array(value, np.float32)


_SCALED = (number(0.1), np.array(3, np.uint8))
_UNARY = (
    *("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Celu", "Cos", "Cosh", "Elu", "Erf", "Exp"),
    *("Floor", "HardSigmoid", "HardSwish", "Identity", "LeakyRelu", "Log", "Mish", "Neg", "Reciprocal", "Relu"),
    *("Round", "Selu", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh"),
    *("ThresholdedRelu", "IsNaN", "IsInf"),
)
_PAIRS = (((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1), (1, 3)))


def _no_zero(_: Any, divisor: Any) -> bool:
    smallest = np.iinfo(divisor.dtype).min
    return bool((divisor != 0).all() and not ((divisor == -1).any() and (_ == smallest).any()))


TRIALS = (
    *(Trial(name) for name in _UNARY),
    *(
        Trial(name, types=("float16", "float64"))
        for name in ("Abs", "Ceil", "Exp", "Neg", "Reciprocal", "Relu", "Sqrt")
    ),
    Trial("Gelu", opset=20),
    Trial("Gelu", attributes={"approximate": "tanh"}, opset=20, tame=True),
    *(Trial("Swish", attributes={"alpha": alpha}, opset=24) for alpha in (1.0, 1.702, -0.5, 0.0)),
    Trial("LeakyRelu", attributes={"alpha": -0.5}),
    Trial("Elu", attributes={"alpha": 2.5}),
    Trial("Celu", attributes={"alpha": 3.0}),
    Trial("Shrink", attributes={"lambd": 1.0, "bias": 0.5}),
    Trial("HardSigmoid", attributes={"alpha": 0.7, "beta": 0.1}),
    Trial("ThresholdedRelu", attributes={"alpha": 2.0}),
    *(Trial(name, pair, types=BOTH) for name in ("Add", "Sub", "Mul") for pair in _PAIRS),
    *(Trial(name, _PAIRS[1], types=("float16", "float64", "int32", "uint8")) for name in ("Add", "Sub", "Mul")),
    *(Trial("Div", pair) for pair in _PAIRS),
    Trial("Div", _PAIRS[0], types=("float16", "float64")),
    *(Trial("Div", pair, types=("int32", "int64", "uint8"), where=_no_zero) for pair in _PAIRS),
    *(Trial("Mod", pair, types=("int32", "int64", "uint8"), where=_no_zero) for pair in _PAIRS),
    Trial("Mod", _PAIRS[0], {"fmod": 1}, types=("float32",)),
    Trial("Mod", _PAIRS[0], {"fmod": 1}, types=("int32",), where=_no_zero),
    *(Trial("Max", pair, types=BOTH) for pair in _PAIRS),
    *(Trial("Min", pair, types=BOTH) for pair in _PAIRS),
    Trial("Sum", ((2, 3), (3,), (2, 1))),
    Trial("Mean", ((2, 3), (3,), (2, 1))),
    *(Trial("Pow", ((2, 3), number(p))) for p in (2.0, 0.5, 3.0, 1.0, -1.0, 1.5, 4.0, 0.0, -2.0)),
    Trial("Pow", ((2, 3), (2, 3))),
    *(Trial(name, _PAIRS[1], types=BOTH) for name in ("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual")),
    *(Trial(name, _PAIRS[1], types=("bool",)) for name in ("And", "Or", "Xor")),
    Trial("Not", types=("bool",)),
    *(Trial(name, _PAIRS[1], types=("int32", "uint8")) for name in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")),
    Trial("BitwiseNot", types=("int32", "uint8")),
    Trial("Clip", ((2, 3), number(-1), number(2)), types=FLOATS),
    Trial("Clip", ((2, 3), number(0.5)), types=FLOATS),
    Trial("Clip", ((2, 3), (), ())),
    Trial("PRelu", ((2, 3), (3,))),
    *(
        Trial(f"Reduce{kind}", ((2, 3, 4), ints(*axes)), {"keepdims": keep}, types=types)
        for kind in ("Sum", "Mean", "Max", "Min", "L1", "L2", "SumSquare", "Prod", "LogSum", "LogSumExp")
        for axes, keep in (((1,), 1), ((-1,), 0), ((0, 2), 1))
        for types in [("float32",) if kind.startswith("L") else ("float32", "int32")]
    ),
    *(Trial(f"Reduce{kind}", ((2, 33), ints(1)), types=("float16",)) for kind in ("Sum", "Mean", "Max")),
    *(
        Trial(name, ((2, 3, 4),), {"axis": axis}, types=FLOATS)
        for name in ("Softmax", "LogSoftmax", "Hardmax")
        for axis in (-1, 1)
    ),
    Trial("Softmax", ((2, 3, 4),), {"axis": 1}, opset=11),
    Trial("RNN", ((2, 1, 3), (1, 2, 3), (1, 2, 2)), {"hidden_size": 2}, results=2, tame=True),
    Trial("GRU", ((2, 1, 3), (1, 6, 3), (1, 6, 2), floats([[0] * 12]), np.array([2], np.int32), (1, 1, 2)),
          {"hidden_size": 2}, results=2, tame=True),
    Trial("ArgMax", ((2, 3, 4),), {"axis": 1, "keepdims": 0}),
    Trial("ArgMin", ((2, 3, 4),), {"axis": 2}),
    Trial("CumSum", ((2, 5), ints(1)[0]), types=BOTH),
    Trial("CumSum", ((2, 5), ints(1)[0]), {"exclusive": 1, "reverse": 1}, types=BOTH),
    Trial("TopK", ((2, 5), ints(3)), {"axis": 1}, results=2),
    Trial("TopK", ((2, 5), ints(2)), {"axis": 1, "largest": 0}, results=2),
    Trial("Transpose", ((2, 3, 4),), {"perm": [2, 0, 1]}, types=BOTH),
    Trial("Reshape", ((2, 3, 4), ints(4, -1)), types=BOTH),
    Trial("Reshape", ((2, 3, 4), ints(0, 0, 2, 2)), types=BOTH),
    Trial("Flatten", ((2, 3, 4),), {"axis": 2}),
    Trial("Squeeze", ((2, 1, 3), ints(1)), types=BOTH),
    Trial("Unsqueeze", ((2, 3), ints(0, 3)), types=BOTH),
    Trial("Expand", ((2, 1), ints(3, 2, 4)), types=BOTH),
    Trial("Tile", ((2, 3), ints(2, 3)), types=BOTH),
    Trial("Slice", ((4, 5), ints(1, 0), ints(4, -1), ints(0, 1), ints(2, 1)), types=BOTH),
    Trial("Slice", ((4, 5), ints(-1), ints(-100), ints(1), ints(-1)), types=BOTH),
    Trial("Gather", ((4, 5), ints(2, -1, 0)), {"axis": 1}, types=BOTH),
    Trial("GatherElements", ((2, 3), np.array([[0, -1, 1]], np.int64)), {"axis": 0}, types=BOTH),
    Trial("GatherND", ((2, 3), np.array([[0, 1], [1, -1]], np.int64)), types=BOTH),
    Trial("ScatterND", ((4, 3), np.array([[0], [2]], np.int64), (2, 3)), types=BOTH),
    Trial("ScatterND", ((4, 3), np.array([[0], [2]], np.int64), (2, 3)), {"reduction": "add"}, types=FLOATS),
    Trial("ScatterElements", ((2, 3), np.array([[0, 1, 1]], np.int64), (1, 3)), types=BOTH),
    Trial("Concat", ((2, 3), (2, 2)), {"axis": 1}, types=BOTH),
    Trial("Split", ((2, 6), ints(2, 4)), {"axis": 1}, results=2, types=BOTH),
    Trial("Pad", ((2, 3), ints(1, 0, 0, 2)), types=FLOATS),
    Trial("Pad", ((2, 3), ints(1, 0, 0, 2)), {"mode": "edge"}),
    Trial("Pad", ((2, 3), ints(1, 0, 0, 2), number(7.0))),
    Trial("Trilu", ((3, 3),), {"upper": 0}, types=BOTH),
    Trial("DepthToSpace", ((1, 8, 2, 3),), {"blocksize": 2}),
    Trial("SpaceToDepth", ((1, 2, 4, 6),), {"blocksize": 2}),
    Trial("ReverseSequence", ((4, 3), ints(1, 4, 2)), {"time_axis": 0, "batch_axis": 1}),
    Trial("Where", (np.array([[True, False, True]]), (2, 3), (2, 3)), types=BOTH),
    Trial("OneHot", (ints(0, 2, -1), ints(3), (2,))),
    Trial("Shape", ((2, 3),)),
    Trial("Size", ((2, 3),)),
    Trial("NonZero", ((2, 3),), types=BOTH),
    Trial("Compress", ((2, 3), np.array([True, False, True])), {"axis": 1}),
    Trial("EyeLike", ((3, 3),)),
    *(Trial("Cast", ((2, 3),), {"to": to}, types=("float32", "int32")) for to in (1, 7, 10, 11, 9)),
    *(Trial("Cast", ((2, 3),), {"to": to}, types=("int32", "int64", "float64")) for to in (1, 3, 6, 9, 10, 11)),
    Trial("CastLike", ((2, 3), ints(1)), types=FLOATS, tame=True),
    Trial("MatMul", ((2, 3), (3, 4))),
    Trial("MatMul", ((2, 3, 4), (4, 5))),
    Trial("MatMul", ((3,), (3, 4))),
    Trial("MatMul", ((2, 3), floats([[1, -2, 0], [0.5, 3, 1e-30], [-1, 0, 7]]))),
    Trial("MatMul", (floats([[1, -2, 0], [0.5, 3, 1e-30]]), (3, 2))),
    Trial("Gemm", ((2, 3), (3, 4), (4,)), {"alpha": 0.5, "beta": 2.0}),
    Trial("Gemm", ((3, 2), (4, 3), (2, 4)), {"transA": 1, "transB": 1}),
    Trial("Einsum", ((2, 3), (3, 4)), {"equation": "ij,jk->ik"}),
    Trial("Einsum", ((2, 3), (2, 3)), {"equation": "ij,ij->i"}),
    Trial("Conv", ((1, 2, 5), floats([[[1, -1, 0], [2, 0.5, -3]], [[0, 0, 0], [1, 1, 1]]]), (2,)), {"pads": [1, 1]}),
    Trial("Conv", ((1, 2, 5, 5), (3, 2, 3, 3))),
    Trial("ConvTranspose", ((1, 2, 5), (2, 3, 3)), {"strides": [2]}),
    Trial("MaxPool", ((1, 2, 6),), {"kernel_shape": [3], "strides": [2], "pads": [1, 1]}),
    Trial("AveragePool", ((1, 2, 6),), {"kernel_shape": [3], "pads": [1, 1], "count_include_pad": 1}),
    Trial("AveragePool", ((1, 2, 6),), {"kernel_shape": [2]}),
    *(Trial(name, ((1, 2, 3, 4),)) for name in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")),
    Trial("LpPool", ((1, 2, 6),), {"kernel_shape": [3]}),
    Trial("LRN", ((1, 4, 3, 3),), {"size": 3}, tame=True),
    Trial("LayerNormalization", ((3, 16), (16,), (16,))),
    Trial("LayerNormalization", ((3, 16), (16,)), {"epsilon": 1e-3}, results=1),
    Trial("RMSNormalization", ((3, 16), (16,)), opset=23),
    Trial("InstanceNormalization", ((2, 3, 8), (3,), (3,))),
    Trial("GroupNormalization", ((2, 4, 8), (4,), (4,)), {"num_groups": 2}, opset=21),
    Trial("BatchNormalization", ((2, 3, 4), (3,), (3,), (3,), floats([1, 0.1, 3]))),
    Trial("LpNormalization", ((2, 5),), {"axis": 1, "p": 2}),
    Trial("LpNormalization", ((2, 5),), {"axis": 1, "p": 1}),
    Trial("MeanVarianceNormalization", ((2, 3, 4, 4),), tame=True),
    Trial("QuantizeLinear", ((2, 3), number(0.1), np.array(3, np.uint8))),
    Trial("QuantizeLinear", ((2, 3), (), np.array(3, np.int8))),
    Trial("DequantizeLinear", ((2, 3), number(0.1), np.array(3, np.uint8)), types=("uint8",)),
    Trial("DynamicQuantizeLinear", ((2, 3),), results=3),
    Trial("DynamicQuantizeLinear", (floats([-127, 128]),), results=3),
    Trial("QLinearMatMul", ((2, 3), *_SCALED, (3, 4), *_SCALED, *_SCALED), types=("uint8",)),
    Trial("Resize", ((1, 1, 4, 4), floats([]), floats([1, 1, 2, 2])), {"mode": "linear"}),
    Trial("Resize", ((1, 1, 4, 4), floats([]), floats([1, 1, 2, 2])), {"mode": "cubic"}, tame=True),
    Trial("Resize", ((1, 1, 4, 4), floats([]), floats([1, 1, 2, 2])), {"mode": "cubic", "cubic_coeff_a": -50.0},
          tame=True),
    Trial("Dropout", ((2, 3),)),
    Trial("RandomNormal", (), {"shape": [2, 3]}),
    Trial("RandomNormalLike", ((2, 3),), {"dtype": 11}),
    Trial("RandomUniform", (), {"shape": [2, 3], "low": -2.0, "high": 3.0}),
    Trial("RandomUniformLike", ((2, 3),)),
    Trial("Unique", ((5,),), results=4),
    Trial("Unique", ((2, 3),), {"axis": 1}, results=4),
    Trial("Clip", attributes={"min": -1.0, "max": 2.0}, opset=6),
    Trial("Pad", attributes={"pads": [1, 0, 0, 2], "value": 7.0}, opset=10),
    Trial("ReduceSum", ((2, 3, 4),), {"axes": [1], "keepdims": 0}, opset=11),
    Trial("Slice", ((4, 5),), {"starts": [1, 0], "ends": [4, -1], "axes": [0, 1]}, opset=9),
    Trial("Split", ((2, 6),), {"axis": 1, "split": [2, 4]}, opset=11, results=2),
    Trial("Squeeze", ((2, 1, 3),), {"axes": [1]}, opset=11),
    Trial("TopK", ((2, 5),), {"axis": 1, "k": 3}, opset=9, results=2),
    Trial("Unsqueeze", attributes={"axes": [0, 3]}, opset=11),
    *(Trial(name, ((2, 3), np.array([True, False, True])), types=("bool",)) for name in ("And", "Or", "Xor")),
    Trial("CenterCropPad", ((4, 5), ints(2, 7)), types=FLOATS),
    Trial("IsInf", attributes={"detect_negative": 0}),
)  # fmt: skip
_U8 = np.dtype("uint8")
_QUANTISED = (0, 255, _U8, (1, 2, 5))
_LABELS = (0, 2, np.int64, (2,))
UNCOMPUTED = (
    Trial("Bernoulli"),
    Trial("Bernoulli", attributes={"dtype": 7}),
    Trial("BitCast", attributes={"to": 6}),
    *(Trial("BitShift", ((2, 3), (3,)), {"direction": way}, types=("uint8", "uint32")) for way in ("LEFT", "RIGHT")),
    *(Trial(name, (ints(10)[0],)) for name in ("BlackmanWindow", "HammingWindow", "HannWindow")),
    Trial("HannWindow", (ints(10)[0],), {"output_datatype": 11}),
    Trial("BatchNormalization", ((2, 3, 4), *[(3,)] * 4), {"training_mode": 1}, results=3),
    Trial("BatchNormalization", ((2, 3, 4), *[(3,)] * 4), {"epsilon": 0.5}),
    Trial("BatchNormalization", ((2, 3, 4), *[(3,)] * 4), opset=6),
    # Of float64, that the epsilon may be off by a rounding in float32 shows.
    Trial("BatchNormalization", ((2, 3, 4), *[(3,)] * 3, floats([0, 0.75, 3.75])), {"epsilon": 0.25}, ("float64",)),
    Trial("BatchNormalization", ((2, 3, 4), *[(3,)] * 3, floats([0, 0.75, 3.75])), {"epsilon": 0.0}),
    *(Trial("Cast", attributes={"to": name}, opset=1) for name in ("INT32", "TEXT")),
    Trial("CastLike", ((2, 3), ints(1))),
    *(Trial("Clip", ((2, 3), None, number(most))) for most in (2, -np.inf)),
    Trial("Clip", ((2, 3), number(-np.inf), number(-np.inf))),
    *(Trial("Cast", (ends,), {"to": 3}) for ends in (ints(-128, 127), ints(-129, 0), ints(0, 128))),
    Trial("Cast", (floats([-128, 127]),), {"to": 3}),
    Trial("Col2Im", ((1, 4, 4), ints(3, 3), ints(2, 2))),
    *(Trial(name, (ints(5, 1, 7), ints(2, 1, 4)), types=("int64",)) for name in ("Add", "Sub", "Mul", "Div", "Mod")),
    *(Trial("Mul", (ints(5, 1), other)) for other in (np.array([[3, 2]]), ints(2)[0], ints(2))),
    *(Trial(f"Reduce{name}", (ints(5, 1, 7), ints(0))) for name in ("Sum", "Prod", "Max", "Min")),
    *(Trial(name, (ints(5, 1, 7), ints(0))) for name in ("Squeeze", "Unsqueeze", "Gather")),
    *(Trial("Gather", (ints(5, 1, 7), index)) for index in (ints(2)[0], np.array([[2, 1]]))),
    Trial("Slice", (ints(5, 1, 7), ints(1), ints(9))),
    *(Trial(name, pair, types=("int64",)) for name in ("Add", "Sub") for pair in (((3,), ints(0)), (ints(0), (3,)))),
    Trial("Sub", (np.array(0), np.array([-(2**63), 5]))),
    Trial("Sub", (np.array(0, np.uint8), (3,)), types=("uint8",)),
    Trial("Sub", (np.array(0, np.uint8), (0, 5, np.uint8, (3,)))),
    Trial("Concat", (ints(5, 1, 7), ints(3)), {"axis": 0}),
    Trial("Reshape", (ints(5, 1, 7, 3), ints(2, 2))),
    Trial("Cast", (ints(5, 1, 7),), {"to": 6}),
    Trial("Pow", (ints(5, 1, 7), ints(2)[0])),
    *(Trial(name, ((2, 3),)) for name in ("Max", "Mean", "Min", "Sum")),
    Trial("Concat", ((3,), (2,)), {"axis": 0}, types=BOTH),
    Trial("Concat", (ints(2, 3), (2,)), {"axis": 0}, types=("int64",)),
    Trial("ConcatFromSequence", attributes={"axis": 0}),
    Trial("ConstantOfShape", (ints(2, 3),)),
    Trial("ConstantOfShape", (ints(2, 3),), {"value": ints(7)}),
    Trial("ConvInteger", ((1, 2, 5), (3, 2, 2)), types=("uint8",)),
    Trial("Conv", ((1, 4, 5, 6), (2, 2, 3, 3)), {"group": 2, "strides": [2, 1], "auto_pad": "SAME_UPPER"}),
    Trial("Conv", ((1, 2, 5, 6), (2, 2, 3, 3)), {"dilations": [1, 2]}),
    *(Trial("ConvTranspose", ((1, 2, 5), (2, n, 3), (2 * n,)), {"group": 2}) for n in (3, 1)),
    *(Trial("CumProd", ((2, 3), ints(1)[0]), attributes, opset=26) for attributes in ({}, {"exclusive": 1})),
    Trial("DFT", ((1, 4, 2),)),
    Trial("DeformConv", ((1, 1, 3, 3), (1, 1, 2, 2), (1, 8, 2, 2))),
    Trial("DequantizeLinear", ((2, 3), (3,)), {"output_dtype": 10}, types=("int8",), opset=23),
    Trial("DepthToSpace", ((1, 9, 2, 3),), {"blocksize": 3}),
    Trial("Det", ((2, 3, 3),)),
    Trial("Dropout", ((2, 3), number(0.5), np.array(True)), results=2),
    Trial("Dropout", opset=6, results=2),
    *(Trial("Einsum", ((2, 3), (3, 4), (4,)), {"equation": f"ij,jk,k{end}"}) for end in ("->i", "->", "")),
    Trial("EyeLike", ((3, 3),), {"dtype": 7, "k": 1}),
    Trial("Gather", ((4,), ints(3, 0)), {"axis": 0}, types=BOTH),
    Trial("Gather", ((4, 5), (1, 3, np.int64, (2, 2))), {"axis": 0}),
    Trial("Gather", ((2, 3), (-2, -1, np.int64, ())), {"axis": 1}),
    *(Trial("Gather", (floats([1, 2, 3]), (low, low + 1, np.int64, ()))) for low in (-3, -1, 0, 1, 3)),
    Trial("Gather", ((2, 3), ints(0, 1, 2)), {"axis": 1}),
    Trial("GatherND", ((2, 3), np.array([[[0, 0], [0, 1], [0, 2]]], np.int64))),
    Trial("GatherND", ((2, 3), np.array([[0], [2]], np.int64)), {"batch_dims": 1}),
    Trial("Gemm", ((2, 3), (3, 4)), {"alpha": 0.0}),
    Trial("GroupNormalization", ((1, 2, 4), (2,), (2,)), {"num_groups": 1}, opset=21),
    Trial("GroupNormalization", ((1, 2, 4), (2,), (2,)), {"num_groups": 1, "epsilon": 1e-8}, opset=18),
    Trial("GroupNormalization", ((1, 2, 4), (2,), (2,)), {"num_groups": 1, "epsilon": 1e-8}, opset=21),
    Trial("GroupNormalization", ((1, 2, 4), (2,), (2,)), {"num_groups": 1, "epsilon": 0.5}, opset=21),
    Trial("InstanceNormalization", ((2, 3, 4), (3,), (3,)), {"epsilon": 1e-8}),
    Trial("LayerNormalization", ((2, 3, 4), (4,)), {"epsilon": 1e-8}),
    Trial("LayerNormalization", ((2, 4), (4,)), types=("float32", "float64"), results=3),
    *(Trial("GridSample", ((1, 2, 4, 4), (1, 3, 3, 2)), {"mode": mode}, opset=20) for mode in ("linear", "cubic")),
    *(
        Trial(name, (floats([0, 1, 2]), floats([1, 1, 1])))
        for name in ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
    ),
    *(
        Trial(name, ((2, 3), number(0.75)))
        for name in ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
    ),
    Trial("LRN", ((1, 4, 3, 3),), {"size": 3, "alpha": 0.5, "beta": 0.0}),
    Trial("LRN", ((1, 4, 3, 3),), {"size": 3, "alpha": -0.5, "bias": 4.0}),
    Trial("LpNormalization", (floats([[1, 2, 3], [0, 0, 4]]),)),
    Trial("LSTM", ((2, 1, 3), (1, 8, 3), (1, 8, 2)), {"hidden_size": 2}, results=3),
    Trial("LSTM", ((2, 1, 3), (1, 8, 3), (1, 8, 2)), {"activations": ["Relu", "Tanh", "Tanh"]}, results=3),
    Trial("LpPool", ((1, 2, 6),), {"kernel_shape": [3], "p": 3, "ceil_mode": 1}),
    Trial("MatMul", ((1, 70_000), np.ones((70_000, 2), np.float32))),
    Trial("MatMul", (np.full((2, 2), 1e-200), np.full((2, 2), 1e-200))),
    Trial("MatMul", ((2, 3), np.arange(-5, 7, dtype=np.int32).reshape(3, 4)), types=("int32",)),
    Trial("MatMulInteger", ((2, 3), (3, 4)), types=("uint8",)),
    Trial("MaxPool", ((1, 2, 6),), {"kernel_shape": [3], "auto_pad": "VALID"}, results=2),
    Trial("MaxPool", (np.full((1, 1, 4), -np.inf, np.float32),), {"kernel_shape": [2]}),
    Trial("MaxRoiPool", ((1, 2, 6, 6), (2, 5))),
    Trial("MaxUnpool", ((1, 1, 2, 2), (0, 9, np.int64, (1, 1, 2, 2)))),
    Trial("MelWeightMatrix", (ints(8)[0], ints(16)[0], ints(8000)[0], number(0), number(4000))),
    Trial("Multinomial", attributes={"sample_size": 4}),
    Trial("Multinomial", attributes={"dtype": 7}),
    *(
        Trial(name, ((2, 3), _LABELS, *more), attributes, results=1)
        for name in ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
        for more, attributes in (([], {}), ([(3,)], {"ignore_index": 1}), ([(3,)], {"reduction": "sum"}))
    ),
    Trial("NonMaxSuppression", ((1, 5, 4), (1, 2, 5))),
    Trial("OneHot", ((0, 2, np.int64, (2, 2)), ints(3), floats([0, 1])), {"axis": 0}),
    Trial("OneHot", ((0, 3, np.int64, (2, 2)), ints(3), floats([0, 1]))),
    *(Trial(f"Optional{name}") for name in ("", "GetElement", "HasElement")),
    Trial("Pad", ((2, 3), ints(1, 2), None, ints(1))),
    Trial("Pow", ((2, 3), (2, 3)), types=("int32",)),
    Trial("Pow", (floats([2.0**-74.5]), number(2))),
    Trial("Pow", ((2, 3), number(0.3))),
    Trial("Pow", ((2, 3), floats([-1, 0.5, -2]))),
    Trial("QLinearConv", (_QUANTISED, *_SCALED, (0, 255, _U8, (3, 2, 2)), *_SCALED, *_SCALED)),
    *(Trial("Range", (number(a), number(b), number(c))) for a, b, c in ((1, 7, 2), (0, 1, 0.25), (5, 0, -1))),
    Trial("Range", ((), (), number(1)), types=BOTH),
    Trial("Range", ((), (), ())),
    *(Trial("Range", tuple(ints(*ends))) for ends in ((2, 7, 2), (1, 7, 1), (5, 4, 1))),
    Trial("ReduceMean", ((2, 0, 3), ints(1))),
    *(Trial(f"Reduce{kind}", ((2, 3, 4), ints(1)), types=("int32",)) for kind in ("L1", "L2", "LogSum", "LogSumExp")),
    Trial("ReduceSum", ((4,), ints(0)), {"keepdims": 0}, types=BOTH),
    Trial("ReduceProd", ((4,), ints(0)), {"keepdims": 0}, types=BOTH),
    *(
        Trial(f"Reduce{name}", ((2, 3), ints()), {"noop_with_empty_axes": 1})
        for name in ("Max", "Mean", "Min", "Prod", "Sum")
    ),
    Trial("QuantizeLinear", ((2, 3), number(0.5))),
    Trial("QuantizeLinear", ((2, 3), number(0.5)), {"output_dtype": 3}, opset=21),
    Trial("Resize", ((1, 1, 4, 4), None, None, ints(1, 1, 6, 2)), {"mode": "linear"}),
    Trial("Resize", ((1, 1, 4, 4), None, None, ints(1, 1, 6, 2)), {"keep_aspect_ratio_policy": "not_larger"}),
    Trial("Resize", ((1, 1, 4, 4), (8,), floats([1, 1, 2, 2])),
          {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 9.0}),
    Trial("Resize", ((1, 1, 4, 4), None, floats([1, 1, 2, 2])), {"mode": "cubic", "exclude_outside": 1}),
    Trial("Resize", (np.full((1, 1, 2, 2), 8e37, np.float32), None, floats([1, 1, 2, 2])), {"mode": "cubic"}),
    Trial("RoiAlign", ((1, 2, 6, 6), (2, 4), (0, 0, np.int64, (2,)))),
    Trial("RotaryEmbedding", ((1, 2, 3, 4), (5, 2), (5, 2), (0, 4, np.int64, (1, 3))), opset=23),
    Trial("STFT", ((1, 16, 1), ints(4)[0])),
    Trial("Scatter", ((2, 3), np.array([[0, 1, 1]], np.int64), (1, 3))),
    Trial("ScatterND", ((2, 3), np.array([[0, 1], [1, 1]], np.int64), (2,))),
    Trial("ScatterND", ((4, 3), np.array([[0], [2]], np.int64), (2, 3)), {"reduction": "mul"}),
    Trial("SequenceAt", ((2, 3), ints(0)[0])),
    *(Trial(f"Sequence{name}", ((2, 3), (2, 3))) for name in ("Construct", "Insert")),
    *(Trial(f"Sequence{name}") for name in ("Erase", "Length")),
    Trial("SequenceEmpty", (), {"dtype": 7}),
    Trial("SplitToSequence", ((4, 3),), {"axis": 1, "keepdims": 0}),
    Trial("SplitToSequence", ((4, 3), ints(2, 2))),
    Trial("Shape", ((2, 3, 4),), {"start": 1, "end": -1}),
    Trial("Slice", ((6,), ints(1), ints(-1)), types=BOTH),
    *(Trial("Slice", ((9,), ints(1), ints(4), *more)) for more in ((), (ints(0), ints(1)), (ints(0), ints(2)))),
    *(
        Trial("Slice", ((6,), *map(ints, (start, end, 0, step))))
        for start, end, step in ((1, 2**31, 1), (-2, 2**31, 1), (-1, 2**31, 1), (0, 2**31 - 1, 1), (1, 2**31, 2))
    ),
    Trial("Slice", ((6,), ints(-1), ints(-(2**31) - 1), ints(0), ints(-1))),
    Trial("Split", ((5, 2),), results=2),
    Trial("Split", (floats([1, 2, 3]), ints(0, 3)), results=2),
    Trial("Squeeze", ((2, 1, 3),)),
    Trial("TensorScatter", ((1, 4, 3), (1, 2, 3)), opset=24),
    *(Trial("ThresholdedRelu", (floats([0.3]),), {"alpha": alpha}) for alpha in (0.29, 0.3)),
    Trial("Tile", ((2, 3), ints(2))),
    Trial("Mul", (number(4095), number(4101))),  # An integer beyond those that float32 holds.
    Trial("Range", (number(0), number(2**25), number(1))),
    Trial("Trilu", ((3, 3), ints(1)[0])),
    Trial("Unique", ((1,),), results=4),
    Trial("Upsample", ((1, 1, 2, 2), floats([1, 1, 2, 2])), opset=9),
    Trial("FusedMatMul", ((2, 3), (3, 4)), {"alpha": 0.5}, domain="com.microsoft"),
    Trial("QLinearConv", (_QUANTISED, *_SCALED, (0, 255, _U8, (3, 2, 2)), *_SCALED, *_SCALED), domain="com.microsoft"),
    Trial("QLinearReduceMean", (_QUANTISED, *_SCALED, *_SCALED), {"axes": [1]}, domain="com.microsoft"),
)  # fmt: skip
"""What ONNX's reference evaluator does not compute, or otherwise; and further ways to call what it computes."""
