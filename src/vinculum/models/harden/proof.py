"""The proof of a hardening: each rewrite run in the runtime that it is for, compared bit for bit with our engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.errors import DifferenceError
from vinculum.models.harden.decision import Decision, Hardening, Runtime
from vinculum.models.harden.runtime_process import NAMES, Outcome, check_installed, run_cases
from vinculum.models.harden.trials import Trial, trials
from vinculum.models.sampling.comparison import check_equal
from vinculum.text import quoted

_AT_ONCE = 24  # Models in one process: few enough to show progress, enough to start it seldom.
_WITNESSES: dict[Runtime, tuple[str, ...]] = {
    "onnxruntime": ("onnxruntime",),
    "openvino": ("openvino",),
    "portable": ("onnxruntime", "reference"),
}

Advance = Callable[[int, int], None]
"""Called with how many models have been run, and how many there are."""


@dataclass(frozen=True)
class Proof:
    """What was run and found equal.

    Attributes
    ----------
    runtimes : tuple of str
        Where: ``"onnxruntime"``, ``"openvino"``, ``"reference"``.
    rewrites : int
        How many different rewrites there are.
    models : int
        How many models of them were run, in all runtimes together: operands from outside, constant, and mixed.
    quotients : int
        How many quotients were compared in them.
    """

    runtimes: tuple[str, ...]
    rewrites: int
    models: int
    quotients: int


def prove(hardening: Hardening, advance: Advance | None = None) -> Proof:
    """Run every rewrite of a hardening on edge cases and random operands and compare every bit with our engine.

    Each is run with operands from outside and with constant ones, which runtimes fold while they load.

    Parameters
    ----------
    hardening : Hardening
        As `harden` returns it.
    advance : callable, optional
        Called with how many models have been run and how many there are.

    Raises
    ------
    DifferenceError
        If a quotient differs, or the runtime refuses or does not survive a rewrite; the line names the division.
    ModelError
        If the runtime's package is not installed.
    """
    runtimes = witnesses(hardening)
    decisions = _different(hardening)
    tried = [trial for d in decisions for trial in trials(d, hardening.runtime, hardening.policies)]
    done, total = 0, len(tried) * len(runtimes)
    for runtime in runtimes:
        for start in range(0, len(tried), _AT_ONCE):
            part = tried[start : start + _AT_ONCE]
            outcomes = run_cases(runtime, [trial.case for trial in part])
            for trial, outcome in zip(part, outcomes, strict=False):  # After the end of the process there are no more.
                _check(trial, outcome, runtime)
            done += len(part)
            if advance is not None:
                advance(done, total)
    return Proof(runtimes, len(decisions), total, sum(trial.expected.size for trial in tried) * len(runtimes))


def witnesses(hardening: Hardening) -> tuple[str, ...]:
    """Return the runtimes in which a hardening is proven, known to be installed; none if it changed nothing.

    Raises
    ------
    ModelError
        If one's package is not installed.
    """
    if not any(decision.rewritten for decision in hardening.decisions):
        return ()
    for runtime in _WITNESSES[hardening.runtime]:
        check_installed(runtime)
    return _WITNESSES[hardening.runtime]


def _different(hardening: Hardening) -> list[Decision]:
    """Return one decision for each rewrite: two that know the same of their operands are one."""
    found: dict[tuple[object, ...], Decision] = {}
    for decision in hardening.decisions:
        facts = decision.facts
        values = [None if x is None else x.tobytes() for x in (facts.dividend, facts.divisor)]
        if decision.rewritten:
            found.setdefault((facts.operator, facts.opset, facts.element_type, facts.may_be_found, *values), decision)
    return list(found.values())


def _check(trial: Trial, outcome: Outcome, runtime: str) -> None:
    """Refuse a rewrite that the runtime does not compute as our engine does."""
    label = trial.decision.division.label
    where = f"{label}: the rewrite on {NAMES[runtime]}, {trial.constant},"
    if outcome.problem is not None:
        what = "kills the process, which" if outcome.died else "is refused:"
        raise DifferenceError(f"{where} {what} {_shortened(outcome.problem)}; nothing is written")
    quotients = np.asarray(outcome.outputs[0])
    try:
        check_equal("the quotient", trial.expected, quotients, ("our engine", NAMES[runtime]))
    except DifferenceError as error:
        operands = _operands(trial, quotients)
        raise DifferenceError(f"{where} is wrong: {error}{operands}; nothing is written") from None


def _operands(trial: Trial, quotients: NDArray[Any]) -> str:
    """Return the first operands that give another quotient, in words."""
    if quotients.shape != trial.expected.shape:
        return ""
    place = int(np.argmax(quotients != trial.expected))
    return f" (first: {trial.pairs.a[place]} / {trial.pairs.b[place]})"


def _shortened(problem: str) -> str:
    return quoted(" ".join(problem.split()))[1:-1]
