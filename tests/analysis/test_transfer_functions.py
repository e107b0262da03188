"""Each transfer function alone, on operands at the edges of their types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations_with_replacement, product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto
from onnx.defs import get_all_schemas

from tests.analysis.containment import complaint, enclosing, looked_at
from tests.analysis.operators import TRIALS, Trial
from tests.analysis.trying import OTHER_FLOATS, Engine, complaints, of_every_type, single
from vinculum.analysis.domain.abstract_tensor import AbstractTensor, anything
from vinculum.analysis.domain.dimensions import unknown_size
from vinculum.analysis.transfer.operators import TABLE

_OTHERWISE = {
    "DynamicQuantizeLinear": OTHER_FLOATS,  # ONNX has it in float32 alone.
    "Erf": ("float64",),  # It has an error of 1e-7.
    "GlobalLpPool": ("float32", *OTHER_FLOATS),  # It is not there.
    "LogSoftmax": ("float32", *OTHER_FLOATS),  # It is the logarithm of what has underflowed.
    "MeanVarianceNormalization": OTHER_FLOATS,  # Its body has constants in float32.
    "OneHot": ("float32", *OTHER_FLOATS),  # It takes no depth of one dimension.
    "QuantizeLinear": ("float32", *OTHER_FLOATS),  # It converts infinities to integers.
    "ReduceSumSquare": ("int32",),  # It widens.
}
"""Element types in which ONNX's reference evaluator deviates from ONNX or fails; tests/runtimes covers them."""


@pytest.mark.parametrize("operator", sorted({trial.operator for trial in TRIALS}))
def test_what_is_computed_lies_inside(operator: str) -> None:
    for trial, element_type in of_every_type(operator):
        if element_type not in _OTHERWISE.get(operator, ()):
            rounds = 8 if element_type in trial.types else 3
            assert list(complaints(trial, element_type, 1, rounds)) == []


_LITTLE: dict[str, Callable[[AbstractTensor], AbstractTensor]] = {
    "nothing": lambda known: anything("", None),
    "the element type": lambda known: anything(known.element_type, None),
    "the rank": lambda known: anything(known.element_type, tuple(unknown_size() for _ in known.shape or ())),
    "the shape": lambda known: anything(known.element_type, known.shape),
}


@pytest.mark.parametrize("operator", sorted({trial.operator for trial in TRIALS}))
def test_so_it_does_where_little_is_known(operator: str) -> None:
    for trial, element_type in of_every_type(operator):
        if element_type in trial.types and element_type not in _OTHERWISE.get(operator, ()):
            for what, left in _LITTLE.items():
                assert list(complaints(trial, element_type, 1, 1, left=left)) == [], what


_BY_ML_DTYPES: dict[str, Callable[..., Any]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "Max": np.maximum,
    "Sqrt": np.sqrt,
    "Exp": np.exp,
    "Tanh": np.tanh,
    "Abs": np.abs,
    "Neg": np.negative,
    "Floor": np.floor,
    "Reciprocal": lambda x: np.ones((), ml_dtypes.bfloat16) / x,
}


class _RoundedAfterEvery:
    """A session of bfloat16, which ONNX Runtime's CPU lacks: ml_dtypes rounds after every operator."""

    def __init__(self, model: ModelProto) -> None:
        (self._node,) = model.graph.node

    def run(self, names: None, inputs: Mapping[str, NDArray[Any]], /) -> list[Any]:
        with np.errstate(all="ignore"):
            result = _BY_ML_DTYPES[self._node.op_type](*(inputs[name] for name in self._node.input))
        return [result.astype(ml_dtypes.bfloat16)]


@pytest.mark.parametrize("operator", _BY_ML_DTYPES)
def test_what_is_computed_in_bfloat16_lies_inside(operator: str) -> None:
    count = 2 if operator in ("Add", "Sub", "Mul", "Div", "Max") else 1
    trial = Trial(operator, ((2, 3),) * count)
    assert list(complaints(trial, "bfloat16", 0, 300, _RoundedAfterEvery)) == []


@pytest.mark.parametrize("operator", ["Add", "Sub"])
@pytest.mark.parametrize("element_type", ["int8", "uint8"])
def test_sums_that_wrap_to_zero(operator: str, element_type: str) -> None:
    """All values of intervals, at either end of the type too."""
    info, model = np.iinfo(element_type), single(Trial(operator, (("n",), ("n",))), element_type)
    engine = Engine(model)
    ends = sorted({int(info.min), int(info.min) + 3, max(int(info.min), -3), 0, 2, int(info.max) - 2, int(info.max)})
    intervals = [range(low, high + 1) for low, high in combinations_with_replacement(ends, 2) if high - low < 6]
    for points in product(intervals, repeat=2):
        columns = np.array(list(product(*points))).T.astype(element_type)
        inputs = {f"x{place}": column for place, column in enumerate(columns)}
        known = {name: one for name, column in inputs.items() if (one := enclosing(column)) is not None}
        found = looked_at(model, known, infer=False)[1].values["y0"]
        result = np.asarray(engine.run(None, inputs)[0])
        assert complaint(found, result) == "", points
        if operator == "Sub" or (element_type == "int8" and points[1][0] != info.min):
            assert found.may_zero == bool((result == 0).any()), points


class TestRegistry:
    """What the tables hold."""

    def test_at_least_150_operators_of_the_standard(self) -> None:
        current = {schema.name for schema in get_all_schemas() if schema.domain == "" and not schema.deprecated}
        assert len({name for domain, name in TABLE if not domain} & current) >= 150

    def test_only_operators_of_the_standard(self) -> None:
        names = {schema.name for schema in get_all_schemas() if schema.domain == ""} | {"Scatter", "Upsample"}
        of_onnxruntime = {"SimplifiedLayerNormalization"}
        assert {name for domain, name in TABLE if not domain} <= names | of_onnxruntime
