"""Chains of divisions with policies that raise: the number of tasks, the quotients and the errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import dask
import dask.array as da
import dask.graph_manipulation
import numpy as np
import pytest
from dask import _task_spec

import vinculum
from tests.cases import outcome
from tests.dask_arrays.test_division import Array, computed, div, sonnx_div, tasks


def chain(x: Any, divisions: Iterable[Callable[[Any], Any]]) -> Any:
    """Apply a chain of divisions to an array."""
    for division in divisions:
        x = division(x)
    return x


class Counted:
    """A source that counts how often its blocks are computed."""

    def __init__(self, array: Array, chunks: Any) -> None:
        self.blocks = 0
        self.lazy = da.map_blocks(
            self._counted, da.from_array(array, chunks=chunks), dtype=array.dtype, meta=np.empty(0, array.dtype)
        )

    def _counted(self, block: Array) -> Array:
        self.blocks += 1
        return block

    def __dask_tokenize__(self) -> object:
        return id(self)


def blocks_behind(graph: dict[Any, Any], name: str) -> set[Any]:
    """Return the keys of source blocks and quotients on which a layer depends, not counting those behind verdicts."""
    left, seen = [key for key in graph if key[0] == name], set[Any]()
    while left:
        new = {key for key in graph[left.pop()].dependencies if not key[0].startswith("vinculum-verdict")} - seen
        seen |= new
        left += new
    return {key for key in seen if key[0].startswith(("arange", "vinculum-div"))}


LINKS: dict[str, Callable[[Any], Any]] = {
    "divisor": lambda x: div(np.int32(1000), x),
    "divisor, by OpenVINO": lambda x: vinculum.divide(np.int32(-1000), x, overflow="raise"),
    "dividend": lambda x: div(x, np.int32(2), overflow="raise"),
    "SONNX": lambda x: sonnx_div(x, np.full(4, 2, np.int32)),
    "itself": lambda x: div(x, x),  # Dask (2026.8) does not fuse what is passed twice
    "both": lambda x: div(x + div(np.int32(99), x), x + 1),
    "Newton's square root": lambda x: div(x + div(np.int32(99), x), np.int32(2)),
}


class TestSize:
    """The number of tasks grows linearly with the number of divisions."""

    @pytest.mark.parametrize("links", [10, 20])
    @pytest.mark.parametrize("link", LINKS)
    def test_tasks_of_one_block(self, link: str, links: int) -> None:
        assert tasks(chain(da.ones(4, chunks=4, dtype="i4"), [LINKS[link]] * links)) <= 15 * links

    @pytest.mark.parametrize("links", [5, 10])
    def test_tasks_of_many_blocks(self, links: int) -> None:
        x = da.ones(400, chunks=4, dtype="i4")
        quotients, checks, verdict = 100, 100, 7
        assert tasks(chain(x, [LINKS["divisor"]] * links)) <= quotients + links * (checks + verdict)

    def test_the_source_is_computed_once_for_each_check(self) -> None:
        """Computing it once for all checks would keep every block until the first verdict."""
        source = Counted(np.arange(1, 9, dtype=np.int32), 4)
        lazy = chain(source.lazy, [LINKS["divisor"]] * 10)
        lazy.compute(scheduler="sync")
        assert source.blocks == 2 * (10 + 1)

    def test_the_source_is_computed_once_where_nothing_raises(self) -> None:
        source = Counted(np.arange(1, 9, dtype=np.int32), 4)
        div(source.lazy, source.lazy, zero_divisor="zero").compute(scheduler="sync")
        assert source.blocks == 2
        div(source.lazy, da.ones(8, chunks=4, dtype="i4")).compute(scheduler="sync")
        assert source.blocks == 4, "only the divisor is checked"

    def test_no_block_is_kept_from_one_check_to_the_next(self) -> None:
        """Each check, and the division, has its own tasks, which depend on others only through verdicts."""
        lazy = chain(da.arange(1, 41, chunks=8, dtype="i4"), [LINKS["divisor"]] * 3)
        graph = _task_spec.convert_legacy_graph(dict(lazy.__dask_graph__()))
        checks = {key[0] for key in graph if key[0].startswith("vinculum-check")}
        groups = [blocks_behind(graph, name) for name in (lazy.name, *checks)]
        assert [len(group) for group in groups].count(0) == 0
        assert len(checks) == 3
        assert sum(map(len, groups)) == len(set().union(*groups))

    def test_two_results_share_what_they_have_in_common(self) -> None:
        source = Counted(np.arange(1, 9, dtype=np.int32), 4)
        q = div(np.int32(100), source.lazy)
        first, second = div(q, np.int32(7)), div(q, np.int32(8), overflow="raise")
        got = dask.compute(first, second, scheduler="sync")
        b = div(np.int32(100), np.arange(1, 9, dtype=np.int32))
        assert [x.tolist() for x in got] == [div(b, np.int32(7)).tolist(), div(b, np.int32(8)).tolist()]
        quotients, check, check_for_overflow = 1, 1, 1
        assert source.blocks == 2 * (quotients + check + check_for_overflow)

    def test_what_is_persisted_is_not_computed_again(self) -> None:
        source = Counted(np.arange(1, 9, dtype=np.int32), 4)
        kept = div(np.int32(100), source.lazy).persist(scheduler="sync")
        assert source.blocks == 2 * 2
        wanted = div(np.int32(7), div(np.int32(100), np.arange(1, 9, dtype=np.int32)))
        assert computed(div(np.int32(7), kept)).tolist() == wanted.tolist()
        assert source.blocks == 2 * 2


def zeros_at(*indices: tuple[int, int]) -> Array:
    """Return a divisor with zeros in some places; 840 divided by its other elements is never 0."""
    b: Array = np.random.default_rng(0).integers(1, 9, (12, 10)).astype(np.int32)
    for index in indices:
        b[index] = 0
    return b


def in_turn(*policies: dict[str, Any]) -> Callable[[Any, Any], Any]:
    """Return a program that divides by one policy, then by another."""

    def program(a: Any, b: Any) -> Any:
        first, second = (partial(div, **policy) for policy in policies)
        quotients = first(a, b)
        return first(second(b, quotients + 1), first(quotients, np.int32(-1)) - 7)

    return program


def reduced(a: Any, b: Any) -> Any:
    """Divide by reductions of quotients."""
    q = div(a * 100, b)
    return div(div(q.T, q.max(axis=1)), (q.sum() % 11).astype("i4") + 1).sum()


PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "three links": lambda a, b: div(np.int32(840), div(div(np.int32(840), a), b)),
    "three links, of which the last one fails": lambda a, b: div(div(div(np.int32(840), a), b), a - a[11:]),
    "quotients that become zero": lambda a, b: div(np.int32(1), div(np.int32(2), a)),
    "quotients of quotients by one": lambda a, b: div(np.int32(1), div(np.int32(1), b)),
    **{f"{policy}": in_turn(policy, {"zero_divisor": "zero"}) for policy in ({"overflow": "raise"}, {})},
    **{f"{kind} for zero": in_turn({"zero_divisor": kind}, {"zero_divisor": "zero"}) for kind in ("zero", "saturate")},
    "shared dividends": lambda a, b: div(div(a, a), div(b, a)),
    "operands that change places": lambda a, b: div(div(b, a), div(a, b)),
    "a divisor twice": lambda a, b: div(div(a, b), b),
    "parts": lambda a, b: div(div(a, div(a, a) + b[:1]), div(b, a) + b * 9),
    "reductions between": reduced,
}
FEW, MANY = zeros_at((4, 4), (5, 0)), zeros_at((3, 3), (4, 1), (11, 9))
MANY[6, 5] = -(2**31)
AGAIN: dict[str, Callable[[Any], Any]] = {
    "itself": lambda q: q,
    "persisted": lambda q: q.persist(),
    "optimised": lambda q: dask.optimize(q)[0],
    "cloned": dask.graph_manipulation.clone,
}


class TestErrors:
    """The first division of a chain that fails raises, with the count and the first index of its whole operands."""

    @pytest.mark.parametrize("program", PROGRAMS)
    def test_of_programs(self, program: str) -> None:
        divided, fine = PROGRAMS[program], zeros_at()
        for a, b in ((fine, fine), (FEW, fine), (fine, FEW), (MANY, fine), (fine, MANY)):
            lazy = divided(da.from_array(a, chunks=(5, 4)), da.from_array(b, chunks=(3, 10)))
            wanted = outcome(lambda: divided(a, b))  # noqa: B023 - called at once
            assert outcome(partial(lazy.compute, scheduler="threads")) == wanted

    @pytest.mark.parametrize("way", AGAIN)
    def test_of_what_dask_has_made_of_quotients(self, way: str) -> None:
        for b in (zeros_at(), FEW, np.sign(FEW) + 1):
            wanted = outcome(lambda: div(np.int32(9), div(np.int32(9), b)))  # noqa: B023 - called at once
            q = div(np.int32(9), da.from_array(b, chunks=(5, 4)))
            assert outcome(lambda: div(np.int32(9), AGAIN[way](q)).compute()) == wanted  # noqa: B023 - likewise
