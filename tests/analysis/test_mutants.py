"""Mistakes planted in the analysis, one at a time: the trials and the random models notice each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.analysis import random_graphs
from tests.analysis.operators import TRIALS
from tests.analysis.trying import complaints
from vinculum.analysis.domain import formats
from vinculum.analysis.domain.abstract_tensor import AbstractTensor
from vinculum.analysis.domain.box import Box
from vinculum.analysis.transfer import operators, relations, shared
from vinculum.analysis.transfer.call import Transfer
from vinculum.analysis.transfer.operators import arithmetic, linear, normalisation, reductions

Change = Callable[[AbstractTensor], AbstractTensor]
Plant = Callable[[pytest.MonkeyPatch], None]


def _put(patch: pytest.MonkeyPatch, name: str, transfer: Transfer) -> None:
    patch.setitem(operators.TABLE, ("", name), replace(operators.TABLE["", name], transfer=transfer))


def _changed(name: str, change: Change) -> Plant:
    def plant(patch: pytest.MonkeyPatch) -> None:
        right = operators.TABLE["", name].transfer

        def wrong(*operands: Any) -> Any:
            result = right(*operands)
            return change(result) if isinstance(result, AbstractTensor) else [change(one) for one in result]

        _put(patch, name, wrong)

    return plant


def _without(**flags: bool) -> Change:
    return lambda a: a.known(**flags)


_NEVER_NAN = _without(may_nan=False)


def _narrower(a: AbstractTensor) -> AbstractTensor:
    return a.known(box=replace(a.box, high=np.where(np.isfinite(a.high), a.high - np.abs(a.high) * 1e-3, a.high)))


def _swapped_zeros(a: AbstractTensor) -> AbstractTensor:
    return a.known(may_plus_zero=a.may_minus_zero, may_minus_zero=a.may_plus_zero)


def _never_infinite(a: AbstractTensor) -> AbstractTensor:
    return a.known(box=Box(np.maximum(a.low, -3e38), np.minimum(a.high, 3e38), a.mag))


def _attribute(target: Any, name: str, value: Any) -> Plant:
    return lambda patch: patch.setattr(target, name, value)


def _replaced(name: str, transfer: Transfer) -> Plant:
    return lambda patch: _put(patch, name, transfer)


_EXACT = ("gamma", lambda terms, form: 0.0)
_PLANTED: dict[str, tuple[Plant, tuple[str, ...]]] = {
    "products of matrices are exact": (_attribute(linear, *_EXACT), ("MatMul", "Gemm", "Conv")),
    "sums are exact": (_attribute(reductions, *_EXACT), ("ReduceSum", "ReduceMean")),
    "Mul does not underflow": (_attribute(arithmetic, "below", lambda mag, form: mag), ("Mul",)),
    "LayerNormalization without slack": (_attribute(normalisation, "_SLACK", -0.3), ("LayerNormalization",)),
    "Not is the identity": (_replaced("Not", lambda call, a: a), ("Not",)),
    "Pad pads nothing": (_replaced("Pad", lambda call, a, *_: shared.hulled(a, None)), ("Pad",)),
    "Where forgets an operand": (_replaced("Where", lambda call, c, a, b: shared.hulled(a, None)), ("Where",)),
    "CumSum is the operand": (_replaced("CumSum", lambda call, a, *_: a), ("CumSum",)),
    **{f"{name} of a mistake in {what}": (_changed(name, change), (name,)) for name, what, change in (
        ("Neg", "the signs of zeros", _swapped_zeros),
        ("Relu", "-0", _without(may_minus_zero=False)),
        ("Sub", "infinities less infinities", _NEVER_NAN),
        ("Add", "overflow", _never_infinite),
        ("Div", "quotients by zero", _never_infinite),
        ("Div", "0/0", _NEVER_NAN),
        ("Sqrt", "negative numbers", _NEVER_NAN),
        ("Log", "negative numbers", _NEVER_NAN),
        ("Exp", "underflow", _without(may_plus_zero=False)),
        ("Sigmoid", "the tail", _without(may_plus_zero=False)),
        ("Softmax", "infinities", _NEVER_NAN),
        ("Equal", "what holds", lambda a: a.known(box=replace(a.box, high=np.zeros_like(a.high)))),
        ("QuantizeLinear", "the upper end", lambda a: a.known(box=replace(a.box, high=a.high - 1))),
        *((name, "the upper end", _narrower) for name in (
            "Relu", "Tanh", "ReduceMax", "Gather", "Slice", "Cast", "Max", "Mod", "TopK"
        )),
    )},
}  # fmt: skip

_IN_GRAPHS: dict[str, Plant] = {
    "a comparison that fails tells that it holds": _attribute(
        relations, "_OTHERWISE", {name: name for name in relations._OTHERWISE}
    ),
    "numbers of a narrower type are not rounded": _attribute(
        formats.Format, "round", lambda self, values: values * 0.999
    ),
}


@pytest.mark.parametrize("mistake", _PLANTED)
def test_a_trial_notices(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant, tried_on = _PLANTED[mistake]
    plant(monkeypatch)
    tried = ((t, e, seed) for seed in range(3) for t in TRIALS if t.operator in tried_on for e in t.types)
    assert any(said for trial, element_type, seed in tried for said in complaints(trial, element_type, seed, 60))


@pytest.mark.parametrize("mistake", _IN_GRAPHS)
def test_a_random_model_notices(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _IN_GRAPHS[mistake](monkeypatch)
    assert any(said for seed in range(400) for said in random_graphs.complaints(seed))
