"""Bounds are attained: hardly wider than what the ends of the operands give; shapes and element types are exact."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.analysis.containment import looked_at
from tests.analysis.operators import TRIALS, Trial
from tests.analysis.trying import Engine, single
from vinculum.analysis.domain.abstract_tensor import AbstractTensor, tensor
from vinculum.analysis.domain.formats import is_discrete

Array = NDArray[Any]
Ends = Mapping[str, tuple[Array, Array]]
KINDS = {"around zero": (-3.0, 3.0, 2.0), "positive": (0.5, 3.0, 2.0), "below one": (-0.8, 0.5, 0.3)}
"""The least and the largest lower end, and the largest width."""
_UNTRIED = frozenset(("GRU", "GlobalLpPool", "LogSoftmax", "OneHot", "RNN"))
"""What ONNX's reference evaluator does not compute, or otherwise, or has operands of several kinds."""
_POSITIVE = frozenset(("Div", "Mod", "Pow", "Reciprocal"))
"""Operators that are not bounded around zero."""
_UNBOUNDED = frozenset(
    (
        *("BitwiseAnd", "BitwiseOr", "BitwiseXor", "Cast", "DynamicQuantizeLinear", "Equal", "GroupNormalization"),
        *("LpNormalization", "MeanVarianceNormalization", "QLinearMatMul", "RandomNormal", "RandomNormalLike"),
        *("RandomUniform", "RandomUniformLike", "ReduceProd", "Tan"),
    )
)
"""Operators whose bounds depend on more than the ends, or are not close."""
_OF_UNKNOWN_SIZE = frozenset(("CenterCropPad", "Compress", "ConvTranspose", "NonZero", "Resize", "Unique"))
_AS_A_WHOLE = {
    **dict.fromkeys(("ArgMax", "ArgMin", "DepthToSpace", "EyeLike", "Hardmax", "Pad"), 0.0),
    **dict.fromkeys(("ReverseSequence", "SpaceToDepth", "Tile"), 0.0),
    **dict.fromkeys(("Abs", "DequantizeLinear", "Gelu", "HardSwish", "LeakyRelu", "Mish", "Sub", "Swish"), 0.05),
    **dict.fromkeys(("LRN", "PRelu", "ReduceL1", "ReduceL2", "ReduceSumSquare", "Trilu"), 0.6),
    "AveragePool": 0.95, "Conv": 7.5, "Cos": 0.7, "CumSum": 1.4, "Einsum": 4.2, "GatherElements": 1.8, "GatherND": 1.5,
    "Gemm": 2.2, "GlobalAveragePool": 4.2, "GlobalMaxPool": 3.7, "InstanceNormalization": 0.5, "MatMul": 1.6,
    "LayerNormalization": 2.5, "LpPool": 0.7, "MaxPool": 0.4, "Mod": 0.5, "QuantizeLinear": 1, "ReduceMean": 1.7,
    "RMSNormalization": 6, "ReduceLogSumExp": 3.8, "ScatterElements": 0.3, "ScatterND": 3.7, "Sin": 0.7,
    "Softmax": 9, "TopK": 1,
}  # fmt: skip
"""Operators of which one interval holds all elements, and by how much that is wider; the rest is of every element."""


def _ends(trial: Trial, element_type: str, kind: str, rng: np.random.Generator) -> Ends:
    """Return ends for each element of the operands."""
    least, most, width = KINDS[kind]
    found = {}
    for place, operand in enumerate(trial.operands):
        if isinstance(operand, tuple):
            low = rng.uniform(least, most, operand)
            high = low + rng.uniform(0, width, operand)
            if is_discrete(element_type):
                low, high = np.ceil(low), np.ceil(high) + 1
            if element_type in ("uint8", "bool"):
                low, high = np.clip((low, high), 0, 1 if element_type == "bool" else 255)
            found[f"x{place}"] = (low.astype(element_type), high.astype(element_type))
    return found


def _chosen(ends: Ends, rng: np.random.Generator) -> Iterator[Mapping[str, Array]]:
    """Yield operands at their ends: each all low or all high, then each element by itself."""
    for highs in product((0, 1), repeat=len(ends)):
        yield {name: pair[high] for (name, pair), high in zip(ends.items(), highs, strict=True)}
    for _ in range(20):
        yield {name: np.where(rng.random(low.shape) < 0.5, low, high) for name, (low, high) in ends.items()}


def _wider(known: AbstractTensor, results: Array, *, whole: bool) -> float:
    """Return by how much bounds are wider than results, as a part of their width or a twentieth of their magnitude."""
    low, high = results.min(axis=0), results.max(axis=0)
    wide = np.broadcast_to(known.high, low.shape) - np.broadcast_to(known.low, low.shape)
    if whole:
        low, high, wide = low.min(), high.max(), known.high.max() - known.low.min()
    size = np.maximum(high - low, 0.05 * np.maximum(np.abs(low), np.abs(high)) + 1e-2)
    return float(np.max((wide - (high - low)) / size))


def _tried(trial: Trial, element_type: str, kind: str) -> Iterator[tuple[AbstractTensor, list[Array]]]:
    """Yield what is known of each result, and the results of runs."""
    rng = np.random.default_rng(0)
    ends, model = _ends(trial, element_type, kind, rng), single(trial, element_type)
    inputs = {
        name: tensor(element_type, low.shape, low, high, integral=is_discrete(element_type))
        for name, (low, high) in ends.items()
    }
    (_, scope), engine = looked_at(model, inputs, infer=False), Engine(model)
    runs = [engine.run(None, chosen) for chosen in _chosen(ends, rng)] if ends else []
    for place in range(trial.results):
        yield scope.values[f"y{place}"], [np.asarray(run[place]) for run in runs]


@pytest.mark.parametrize("operator", sorted({trial.operator for trial in TRIALS} - _UNTRIED))
def test_bounds_are_attained(operator: str) -> None:
    whole, loose = operator in _AS_A_WHOLE, _AS_A_WHOLE.get(operator, 0.0)
    for trial in TRIALS:
        for element_type, kind in product(trial.types if trial.operator == operator else (), KINDS):
            if operator in _POSITIVE and kind != "positive":
                continue
            for known, results in _tried(trial, element_type, kind):
                assert operator == "ReduceSumSquare" or {one.dtype.name for one in results} <= {known.element_type}
                if operator in _OF_UNKNOWN_SIZE:
                    continue
                numbers = np.array(results, np.float64)
                assert not results or known.shape == numbers.shape[1:]
                if np.isfinite(numbers).all() and numbers.size and operator not in _UNBOUNDED:
                    least = 0.12 if element_type == "float16" else 3e-3
                    assert _wider(known, numbers, whole=whole) <= max(loose, least), f"{trial} {element_type} {kind}"
                    assert not known.may_nan
