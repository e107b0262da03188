"""The results of a run: samples of every peer in every cell, and their statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median, quantiles

from vinculum.benchmarking.cells import Cell
from vinculum.benchmarking.peers.registry import OURS, ROOFLINE


@dataclass(frozen=True)
class Measured:
    """A peer's time in a cell.

    Attributes
    ----------
    exact : bool
        Whether all its quotients are right to the last bit; for the roofline, whether the pass was right.
    samples : tuple of float
        Nanoseconds per element; at least two samples.
    """

    exact: bool
    samples: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median of the samples."""
        return median(self.samples)

    @property
    def quartiles(self) -> tuple[float, float]:
        """The first and the third quartile."""
        lower, _, upper = quantiles(self.samples, n=4, method="inclusive")
        return lower, upper

    @property
    def spread(self) -> float:
        """Half the distance of the quartiles, relative to the median."""
        lower, upper = self.quartiles
        return (upper - lower) / 2 / self.median


@dataclass(frozen=True)
class Missing:
    """Why a peer has no time in a cell.

    Attributes
    ----------
    reason : str
        Its message, or how its process ended: ``"crashed with SIGFPE"``.
    ended : bool
        Whether its process ended.
    """

    reason: str
    ended: bool = False


Outcome = Measured | Missing


@dataclass(frozen=True)
class Row:
    """The outcomes of a cell.

    Attributes
    ----------
    cell : Cell
        The measured cell.
    outcomes : Mapping of str to Measured or Missing
        The outcomes by the peers' names, including `OURS` and `ROOFLINE`.
    """

    cell: Cell
    outcomes: Mapping[str, Outcome]

    def measured(self, name: str) -> Measured | None:
        """Return a peer's time; None if it has none."""
        outcome = self.outcomes.get(name)
        return outcome if isinstance(outcome, Measured) else None

    @property
    def fastest(self) -> str | None:
        """The fastest peer whose quotients are all exact; None if there is none."""
        exact = {n: o.median for n, o in self.outcomes.items() if isinstance(o, Measured) and o.exact}
        peers = [name for name in exact if name not in (OURS, ROOFLINE)]
        return min(peers, key=exact.__getitem__, default=None)

    @property
    def ratio(self) -> float | None:
        """The time of the fastest exact peer, relative to ours."""
        return None if self.fastest is None else self._by_ours(self.fastest)

    @property
    def of_roofline(self) -> float | None:
        """Our time, relative to the plain pass."""
        inverse = self._by_ours(ROOFLINE)
        return None if inverse is None else 1 / inverse

    def _by_ours(self, name: str) -> float | None:
        ours, other = self.measured(OURS), self.measured(name)
        return None if ours is None or other is None else other.median / ours.median


@dataclass(frozen=True)
class Report:
    """A run.

    Attributes
    ----------
    date : str
        The date of the start, in ISO 8601.
    machine : Mapping of str to str
        The machine and the backend.
    titles : Mapping of str to str
        The display name of each measured peer, with Vinculum first and the roofline last.
    versions : Mapping of str to str
        The version of every package involved.
    threads : int
        Threads per peer.
    single : tuple of str
        The peers that can use only one thread.
    rounds : int
        Turns of each peer per cell.
    others : float
        The share of processor time used by other processes; the times are useless unless it is small.
    rows : tuple of Row
        The rows in the order of measurement.
    """

    date: str
    machine: Mapping[str, str]
    titles: Mapping[str, str]
    versions: Mapping[str, str]
    threads: int
    single: tuple[str, ...]
    rounds: int
    others: float
    rows: tuple[Row, ...]

    @property
    def peers(self) -> tuple[str, ...]:
        """The names of the peers that we are compared with."""
        return tuple(name for name in self.titles if name not in (OURS, ROOFLINE))

    @property
    def is_sound(self) -> bool:
        """Whether our own engine was measured in every cell, and every checked quotient was exact."""
        ours = [row.measured(OURS) for row in self.rows]
        return all(outcome is not None and outcome.exact for outcome in ours)
