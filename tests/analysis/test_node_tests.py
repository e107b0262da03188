"""ONNX's own node tests: every output lies within its bounds, and the operators without bounds are listed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, numpy_helper

from tests.analysis.containment import complaint, enclosing, looked_at
from tests.onnx_cases import node_cases
from vinculum.analysis.domain.abstract_tensor import AbstractTensor, constant
from vinculum.analysis.domain.formats import is_discrete

UNKNOWN = {
    *("CausalConvWithState", "ImageDecoder", "SequenceMap", "TfIdfVectorizer"),
    *("RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit"),
}
"""Operators of ONNX's own domain that the analysis does not know; most handle text."""


def known_of(array: Any, *, exactly: bool) -> AbstractTensor | None:
    """Return an array as a constant or, but for short lists of integers, as one interval."""
    if exactly or (is_discrete(array.dtype.name) and array.size < 9):
        return constant(array) if array.dtype.kind in "fiub" else None
    return enclosing(array)


def arrays(values: Any) -> Iterator[Any]:
    """Yield tensors as arrays; None for anything else."""
    for value in values:
        array = numpy_helper.to_array(value) if isinstance(value, TensorProto) else value
        plain = isinstance(array, np.ndarray | np.generic)
        yield np.asarray(array) if plain and np.asarray(array).dtype.kind not in "OUS" else None


def looked_into(case: Any, *, exactly: bool) -> Iterator[tuple[str, set[str]]]:
    """Yield for each output of a case the bound that it violates, empty if none, and the unknown operators."""
    model = deepcopy(case.model)
    del model.graph.value_info[:]
    for output in model.graph.output:
        output.type.Clear()
    for inputs, outputs in case.data_sets:
        given = zip(model.graph.input, arrays(inputs), strict=False)
        known = {i.name: known_of(array, exactly=exactly) for i, array in given if array is not None}
        interpreter, scope = looked_at(model, {n: k for n, k in known.items() if k is not None}, infer=False)
        for value, array in zip(model.graph.output, arrays(outputs), strict=False):
            said = "" if array is None else complaint(scope.values[value.name], array)
            yield said and f"{case.name}: {value.name}: {said}", set(interpreter.unknown)


def assert_all_lie_inside(cases: Iterable[tuple[Any, bool]]) -> None:
    found = [each for case, exactly in cases for each in looked_into(case, exactly=exactly)]
    assert [said for said, _ in found if said] == []
    assert {name for _, unknown in found for name in unknown if "." not in name} == UNKNOWN
    assert len(found) > 1000


def test_every_output_lies_inside() -> None:
    """Of every second case the inputs are constants, of the others intervals; bodies written out are left out."""
    cases = [case for case in node_cases() if "_expanded" not in case.name]
    assert_all_lie_inside((case, number % 2 == 0) for number, case in enumerate(cases))


@pytest.mark.exhaustive
@pytest.mark.parametrize("exactly", [True, False], ids=["constants", "intervals"])
def test_every_output_lies_inside_of_all(exactly: bool) -> None:
    assert_all_lie_inside((case, exactly) for case in node_cases())
