"""Which operands are the same in every run, and what their values are."""

from __future__ import annotations

import pytest
from onnx import helper

from tests.models.built_models import text_model
from vinculum.models.onnx.scopes import Scope, scopes
from vinculum.repair.operands import ConstantValues

STRETCHED = "y = Add(k, k) size = Shape(x) divisor = Expand(k, size)"


def scopes_of(nodes: str, *functions: str) -> list[Scope]:
    """Return the scopes of a model with the initializer k = [[3, 1, 3]] and the input x."""
    constants = "int64[1,3] k = {3, 1, 3}, int64[1] shape = {3}"
    return list(scopes(text_model(nodes, "int64[1,3] x", "int64[] y", *functions, constants=constants), {"F": "F"}))


@pytest.mark.parametrize(
    ("nodes", "known"),
    [
        ("y = Identity(k)", [1, 3]),
        ("z = Reshape(k, shape) y = Unsqueeze(z, shape)", [1, 3]),
        ("y = Cast <to = 6> (k)", [1, 3]),
        ("y = Constant <value = int64[1,2] {0, -1}> ()", [-1, 0]),
        ("y = Constant <value_int = 5> ()", [5]),
        ("z = Constant <value_ints = [2, 2]> () y = Transpose(z)", [2]),
        # What cannot be told, or may be another in another run, is not known.
        ("y = Identity(x)", None),
        ("y = Add(k, k)", None),
        ("y = d.Identity(k)", None),
        ("y = Cast <to = 1> (k)", None),
        (f"z = Constant <value_int = {2**40}> () y = Cast <to = 6> (z)", None),
        ("y = Constant <value_float = 1.0> ()", None),
    ],
)
def test_values(nodes: str, known: list[int] | None) -> None:
    (scope,) = scopes_of(nodes)
    found = ConstantValues(scope).of("y")
    assert (None if found is None else found.tolist()) == known


def test_an_initializer_that_an_input_overrides() -> None:
    (scope,) = scopes_of("y = Identity(k)")
    scope.holder.input.append(helper.make_tensor_value_info("k", 7, (1, 3)))
    assert ConstantValues(scope).of("y") is None


@pytest.mark.parametrize(
    ("nodes", "divisor", "found"),
    [
        (STRETCHED, "divisor", True),
        (STRETCHED, "k", False),  # It is folded with its dividend.
        (STRETCHED.replace("Add(k, k)", "Identity(x)"), "divisor", False),
    ],
)
def test_a_dividend_that_a_runtime_works_out_as_it_loads_the_model(nodes: str, divisor: str, found: bool) -> None:
    (scope,) = scopes_of(nodes)
    assert ConstantValues(scope).may_be_found("y", divisor) is found


def test_a_parameter_of_a_function() -> None:
    _, scope = scopes_of("", "F (p) => (y, z) { k = Constant <value_int = 3> () y = Identity(p) z = Neg(p) }")
    values = ConstantValues(scope)
    assert values.may_be_found("y", "k")
    assert not values.may_be_found("z", "k")


def test_a_value_of_the_scope_around_is_known_through_nodes_there() -> None:
    body = "() => (int32[1,3] r) { r = Cast <to = 6> (y) }"
    _, scope, _ = scopes_of(f"y = Identity(k) r = If (x) <then_branch = t {body}, else_branch = e {body}>")
    inner = ConstantValues(scope).of("r")
    assert inner is not None
    assert inner.tolist() == [1, 3]
