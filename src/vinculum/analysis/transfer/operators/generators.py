"""Generators, dropout, recurrent operators, and sequences: what is known of a sequence holds for all its tensors."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import numpy as np

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom, anything, join, tensor
from vinculum.analysis.domain.dimensions import Shape, resized, unknown_size
from vinculum.analysis.transfer.call import Call, Operand, Result
from vinculum.analysis.transfer.declarations import Operator
from vinculum.analysis.transfer.shared import axis_of, boolean, counts, hulled, unbounded

_OVER_ONE = 1 + 2.0**-10


def _drawn(call: Call, a: Operand) -> tuple[str, Shape | None]:
    """Return the element type and the shape of random numbers: those of an operand, or what attributes say."""
    code = call.attribute("dtype", None)
    element_type = call.narrowed if a is None else a.element_type
    shape = tuple(call.attribute("shape", ())) if a is None else a.shape
    return element_type if code is None else call.element_type(int(code)), shape


def _normal(call: Call, a: Operand = None) -> AbstractTensor:
    return tensor(*_drawn(call, a), -np.inf, np.inf, bounds_from=BoundsFrom.TYPE)


def _uniform(call: Call, a: Operand = None) -> AbstractTensor:
    low, high = float(call.attribute("low", 0.0)), float(call.attribute("high", 1.0))
    slack = 1e-6 * max(abs(low), abs(high))
    return tensor(*_drawn(call, a), low - slack if low else low, high + slack)


def _multinomial(call: Call, a: AbstractTensor) -> AbstractTensor:
    shape = None if a.shape is None else (a.shape[0], int(call.attribute("sample_size", 1)))
    return tensor(call.element_type(int(call.attribute("dtype", 6))), shape, 0, 2.0**31 - 1, integral=True)


def _dropout(call: Call, a: AbstractTensor, ratio: Operand = None, training: Operand = None) -> Result:
    """Return x itself, unless it trains: then zeros, and the rest over 1 - ratio."""
    mask = [boolean(a.shape)] if len(call.results) > 1 else []
    trains = training is not None and (training.small is None or bool(training.small.any()))
    if trains or (call.opset < 7 and not call.attribute("is_test", 0)):
        return [anything(a.element_type, a.shape), *mask]
    return [a, *mask]


def _weights(call: Call, *operands: Operand) -> AbstractTensor:
    """Return a window, or a matrix of mel weights: numbers from 0 to 1, NaN where there is no room for them."""
    shape: Shape | None = None
    if call.operator != "MelWeightMatrix":
        sizes = operands[0].sizes() if operands[0] is not None else None
        shape = (sizes[0] if sizes and sizes[0] is not None else unknown_size(),)
    return tensor(call.element_type(int(call.attribute("output_datatype", 1))), shape, -0.01, _OVER_ONE, may_nan=True)


def _recurrent(call: Call, x: AbstractTensor, *others: Operand) -> Result:
    """Return states: bounded where every activation is a sigmoid or a tanh, the cell of an LSTM apart."""
    names = {str(name).lower() for name in call.attribute("activations", ["sigmoid", "tanh"])}
    limit = _OVER_ONE if names <= {"sigmoid", "tanh", "hardsigmoid", "softsign"} else np.inf
    first = others[4] if len(others) > 4 else None
    if first is not None and call.operator == "GRU":  # A part of the initial state stays.
        limit = max(limit, first.largest * _OVER_ONE)
    nan = bool(x.may_nan or x.may_infinite or x.form)
    results = []
    for place in range(max(len(call.results), 1)):
        reach = np.inf if place == 2 or x.form is None else limit
        results.append(tensor(x.element_type, call.expected(place).shape, -reach, reach, may_nan=nan))
    return results


def _construct(call: Call, *items: Operand) -> AbstractTensor:
    given = [item for item in items if item is not None]
    return reduce(join, given[1:], hulled(given[0], given[0].shape)) if given else anything("", None)


def _whole(call: Call, sequence: Operand = None, *_: Operand) -> AbstractTensor:
    return hulled(sequence, sequence.shape) if sequence is not None else anything("", None)


def _split(call: Call, a: AbstractTensor, sizes: Operand = None) -> AbstractTensor:
    if a.shape is None:
        return hulled(a, None)
    axis = axis_of(call.attribute("axis", 0), len(a.shape))
    gone = sizes is None and not call.attribute("keepdims", 1)
    return hulled(a, resized(a.shape, axis, *([] if gone else [unknown_size()])))


TABLE: Mapping[str, Operator] = {
    **dict.fromkeys(("BlackmanWindow", "HammingWindow", "HannWindow", "MelWeightMatrix"), Operator(_weights)),
    **dict.fromkeys(("GRU", "LSTM", "RNN"), Operator(_recurrent)),
    **dict.fromkeys(("Optional", "OptionalGetElement", "SequenceAt", "SequenceErase"), Operator(_whole)),
    **dict.fromkeys(("RandomNormal", "RandomNormalLike"), Operator(_normal, pure=False)),
    **dict.fromkeys(("RandomUniform", "RandomUniformLike"), Operator(_uniform, pure=False)),
    "Bernoulli": Operator(lambda call, a: tensor(*_drawn(call, a), 0, 1, integral=True), pure=False),
    "ConcatFromSequence": Operator(lambda call, sequence: hulled(sequence, None)),
    "DFT": Operator(lambda call, a, *_: unbounded(a, None)),
    "Dropout": Operator(_dropout, pure=False),
    "Multinomial": Operator(_multinomial, pure=False),
    "OptionalHasElement": Operator(lambda call, value=None: boolean(())),
    "STFT": Operator(lambda call, a, *_: unbounded(a, None)),
    "SequenceConstruct": Operator(_construct),
    "SequenceEmpty": Operator(lambda call: anything(call.element_type(int(call.attribute("dtype", 1))), None)),
    "SequenceInsert": Operator(lambda call, sequence, item, place=None: join(sequence, item)),
    "SequenceLength": Operator(lambda call, sequence: counts(())),
    "SplitToSequence": Operator(_split),
}
