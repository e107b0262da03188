"""If, Loop and Scan: subgraphs, whose states are bounded for any number of iterations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from onnx import GraphProto

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, anything, tensor
from vinculum.analysis.domain.dimensions import Dimension, largest, resized
from vinculum.analysis.domain.joining import holds, join, unknown_size, widened
from vinculum.analysis.domain.numbering import Numbering
from vinculum.analysis.transfer.call import Call
from vinculum.analysis.transfer.refinement import refinements
from vinculum.analysis.transfer.shared import axis_of, hulled

_PASSES = 4
"""Passes over a body until its state is widened to the limits of its type."""

Operands = Sequence[AbstractTensor | None]


class Runner(Protocol):
    """The interpreter, as far as operators with subgraphs need it; what it calls a scope is its own."""

    values: Numbering

    def branch(
        self,
        graph: GraphProto,
        given: Sequence[AbstractTensor],
        around: Any,
        step: str,
        refined: Mapping[int, AbstractTensor] | None = None,
        *,
        quiet: bool = False,
    ) -> list[AbstractTensor]:
        """Analyse a subgraph with its inputs, and return its outputs."""


Control = Callable[[Runner, Call, Operands, Any], list[AbstractTensor]]


def _run_if(runner: Runner, call: Call, operands: Operands, scope: Any) -> list[AbstractTensor]:
    """Join both branches, each refined by the condition; only one if the condition is constant."""
    condition = operands[0]
    assert condition is not None
    low, high = condition.box.hull()
    taken = []
    for name, truth, may in (("then_branch", True, high >= 1), ("else_branch", False, low <= 0)):
        graph = call.attributes.get(name)
        if may and graph is not None:
            refined = refinements(call.values, condition.number, truth)
            taken.append(runner.branch(graph, (), scope, f"If:{name}", refined))
    if not taken:
        return [call.anything(place) for place in range(len(call.results))]
    if len(taken) == 1:
        return taken[0]
    return [join(a, b) for a, b in zip(*taken, strict=False)]


def _fresh(value: AbstractTensor) -> AbstractTensor:
    """Return a state of which only bounds are known."""
    return join(value, value.known(number=0))


def _settled(
    run: Callable[[Sequence[AbstractTensor]], list[AbstractTensor]],
    number: Callable[[AbstractTensor], AbstractTensor],
    states: list[AbstractTensor],
) -> list[AbstractTensor]:
    """Return the states of a body at the start of every iteration.

    A state that the body passes on unchanged is kept. One more pass over the body keeps the others within their bounds.

    - `run`: analyses the body with states, and returns the new ones.
    - `number`: gives a value a number.
    """
    kept = [_fresh(state) for state in states]
    for attempt in range(_PASSES):
        entering = [number(state) for state in kept]
        results = run(entering)
        unchanged = [a.number == b.number for a, b in zip(entering, results, strict=False)]
        kept = [states[k] if same else entering[k].known(number=0) for k, same in enumerate(unchanged)]
        grown = [
            not same and not holds(before, after)
            for same, before, after in zip(unchanged, entering, results, strict=False)
        ]
        if not any(grown):
            return kept
        last = attempt == _PASSES - 2
        for k, grows in enumerate(grown):
            if grows:
                kept[k] = _widest(kept[k], results[k]) if last else widened(kept[k], results[k])
    return [_widest(state, state) if not same else state for state, same in zip(kept, unchanged, strict=False)]


def _widest(a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    same = a.element_type == b.element_type
    return anything(a.element_type if same else "", a.shape if a.shape == b.shape else None)


def _stacked(value: AbstractTensor, count: Dimension, axis: int = 0) -> AbstractTensor:
    """Return what the values of all iterations are, one behind the other along a new axis."""
    if value.shape is None:
        return hulled(value, None)
    place = axis_of(axis, len(value.shape) + 1)
    return hulled(value, (*value.shape[:place], count, *value.shape[place:]))


def _run_loop(runner: Runner, call: Call, operands: Operands, scope: Any) -> list[AbstractTensor]:
    body: GraphProto = call.attributes["body"]
    most, _, *states = [*operands, None, None][: max(2, len(operands))]
    known = [state if state is not None else anything("", None) for state in states]
    last = float(most.high.max()) - 1 if most is not None else 2.0**63
    number = tensor("int64", (), 0.0, max(last, 0.0), integral=True)
    going = tensor("bool", (), 1, 1, integral=True)

    def given(entering: Sequence[AbstractTensor]) -> Sequence[AbstractTensor]:
        return [number, going, *entering]

    step = "Loop:body"

    def run(entering: Sequence[AbstractTensor]) -> list[AbstractTensor]:
        return runner.branch(body, given(entering), scope, step, quiet=True)[1 : 1 + len(known)]

    entering = _settled(run, runner.values.numbered, known)
    results = runner.branch(body, given(entering), scope, step)
    left = [join(before, after) for before, after in zip(known, results[1:], strict=False)]
    count = unknown_size(0, last + 1 if most is not None else np.inf)
    return [*left, *(_stacked(value, count) for value in results[1 + len(known) :])]


def _run_scan(runner: Runner, call: Call, operands: Operands, scope: Any) -> list[AbstractTensor]:
    body: GraphProto = call.attributes["body"]
    scanned = int(call.attribute("num_scan_inputs", 1))
    if call.opset < 9:  # It had a batch dimension, and a first operand of lengths.
        return [call.anything(place) for place in range(len(call.results))]
    values = [value if value is not None else anything("", None) for value in operands]
    states, sequences = values[: len(values) - scanned], values[len(values) - scanned :]
    axes = call.attribute("scan_input_axes", [0] * scanned)
    slices = [_slice(value, axis) for value, axis in zip(sequences, axes, strict=True)]

    def given(entering: Sequence[AbstractTensor]) -> Sequence[AbstractTensor]:
        return [*entering, *slices]

    def run(entering: Sequence[AbstractTensor]) -> list[AbstractTensor]:
        return runner.branch(body, given(entering), scope, "Scan:body", quiet=True)[: len(states)]

    entering = _settled(run, runner.values.numbered, states)
    results = runner.branch(body, given(entering), scope, "Scan:body")
    left = [join(before, after) for before, after in zip(states, results, strict=False)]
    count: Dimension = unknown_size()
    if sequences[0].shape:
        count = sequences[0].shape[axes[0]]
    outputs = results[len(states) :]
    places = call.attribute("scan_output_axes", [0] * len(outputs))
    return [*left, *(_stacked(value, count, axis) for value, axis in zip(outputs, places, strict=False))]


def _slice(value: AbstractTensor, axis: int) -> AbstractTensor:
    if value.shape is None:
        return hulled(value, None)
    place = axis_of(axis, len(value.shape))
    shape = resized(value.shape, place)
    if largest(value.shape[place]) == 0:
        return anything(value.element_type, shape)
    return hulled(value, shape)


CONTROL: Mapping[str, Control] = {"If": _run_if, "Loop": _run_loop, "Scan": _run_scan}
