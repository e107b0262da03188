"""Operators that make values: random ones, windows, spectra; and those that drop some, or recur."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom, anything, tensor
from vinculum.analysis.domain.dimensions import Shape
from vinculum.analysis.domain.joining import unknown_size
from vinculum.analysis.transfer.call import Call, Operand, Result
from vinculum.analysis.transfer.operator import Operator
from vinculum.analysis.transfer.shared import boolean, unbounded

_OVER_ONE = 1 + 2.0**-10


def _type_of(call: Call, a: Operand = None) -> str:
    code = call.attribute("dtype", None)
    if code is not None:
        return call.element_type(int(code))
    return a.element_type if a is not None else call.narrowed


def _normal(call: Call, a: Operand = None) -> AbstractTensor:
    return tensor(_type_of(call, a), _random_shape(call, a), -np.inf, np.inf, bounds_from=BoundsFrom.TYPE)


def _uniform(call: Call, a: Operand = None) -> AbstractTensor:
    low, high = float(call.attribute("low", 0.0)), float(call.attribute("high", 1.0))
    slack = 1e-6 * max(abs(low), abs(high))
    wide = 0.0 if low == 0 else slack
    return tensor(_type_of(call, a), _random_shape(call, a), low - wide, high + slack)


def _random_shape(call: Call, a: Operand) -> Shape | None:
    return tuple(call.attribute("shape", ())) if a is None else a.shape


def _bernoulli(call: Call, a: AbstractTensor) -> AbstractTensor:
    return tensor(_type_of(call, a), a.shape, 0, 1, integral=True)


def _multinomial(call: Call, a: AbstractTensor) -> AbstractTensor:
    code = int(call.attribute("dtype", 6))
    shape = None if a.shape is None else (a.shape[0], int(call.attribute("sample_size", 1)))
    return tensor(call.element_type(code), shape, 0, 2.0**31 - 1, integral=True)


def _dropout(call: Call, a: AbstractTensor, ratio: Operand = None, training: Operand = None) -> Result:
    """Return x itself, unless it trains: then zeros, and the rest over 1 - ratio."""
    mask = [boolean(a.shape)] if len(call.results) > 1 else []
    if call.opset < 7 and not call.attribute("is_test", 0):
        return [anything(a.element_type, a.shape), *mask]
    if training is None or (training.small is not None and not training.small.any()):
        return [a, *mask]
    return [anything(a.element_type, a.shape), *mask]


def _window(call: Call, size: AbstractTensor) -> AbstractTensor:
    found = size.sizes()
    length = found[0] if found and found[0] is not None else unknown_size()
    code = int(call.attribute("output_datatype", 1))
    return tensor(call.element_type(code), (length,), -0.01, _OVER_ONE, may_nan=True)


def _spectrum(call: Call, a: AbstractTensor, *_: Operand) -> AbstractTensor:
    return unbounded(a, None)


def _mel_weights(call: Call, *_: Operand) -> AbstractTensor:
    code = int(call.attribute("output_datatype", 1))
    return tensor(call.element_type(code), None, -0.01, _OVER_ONE, may_nan=True)


def _recurrent(call: Call, x: AbstractTensor, *_: Operand) -> Result:
    """Return states: bounded where every activation is a sigmoid or a tanh, the cell of an LSTM apart."""
    names = {str(name).lower() for name in call.attribute("activations", ["sigmoid", "tanh"])}
    form = x.form
    limit = _OVER_ONE if names <= {"sigmoid", "tanh", "hardsigmoid", "softsign"} else np.inf
    clean = not x.may_nan and not x.may_infinite
    first = next((o for o in _[4:5] if o is not None), None) if call.operator in ("GRU", "RNN") else None
    if first is not None and call.operator == "GRU":  # A part of the initial state stays.
        limit = max(limit, float(first.box.largest().max()) * _OVER_ONE)
    results = []
    for place in range(max(len(call.results), 1)):
        reach: Any = np.inf if place == 2 or form is None else limit
        expected = call.expected(place)
        results.append(tensor(x.element_type, expected.shape, -reach, reach, may_nan=bool(not clean or form)))
    return results


TABLE: Mapping[str, Operator] = {
    "Bernoulli": Operator(_bernoulli, pure=False),
    "BlackmanWindow": Operator(_window),
    "DFT": Operator(_spectrum),
    "Dropout": Operator(_dropout, pure=False),
    "GRU": Operator(_recurrent),
    "HammingWindow": Operator(_window),
    "HannWindow": Operator(_window),
    "LSTM": Operator(_recurrent),
    "MelWeightMatrix": Operator(_mel_weights),
    "Multinomial": Operator(_multinomial, pure=False),
    "RNN": Operator(_recurrent),
    "RandomNormal": Operator(_normal, pure=False),
    "RandomNormalLike": Operator(_normal, pure=False),
    "RandomUniform": Operator(_uniform, pure=False),
    "RandomUniformLike": Operator(_uniform, pure=False),
    "STFT": Operator(_spectrum),
}
