"""What is known after a few operators: facts on rows that move along, and bounds and shapes that are hardly wider."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tests.analysis.containment import complaint, looked_at
from tests.analysis.hazardous import parsed
from tests.analysis.trying import Engine
from vinculum.analysis.domain.abstract_tensor import AbstractTensor, constant, tensor
from vinculum.analysis.domain.dimensions import fixed, unknown_size
from vinculum.analysis.domain.facts import Fact, Kind
from vinculum.analysis.domain.numbering import Numbering
from vinculum.analysis.transfer.call import Call
from vinculum.analysis.transfer.operators import TABLE
from vinculum.analysis.transfer.operators.linear import multiplied
from vinculum.analysis.transfer.operators.normalisation import deviation

X = np.array([[[0.0, 1.0], [2.0, -3.0]], [[50.0, 1.0], [7.0, 7.0]]], np.float32)
AT_LEAST_ONE = "m = ReduceMax<keepdims = 1, axes = [2]>(x) c = Sub(x, m) e = Exp(c)"
"""Of each row some element is 1: of two in the last axis."""


def known_of(nodes: str, inputs: str, constants: str = "", **given: Any) -> AbstractTensor:
    """Return what is known of y; what an array is may be anything between its least and its largest element."""
    model = parsed(nodes, inputs, "float y", constants)
    told: Mapping[str, AbstractTensor] = {
        name: tensor(array.dtype.name, array.shape, array.min(), array.max()) for name, array in given.items()
    }
    found = looked_at(model, told)[1].values["y"]
    assert complaint(found, np.asarray(Engine(model).run(None, given)[0])) == ""
    return found


@pytest.mark.parametrize(
    ("nodes", "axis", "least"),
    [
        ("y = Identity(e)", 2, 1.0),
        ("y = Gather<axis = 0>(e, pairs)", 3, 1.0),
        ("y = Gather<axis = 1>(e, pairs)", 3, 1.0),
        ("y = Gather<axis = 0>(e, number)", 1, 1.0),
        ("y = GatherND(e, row)", 1, 1.0),
        ("y = Add(e, minus)", 2, 0.75),
        ("y = Add(e, half)", 2, 1.5),
    ],
)
def test_some_element_of_each_row_is_as_large(nodes: str, axis: int, least: float) -> None:
    constants = (
        "int64[2, 2] pairs = {0, 1, 1, 0}, int64 number = {1}, int64[1, 2, 3] row = {0, 1, 0, 0, 1, 1}, "
        "float half = {0.5}, float[2] minus = {-0.25, 3}"
    )
    found = known_of(f"{AT_LEAST_ONE} {nodes}", "float[2, 2, 2] x", constants, x=X)
    (fact,) = (fact for fact in found.facts if fact.kind is Kind.SOME_AT_LEAST)
    assert fact.axis == axis
    assert least - 1e-5 < fact.low <= least


@pytest.mark.parametrize(
    ("nodes", "hull"),
    [
        ("s = Softmax(x) y = MatMul(s, v)", (-3, 5)),
        ("c = Clip(x, low, one) y = ReduceProd<axes = [2]>(c)", (0.25, 1)),
    ],
)
def test_bounds(nodes: str, hull: tuple[float, float]) -> None:
    v = np.array([[[-3.0], [5.0]]] * 2, np.float32)
    constants = "float low = {0.5}, float one = {1}"
    found = known_of(nodes, "float[2, 2, 2] x, float[2, 2, 1] v", constants, x=X, v=v)
    assert np.allclose(found.box.hull(), hull, rtol=1e-3, atol=1e-3)


def test_a_product_with_a_large_matrix() -> None:
    """Whose columns are added up a piece at a time."""
    weights = np.ones((70_000, 2), np.float32)
    found = multiplied(tensor("float32", (1, 70_000), 0, 1), constant(weights))
    assert np.allclose(found.box.hull(), (0, 70_000), rtol=0.01)


def test_a_mean_by_weights_is_off_by_as_many_roundings_as_there_are_terms() -> None:
    rows = Fact(Kind.SUM, 1, 1.0, 1.0)
    found = multiplied(tensor("float32", (2, 1000), 0, 1), tensor("float32", (1000, 1), 1, 1), rows)
    assert 1 + 1000 * 2.0**-24 < found.high.max() < 1.001


def test_a_convolution_over_nobody_knows_how_many_channels() -> None:
    call, image = Call("Conv", 17, {"kernel_shape": [3, 3]}, (), Numbering()), tensor("float32", (1, 2, 5, 5), -1, 1)
    found = TABLE["", "Conv"].transfer(call, image, tensor("float32", (3, unknown_size(), 3, 3), -1, 1))
    assert isinstance(found, AbstractTensor)
    assert (found.element_type, found.shape, found.box.hull()) == ("float32", (1, 3, 3, 3), (-np.inf, np.inf))


def test_what_is_normalised_in_groups_is_bounded_by_their_size() -> None:
    call, one = Call("GroupNormalization", 21, {"num_groups": 1}, (), Numbering()), tensor("float32", (2,), 1, 1)
    operands = tensor("float32", (1, 2, 4), -1, 1), one, tensor("float32", (2,), 0, 0)
    found = TABLE["", "GroupNormalization"].transfer(call, *operands)
    assert isinstance(found, AbstractTensor)
    assert np.sqrt(7) <= found.high.max() < 5


def test_one_number_is_drawn_of_each_row() -> None:
    """ONNX's reference evaluator does not draw it."""
    found = TABLE["", "Multinomial"].transfer(
        Call("Multinomial", 17, {}, (), Numbering()), tensor("float32", (2, 3), 0, 1)
    )
    assert isinstance(found, AbstractTensor)
    assert (found.element_type, found.shape) == ("int32", (2, 1))


