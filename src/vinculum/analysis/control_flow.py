"""If, Loop and Scan: subgraphs, whose states are bounded for any number of iterations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, anything, holds, join, tensor, widened
from vinculum.analysis.domain.dimensions import Dimension, largest, resized, unknown_size
from vinculum.analysis.transfer.call import Call
from vinculum.analysis.transfer.relations import refinements
from vinculum.analysis.transfer.shared import axis_of, hulled

_PASSES = 4
"""Passes over a body until its state is widened to the limits of its type."""

Operands = Sequence[AbstractTensor | None]


Run = Callable[..., list[AbstractTensor]]
"""Analyses the subgraph of an attribute by name, with its inputs, and returns its outputs: `Interpreter.branch`."""
Control = Callable[[Run, Call, Operands], list[AbstractTensor]]


def _run_if(run: Run, call: Call, operands: Operands) -> list[AbstractTensor]:
    """Join both branches, each refined by the condition; only one if the condition is constant."""
    condition = operands[0]
    assert condition is not None
    low, high = condition.box.hull()
    taken = []
    for name, truth, may in (("then_branch", True, high >= 1), ("else_branch", False, low <= 0)):
        if may and name in call.attributes:
            taken.append(run(name, (), refinements(call.values, condition.number, truth)))
    if len(taken) == 2:
        return [join(a, b) for a, b in zip(*taken, strict=False)]
    return taken[0] if taken else [call.anything(place) for place in range(len(call.results))]


def _iterated(
    run: Run,
    call: Call,
    states: list[AbstractTensor],
    *,
    before: Sequence[AbstractTensor] = (),
    behind: Sequence[AbstractTensor] = (),
) -> list[AbstractTensor]:
    """Return the outputs of a body in any iteration, for every state that an iteration can start with.

    A state that the body passes on unchanged is kept. One more pass over the body keeps the others within their bounds.

    - `before`, `behind`: its other inputs; as many outputs as there are before states, less one, stand before states.
    """
    first = max(len(before) - 1, 0)

    def once(entering: Sequence[AbstractTensor], *, quiet: bool) -> list[AbstractTensor]:
        return run("body", [*before, *entering, *behind], quiet=quiet)

    kept, same = [join(state, state.known(number=0)) for state in states], [False] * len(states)
    for attempt in range(_PASSES):
        entering = [call.values.numbered(state) for state in kept]
        results = once(entering, quiet=True)[first : first + len(states)]
        same = [a.number == b.number for a, b in zip(entering, results, strict=False)]
        kept = [states[k] if passed_on else entering[k].known(number=0) for k, passed_on in enumerate(same)]
        grown = [k for k, after in enumerate(results) if not same[k] and not holds(entering[k], after)]
        if not grown:
            return once(kept, quiet=False)
        for k in grown:
            kept[k] = (_widest if attempt == _PASSES - 2 else widened)(kept[k], results[k])
    return once([state if one else _widest(state, state) for state, one in zip(kept, same, strict=True)], quiet=False)


def _widest(a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    same = a.element_type == b.element_type
    return anything(a.element_type if same else "", a.shape if a.shape == b.shape else None)


def _stacked(value: AbstractTensor, count: Dimension, axis: int = 0) -> AbstractTensor:
    """Return what the values of all iterations are, one behind the other along a new axis."""
    if value.shape is None:
        return hulled(value, None)
    place = axis_of(axis, len(value.shape) + 1)
    return hulled(value, (*value.shape[:place], count, *value.shape[place:]))


def _run_loop(run: Run, call: Call, operands: Operands) -> list[AbstractTensor]:
    most, _, *states = [*operands, None, None][: max(2, len(operands))]
    known = [state if state is not None else anything("", None) for state in states]
    last = float(most.high.max()) - 1 if most is not None else 2.0**63
    number = tensor("int64", (), 0.0, max(last, 0.0), integral=True)
    going = tensor("bool", (), 1, 1, integral=True)
    _, *results = _iterated(run, call, known, before=(number, going))
    left = [join(before, after) for before, after in zip(known, results, strict=False)]
    count = unknown_size(0, last + 1 if most is not None else np.inf)
    return [*left, *(_stacked(value, count) for value in results[len(known) :])]


def _run_scan(run: Run, call: Call, operands: Operands) -> list[AbstractTensor]:
    scanned = int(call.attribute("num_scan_inputs", 1))
    if call.opset < 9:  # It had a batch dimension, and a first operand of lengths.
        return [call.anything(place) for place in range(len(call.results))]
    values = [value if value is not None else anything("", None) for value in operands]
    states, sequences = values[: len(values) - scanned], values[len(values) - scanned :]
    axes = call.attribute("scan_input_axes", [0] * scanned)
    slices = [_slice(value, axis) for value, axis in zip(sequences, axes, strict=True)]
    results = _iterated(run, call, states, behind=slices)
    left = [join(before, after) for before, after in zip(states, results, strict=False)]
    count = sequences[0].shape[axes[0]] if sequences[0].shape else unknown_size()
    outputs = results[len(states) :]
    places = call.attribute("scan_output_axes", [0] * len(outputs))
    return [*left, *(_stacked(value, count, axis) for value, axis in zip(outputs, places, strict=False))]


def _slice(value: AbstractTensor, axis: int) -> AbstractTensor:
    if value.shape is None:
        return hulled(value, None)
    place = axis_of(axis, len(value.shape))
    shape, empty = resized(value.shape, place), largest(value.shape[place]) == 0
    return anything(value.element_type, shape) if empty else hulled(value, shape)


CONTROL: Mapping[str, Control] = {"If": _run_if, "Loop": _run_loop, "Scan": _run_scan}
