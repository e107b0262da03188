"""Measuring the suite by planted dividers: which are found, and whether their causes are true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

import pytest

from tests.conformance.asking import asked, outcome
from tests.conformance.planted import dividers
from tests.conformance.planted.dividers import Divider, Truth
from tests.conformance.planted.oracle import contradictions, is_of_quotients
from vinculum.conformance.arithmetic import written
from vinculum.conformance.cases.case import Case, Level
from vinculum.conformance.run import suite
from vinculum.conformance.run.planning import Plan
from vinculum.conformance.run.record import Run, Selection
from vinculum.conformance.runtimes import plugin
from vinculum.conformance.runtimes.backends import STARTED, parsed, runtime
from vinculum.conformance.runtimes.plugin import Plugin
from vinculum.sandbox import Answer, Isolated, Limits
from vinculum.spec.element_types import by_name

FRESH = 400
"""How many fresh operations each cause is compared with, where time is no matter."""
DIFFERS = "answers differ between runs"


@dataclass(frozen=True)
class Measured:
    """The run of a divider, and for each cause how many fresh operations contradict it, of how many it applies to."""

    divider: Divider
    run: Run
    checked: dict[str, tuple[int, int]]

    @property
    def deviating(self) -> list[str]:
        """The ids of the cases that deviate."""
        return [str(result.id) for result in self.run.results if result.verdict.kind.deviates]

    @property
    def found(self) -> bool:
        """Whether the run tells correctly whether the divider is right."""
        return bool(self.deviating) is not (self.divider.truth is Truth.RIGHT)

    @property
    def false(self) -> list[str]:
        """The causes that are named and that fresh operands contradict."""
        return [name for name, (against, _) in self.checked.items() if against]

    @property
    def named(self) -> bool:
        """Whether all causes are true, and an expected one is named."""
        if not self.found or self.false:
            return False
        if self.divider.truth is Truth.UNSTEADY:
            return any(result.verdict.kind.value == DIFFERS for result in self.run.results)
        wanted = self.divider.causes
        return not wanted or any(_is(cause, name) for cause in self.checked for name in wanted)

    @property
    def failures(self) -> str:
        """The first thing that is not as it should be; empty if all is."""
        parts = {"not found": not self.found, "falsely named": self.false, "not named": not self.named}
        return next((words for words, holds in parts.items() if holds), "")


def _is(cause: str, name: str) -> bool:
    return cause.startswith(name.removesuffix("...")) if name.endswith("...") else cause == name


class InProcess:
    """A substitute for `Isolated` that runs a runtime in our process."""

    def __init__(self, maker: str, backend: str, *, limits: Limits | None = None) -> None:
        assert maker == STARTED
        self._made = Plugin(*parsed(backend))

    def __enter__(self) -> InProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Do nothing: there is no process."""

    def call(self, method: str, *arguments: Any, apart: bool = False) -> Answer:
        """Return the outcome of a call."""
        return outcome(getattr(self._made, method), *arguments)


def measured(divider: Divider, cases: Sequence[Case], fresh: int, seed: int = 0) -> Measured:
    """Return what a run of some cases says of a divider.

    - `divider`: The divider.
    - `cases`: The cases; those that it does not cover are left out.
    - `fresh`: How many fresh operations each cause is compared with.
    - `seed`: Of what a divider draws in our process; each of its starts draws other numbers.
    """
    alone = divider.lasts or divider.backend.startswith("command:")
    with pytest.MonkeyPatch.context() as patch:
        if not alone:
            patch.setattr(dividers, "SEEDS", count(1000 * seed))
            patch.setattr(suite, "Isolated", InProcess)
            patch.setattr(plugin, "asked_elsewhere", lambda _, __, *of, called: Plugin(*of).tell())
        asked_of = runtime(divider.called) if alone else Plugin(*parsed(divider.called))
        typed = [case for case in cases if case.element_type.name in divider.types.split()]
        chosen = [case for case in typed if asked_of.covers(case.operation)]
        limits = divider.limits
        selection = Selection(Level.DEFAULT, seconds=limits.seconds, memory=limits.memory)
        run = suite.survey(Plan(divider.called, asked_of, selection, chosen, len(chosen)), workers=1)
    causes = [written(cause.name, [by_name(t) for t in cause.element_types]) for cause in run.causes]
    checked = {}
    for cause, told in zip(causes, run.causes, strict=True):
        explained = {str(result.id) for result in run.results if result.cause == told.name}
        spoken_of = [
            case
            for case in chosen
            if (str(case.id) in explained if is_of_quotients(cause) else case.element_type in cause.element_types)
        ]
        with Isolated(STARTED, divider.called, limits=limits) if alone else InProcess(STARTED, divider.called) as own:
            answer = partial(own.call, "answer")
            checked[told.name] = contradictions(cause, causes, spoken_of, answer, fresh)
    return Measured(divider, run, checked)


def cases_of(divider: Divider) -> list[Case]:
    """Return the cases that `make test` asks: those of one operator version and of the divider's element types."""
    return [
        case
        for case in asked(Level.DEFAULT)
        if case.id.row == divider.row and case.element_type.name in divider.types.split()
    ]