def test_a_product_of_numbers_up_to_one_may_be_one() -> None:
    """In operator set 26, which ONNX's reference evaluator does not compute."""
    found = TABLE["", "CumProd"].transfer(Call("CumProd", 26, {}, (), Numbering()), tensor("float32", (3,), 0.5, 1))
    assert isinstance(found, AbstractTensor)
    assert found.low.min() <= 0.125
    assert 1 <= found.high.max() < 1.01
    assert not found.may_nan


@pytest.mark.parametrize(("largest", "may_nan"), [(1e37, False), (2e38, True)])
def test_neighbours_of_a_resized_image_may_overflow(largest: float, may_nan: bool) -> None:
    image = np.full((1, 1, 4, 4), largest, np.float32)
    nodes = 'none = Constant<value = float[0] {}>() y = Resize<mode = "linear">(x, none, scales)'
    found = known_of(nodes, "float[1, 1, 4, 4] x", "float[4] scales = {1, 1, 2, 2}", x=image)
    assert found.may_nan == may_nan


@pytest.mark.parametrize(
    ("operator", "opset", "lost"),
    [
        ("InstanceNormalization", 17, True),
        ("GroupNormalization", 18, True),
        ("GroupNormalization", 21, False),
        ("LayerNormalization", 17, False),
    ],
)
def test_an_epsilon_is_rounded_to_the_type_of_the_statistics(operator: str, opset: int, lost: bool) -> None:
    """Those are float32, unless the operator has no other type than its operand's."""
    call, operand = Call(operator, opset, {"epsilon": 1e-8}, (), Numbering()), tensor("float16", (2, 3, 4), -1, 1)
    assert deviation(call, operand).divisor.may_zero == lost


@pytest.mark.parametrize(
    ("start", "end", "step", "size"),
    [
        (1, 2**31, 1, "1 + N"),
        (-2, 2**31, 1, "2"),
        (0, 2**31 - 1, 1, "2 + N"),
        (-1, -(2**31) - 1, -1, "2 + N"),
        (4, 2**31, 1, None),
        (1, 2**31, 2, None),
    ],
)
def test_the_rest_of_a_dimension_of_unknown_size(start: int, end: int, step: int, size: str | None) -> None:
    """Of N, at least 1, and two more elements; None if that depends on N in another way."""
    places = {"start": start, "end": end, "axis": 0, "step": step}
    constants = ", ".join(f"int64[1] {name} = {{{value}}}" for name, value in places.items())
    nodes = "w = Concat<axis = 0>(x, more) y = Slice(w, start, end, axis, step)"
    model = parsed(nodes, "float[N] x, float[2] more", "float y", constants)
    (found,) = looked_at(model, {}, infer=False)[1].values["y"].shape or ()
    assert str(found) == size if size else "N" not in str(found)


@pytest.mark.parametrize(
    ("attributes", "shape"), [({}, (1, 1, 6, 2)), ({"keep_aspect_ratio_policy": "not_larger"}, None)]
)
def test_sizes_are_the_shape_of_a_resized_image_that_is_stretched(
    attributes: dict[str, Any], shape: tuple[int, ...] | None
) -> None:
    call, sizes = Call("Resize", 18, attributes, (), Numbering()), constant(np.array([1, 1, 6, 2]))
    found = TABLE["", "Resize"].transfer(call, tensor("float32", (1, 1, 2, 2), -1, 1), None, None, sizes)
    assert isinstance(found, AbstractTensor)
    assert fixed(found.shape) == shape


def test_a_power_may_be_off_by_all_of_the_least_number() -> None:
    least = np.array([2.0**-74.5], np.float32)
    assert known_of("y = Pow(x, two)", "float[1] x", "float two = {2}", x=least).may_plus_zero
