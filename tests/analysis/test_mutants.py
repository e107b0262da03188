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
from vinculum.analysis.transfer import operators, refinement, shared
from vinculum.analysis.transfer.call import Transfer
from vinculum.analysis.transfer.operators import arithmetic, linear, normalisation, reductions

Change = Callable[[AbstractTensor], AbstractTensor]


def _put(patch: pytest.MonkeyPatch, name: str, transfer: Transfer) -> None:
    patch.setitem(operators.TABLE, ("", name), replace(operators.TABLE["", name], transfer=transfer))


def _changed(name: str, change: Change) -> Callable[[pytest.MonkeyPatch], None]:
    def plant(patch: pytest.MonkeyPatch) -> None:
        right = operators.TABLE["", name].transfer

        def wrong(*operands: Any) -> Any:
            result = right(*operands)
            return change(result) if isinstance(result, AbstractTensor) else [change(one) for one in result]

        _put(patch, name, wrong)

    return plant


def _never_nan(a: AbstractTensor) -> AbstractTensor:
    return a.known(may_nan=False)


def _never_minus_zero(a: AbstractTensor) -> AbstractTensor:
    return a.known(may_minus_zero=False)


def _never_plus_zero(a: AbstractTensor) -> AbstractTensor:
    return a.known(may_plus_zero=False)


def _narrower(a: AbstractTensor) -> AbstractTensor:
    return a.known(box=Box(a.low, np.where(np.isfinite(a.high), a.high - np.abs(a.high) * 1e-3, a.high), a.mag))


def _swapped_zeros(a: AbstractTensor) -> AbstractTensor:
    return a.known(may_plus_zero=a.may_minus_zero, may_minus_zero=a.may_plus_zero)


def _never_infinite(a: AbstractTensor) -> AbstractTensor:
    return a.known(box=Box(np.maximum(a.low, -3e38), np.minimum(a.high, 3e38), a.mag))


def _attribute(target: Any, name: str, value: Any) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda patch: patch.setattr(target, name, value)


_PLANTED: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], tuple[str, ...]]] = {
    "Neg keeps the signs of zeros": (_changed("Neg", _swapped_zeros), ("Neg",)),
    "Relu has no -0": (_changed("Relu", _never_minus_zero), ("Relu",)),
    "Relu's upper end": (_changed("Relu", _narrower), ("Relu",)),
    "Not is the identity": (lambda patch: _put(patch, "Not", lambda call, a: a), ("Not",)),
    "Sub of infinities is no NaN": (_changed("Sub", _never_nan), ("Sub",)),
    "Add does not overflow": (_changed("Add", _never_infinite), ("Add",)),
    "Mul does not underflow": (_attribute(arithmetic, "below", lambda mag, form: mag), ("Mul",)),
    "Div by zero is finite": (_changed("Div", _never_infinite), ("Div",)),
    "0/0 is no NaN": (_changed("Div", _never_nan), ("Div",)),
    "Sqrt of negatives is no NaN": (_changed("Sqrt", _never_nan), ("Sqrt",)),
    "Log of negatives is no NaN": (_changed("Log", _never_nan), ("Log",)),
    "Exp does not underflow": (_changed("Exp", _never_plus_zero), ("Exp",)),
    "Tanh's upper end": (_changed("Tanh", _narrower), ("Tanh",)),
    "Sigmoid has no tail": (_changed("Sigmoid", _never_plus_zero), ("Sigmoid",)),
    "Softmax of infinities is no NaN": (_changed("Softmax", _never_nan), ("Softmax",)),
    "sums are exact": (_attribute(reductions, "gamma", lambda terms, form: 0.0), ("ReduceSum", "ReduceMean")),
    "products of matrices are exact": (
        _attribute(linear, "gamma", lambda terms, form: 0.0),
        ("MatMul", "Gemm", "Conv"),
    ),
    "ReduceMax beside NaN is the largest": (_changed("ReduceMax", _narrower), ("ReduceMax",)),
    "Gather's upper end": (_changed("Gather", _narrower), ("Gather",)),
    "Slice's upper end": (_changed("Slice", _narrower), ("Slice",)),
    "Pad pads nothing": (
        lambda patch: _put(patch, "Pad", lambda call, a, *_: shared.hulled(a, None)),
        ("Pad",),
    ),
    "Cast of NaN to integers is 0": (_changed("Cast", _narrower), ("Cast",)),
    "Where forgets an operand": (
        lambda patch: _put(patch, "Where", lambda call, c, a, b: shared.hulled(a, None)),
        ("Where",),
    ),
    "Max drops the smaller bound": (_changed("Max", _narrower), ("Max",)),
    "Equal never holds": (
        _changed("Equal", lambda a: a.known(box=Box(a.low, np.zeros_like(a.high), a.mag))),
        ("Equal",),
    ),
    "Mod's upper end": (_changed("Mod", _narrower), ("Mod",)),
    "TopK's upper end": (_changed("TopK", _narrower), ("TopK",)),
    "CumSum is the operand": (
        lambda patch: _put(patch, "CumSum", lambda call, a, *_: a),
        ("CumSum",),
    ),
    "LayerNormalization without slack": (_attribute(normalisation, "_SLACK", -0.3), ("LayerNormalization",)),
    "QuantizeLinear's upper end": (
        _changed("QuantizeLinear", lambda a: a.known(box=Box(a.low, a.high - 1, a.mag))),
        ("QuantizeLinear",),
    ),
}

_IN_GRAPHS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "a comparison that fails tells that it holds": _attribute(
        refinement, "_OTHERWISE", {name: name for name in refinement._OTHERWISE}
    ),
    "numbers of a narrower type are not rounded": _attribute(
        formats.Format, "round", lambda self, values: values * 0.999
    ),
}


@pytest.mark.parametrize("mistake", _PLANTED)
def test_a_trial_notices(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant, operators = _PLANTED[mistake]
    plant(monkeypatch)
    tried = ((t, e, seed) for seed in range(3) for t in TRIALS if t.operator in operators for e in t.types)
    assert any(said for trial, element_type, seed in tried for said in complaints(trial, element_type, seed, 60))


@pytest.mark.parametrize("mistake", _IN_GRAPHS)
def test_a_random_model_notices(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _IN_GRAPHS[mistake](monkeypatch)
    assert any(said for seed in range(400) for said in random_graphs.complaints(seed))
