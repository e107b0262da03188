"""The record of a run: samples of every peer in every cell, their statistics, and the file that keeps them."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median, quantiles
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from benchmarks.compare.cells import Cell
from benchmarks.compare.peers import OURS, ROOFLINE


class Outcome(Struct, frozen=True, omit_defaults=True):
    """What became of a peer in a cell: its time, or why it has none."""

    samples: tuple[Annotated[float, Meta(gt=0)], ...] = ()  # Nanoseconds per element.
    exact: bool = False  # Whether all quotients are right to the last bit; for the roofline, whether the pass was.
    reason: str = ""  # The peer's message, or how its process ended: "crashed with SIGFPE".
    ended: bool = False  # Whether its process ended.

    def __post_init__(self) -> None:
        if bool(self.samples) is bool(self.reason):
            raise ValueError("a peer has either samples or a reason")

    @property
    def median(self) -> float:
        """The median of the samples."""
        return median(self.samples)

    @property
    def spread(self) -> float:
        """Half the distance of the quartiles, relative to the median."""
        lower, _, upper = quantiles(self.samples, n=4, method="inclusive")
        return (upper - lower) / 2 / self.median


class Row(Struct, frozen=True):
    """The outcomes of a cell by the peers' names, including `OURS` and `ROOFLINE`."""

    cell: Cell
    outcomes: dict[str, Outcome]

    @property
    def fastest(self) -> str | None:
        """The fastest peer whose quotients are all exact; None if there is none."""
        exact = {n: o.median for n, o in self.outcomes.items() if o.exact and n not in (OURS, ROOFLINE)}
        return min(exact, key=exact.__getitem__, default=None)

    @property
    def ratio(self) -> float | None:
        """The time of the fastest exact peer, relative to ours."""
        return self._by_ours(self.fastest)

    @property
    def of_roofline(self) -> float | None:
        """Our time, relative to the plain pass."""
        inverse = self._by_ours(ROOFLINE)
        return None if inverse is None else 1 / inverse

    def _by_ours(self, name: str | None) -> float | None:
        if name is None or not (self.outcomes[OURS].samples and self.outcomes[name].samples):
            return None
        return self.outcomes[name].median / self.outcomes[OURS].median


class Report(Struct, frozen=True):
    """A run."""

    date: str  # Of the end, in ISO 8601.
    threads: int  # Per peer.
    rounds: int  # Turns of each peer per cell.
    others: float  # The share of processor time used by other processes; the times are useless unless it is small.
    machine: dict[str, str]  # And the backend, by topic.
    titles: dict[str, str]  # By the peers' names, ours first and the roofline last.
    single_threaded: tuple[str, ...]  # The peers that can use only one thread.
    versions: dict[str, str]  # By package.
    rows: Annotated[tuple[Row, ...], Meta(min_length=1)]

    def __post_init__(self) -> None:
        for row in self.rows:
            if list(row.outcomes) != list(self.titles):
                raise ValueError(f"not every peer has an outcome in {row.cell}")

    @property
    def peers(self) -> tuple[str, ...]:
        """The names of the peers that we are compared with."""
        return tuple(name for name in self.titles if name not in (OURS, ROOFLINE))

    @property
    def target(self) -> str:
        """The backend of ours, such as ``"x86-64-v3"``."""
        return self.machine.get("backend", "")

    @property
    def ratios(self) -> dict[Cell, float]:
        """The time of the fastest exact peer relative to ours, in the cells that both computed."""
        return {row.cell: row.ratio for row in self.rows if row.ratio is not None}

    @property
    def is_sound(self) -> bool:
        """Whether our own engine was measured in every cell, and every checked quotient was exact."""
        return all(row.outcomes[OURS].exact for row in self.rows)


def text(report: Report) -> str:
    """Return a report as JSON, a line for each cell."""
    head = msgspec.to_builtins(report)
    lines = ",\n  ".join(json.dumps(row) for row in head.pop("rows"))
    return f'{json.dumps(head, indent=1)[:-2]},\n "rows": [\n  {lines}\n ]\n}}\n'


def read(path: Path) -> Report:
    """Return the report that a file keeps.

    Raises
    ------
    msgspec.MsgspecError
        If it keeps something else.
    """
    return msgspec.json.decode(path.read_bytes(), type=Report)
