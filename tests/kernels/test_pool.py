"""Threads that help: what they divide is what one thread divides, however many there are and whoever else divides."""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from functools import cache
from types import FrameType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import vinculum
from tests.kernels.comparing import DTYPES, FLOATS, INTEGERS, assert_same, encodings, random_encodings
from vinculum.kernels import pool as pools
from vinculum.kernels import thread_limit
from vinculum.kernels.pool import Pool
from vinculum.ops.operator import Operator

Array = npt.NDArray[Any]

COUNTS = (1, 2, 3, 8)


@pytest.fixture(autouse=True)
def eight(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let more threads divide than there are processors."""
    monkeypatch.setattr(thread_limit, "usable_processors", lambda: 8)
    yield
    vinculum.set_threads(None)


def policies(name: str) -> dict[str, Any]:
    """Return policies that give every pair a value."""
    return {} if name in FLOATS else {"zero_divisor": "saturate", "overflow": "saturate"}


@cache
def square(name: str, seed: int) -> Array:
    """Return enough elements for several blocks of any type."""
    side = {1: 1200, 2: 800, 4: 600, 8: 500}[DTYPES[name].itemsize]
    return random_encodings(name, (side, side), seed)


def every_way(name: str) -> dict[str, tuple[Array, Array]]:
    """Return operands of each layout that is cut into blocks in its own way."""
    a, b = square(name, 0), square(name, 1)
    return {
        "contiguous": (a, b),
        "a scalar": (a, b[3, 5]),
        "of a scalar": (a[3, 5], b),
        "rows": (a, b[1]),
        "columns": (a, b[:, 2:3]),
        "outer": (a[:, :1], b[:1]),
        "every other": (a[:, ::2], b[:, ::2]),
        "turned": (a[::-1, ::-1], b),
        "transposed": (a.T, b),
        "both transposed": (a.T, b.T),
        "with gaps": (a[:, :-3], b[:, 3:]),
    }


class TestNumberOfThreads:
    """Neither a quotient, nor a count, nor a first index depends on it."""

    @pytest.mark.parametrize("name", DTYPES)
    def test_quotients(self, name: str) -> None:
        for operator in (vinculum.div, vinculum.divide):
            for way, (a, b) in every_way(name).items():
                with vinculum.threads(1):
                    expected = operator(a, b, **policies(name))
                for count in COUNTS[1:]:
                    with vinculum.threads(count):
                        result = operator(a, b, **policies(name))
                    assert result.strides == expected.strides, way
                    assert np.array_equal(encodings(result), encodings(expected)), way

    def test_one_thread_is_right(self) -> None:
        """What the others are compared with."""
        with vinculum.threads(1):
            a, b = square("int32", 0), np.where(square("int32", 1) == 0, 1, square("int32", 1)).astype("i4")
            expected = a.astype(np.int64) // b
            assert_same(vinculum.divide(a, b), expected.astype("i4"))

    @pytest.mark.parametrize("name", ["int8", "uint16", "int64"])
    @pytest.mark.parametrize("way", every_way("int8"))
    def test_exceptional_elements(self, name: str, way: str) -> None:
        a, b = every_way(name)[way]
        shape = np.broadcast_shapes(a.shape, b.shape)
        zero = np.broadcast_to(b == 0, shape)
        minimum = (
            np.broadcast_to(a == np.iinfo(name).min, shape) & np.broadcast_to(b == DTYPES[name].type(-1), shape)
            if DTYPES[name].kind == "i"
            else np.zeros(shape, bool)
        )
        for count in COUNTS:
            with vinculum.threads(count):
                for policy, affected in ({"zero_divisor": "raise"}, zero), ({"overflow": "raise"}, minimum):
                    given: dict[str, Any] = {"zero_divisor": "zero", **policy}
                    if not affected.any():
                        vinculum.div(a, b, **given)
                        continue
                    with pytest.raises((vinculum.DivisionByZeroError, vinculum.IntegerOverflowError)) as caught:
                        vinculum.div(a, b, **given)
                    first = tuple(int(i) for i in np.unravel_index(int(np.argmax(affected)), shape))
                    assert (caught.value.count, caught.value.first_index) == (int(affected.sum()), first)


class TestHelpers:
    """They are started when they are first wanted, as many as are wanted, and none for one thread."""

    @pytest.fixture
    def own_pool(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pool]:
        """Use another pool than the process's."""
        own = Pool()
        monkeypatch.setattr(pools, "_pool", own)
        yield own
        own.close()

    def test_none_for_one_thread(self, own_pool: Pool) -> None:
        vinculum.set_threads(1)
        vinculum.div(square("float32", 0), square("float32", 1))
        assert own_pool._helpers == []

    def test_none_for_few_elements(self, own_pool: Pool) -> None:
        vinculum.div(np.ones(1000, "f4"), np.ones(1000, "f4"))
        vinculum.div(np.ones((1000, 3), "f4").T, np.ones((1000, 3), "f4").T)
        assert own_pool._helpers == []

    def test_as_many_as_are_wanted(self, own_pool: Pool) -> None:
        for count, helpers in ((2, 1), (3, 2), (2, 2), (8, 7), (1, 7)):
            with vinculum.threads(count):
                vinculum.div(square("float64", 0), square("float64", 1))
            assert len(own_pool._helpers) == helpers
        names = {helper.thread.name for helper in own_pool._helpers}
        assert names == {f"vinculum-{n}" for n in range(1, 8)}

    def test_no_more_than_there_are_blocks(self, own_pool: Pool) -> None:
        a = np.ones(3 * (1 << 17) - 5, np.int8)
        assert (vinculum.div(a, a) == 1).all()
        assert len(own_pool._helpers) <= 2

    def test_they_help_again_after_they_slept(self, own_pool: Pool) -> None:
        a, b = square("int32", 0), square("int32", 1)
        expected = vinculum.div(a, b, zero_divisor="zero")
        for _ in range(20):
            for helper in own_pool._helpers:
                while not helper.asleep:
                    threading.Event().wait(0.001)
            assert_same(vinculum.div(a, b, zero_divisor="zero"), expected)
        assert len(own_pool._helpers) == 7

    def test_after_it_is_closed_the_caller_divides_alone(self, own_pool: Pool) -> None:
        """As in a function that runs when the interpreter ends."""
        a, b = square("int32", 0), square("int32", 1)
        expected = vinculum.div(a, b, zero_divisor="zero")
        helpers = [helper.thread for helper in own_pool._helpers]
        own_pool.close()
        assert not any(thread.is_alive() for thread in helpers)
        for count in COUNTS:
            with vinculum.threads(count):
                assert_same(vinculum.div(a, b, zero_divisor="zero"), expected)
        assert [helper.thread for helper in own_pool._helpers] == helpers

    def test_closed_before_anybody_helped(self, own_pool: Pool) -> None:
        own_pool.close()
        a = square("float32", 0)
        assert_same(vinculum.div(a, a[0]), vinculum.div(a, np.broadcast_to(a[0], a.shape).copy()))
        assert own_pool._helpers == []

    def test_a_system_that_starts_no_thread(self, own_pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
        """A limit of processes is reached, say; the division is not less right for that."""

        def refused(thread: threading.Thread) -> None:
            raise RuntimeError("can't start new thread")

        a, b = square("int32", 0), square("int32", 1)
        with monkeypatch.context() as limited:
            limited.setattr(threading.Thread, "start", refused)
            alone = vinculum.div(a, b, zero_divisor="zero")
        assert own_pool._helpers == []
        assert_same(vinculum.div(a, b, zero_divisor="zero"), alone)
        assert len(own_pool._helpers) == 7


@contextmanager
def handled(handle: Callable[[], object]) -> Iterator[None]:
    """Call a function wherever in the pool's code a signal's handler would be: where a function begins or C returns."""

    def look(frame: FrameType, event: str, argument: object) -> None:
        if event in ("call", "c_return") and frame.f_code.co_filename == pools.__file__:
            handle()

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(before)


def may_start(pool: Pool) -> bool:
    """Whether nobody is starting helpers of a pool."""
    if not pool._starting.acquire(timeout=10):
        return False
    pool._starting.release()
    return True


class TestInterrupts:
    """A signal's handler that raises loses no helper, and one that divides does not wait for itself."""

    @pytest.mark.parametrize("state", ["none yet", "awake", "asleep"])
    def test_at_every_place(self, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
        a, b = square("float32", 0), square("float32", 1)
        expected = vinculum.div(a, b)
        for place in itertools.count():
            with closing(Pool()) as own, vinculum.threads(3), ThreadPoolExecutor(1) as other:
                monkeypatch.setattr(pools, "_pool", own)
                if state != "none yet":
                    vinculum.div(a, b)
                while state == "asleep" and not all(helper.asleep for helper in own._helpers):
                    threading.Event().wait(0.001)
                places = itertools.count()

                def interrupt(places: Iterator[int] = places, place: int = place) -> None:
                    if next(places) == place:
                        raise KeyboardInterrupt

                with suppress(KeyboardInterrupt), handled(interrupt):
                    vinculum.div(a, b)
                assert own.state[pools._TAKEN] == 0
                assert other.submit(may_start, own).result()
                assert_same(vinculum.div(a, b), expected)
                assert len(own._helpers) == 2
                if next(places) <= place:  # there is no such place
                    break
        assert place > 3

    def test_a_handler_that_divides(self, monkeypatch: pytest.MonkeyPatch) -> None:
        a, b = square("float32", 0), square("float32", 1)
        expected = vinculum.div(a, b)
        found: list[Array] = []
        with closing(Pool()) as own:
            monkeypatch.setattr(pools, "_pool", own)
            with handled(lambda: found.append(vinculum.div(a, b))):
                found.append(vinculum.div(a, b))
        assert len(found) > 3
        for quotients in found:
            assert_same(quotients, expected)


class TestManyCallers:
    """Threads of Python's that divide at the same time do not meet in one job."""

    def test_each_has_its_own_quotients(self) -> None:
        work = [
            (name, rows, pair)
            for name in DTYPES
            for rows in (1, 3, 40, None)
            for pair in list(every_way(name).values())[:4]
        ]
        operators = {name: Operator("Div", **policies(name)) for name in DTYPES}

        def divide(item: tuple[str, int | None, tuple[Array, Array]]) -> Array:
            name, rows, (a, b) = item
            return operators[name](*(x[:rows] if x.ndim == 2 else x for x in (a, b)))

        with vinculum.threads(1):
            expected = [divide(item) for item in work]

        def all_from(start: int) -> None:
            for i in range(start, start + len(work), 3):
                place = i % len(work)
                assert_same(divide(work[place]), expected[place])

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(all_from, range(0, len(work), len(work) // 8)))

    def test_one_operator_of_all(self) -> None:
        """The quick way for few elements changes its type from call to call, in each thread at its own pace."""
        operator = Operator("Div")
        pairs = {name: (np.arange(1, 17).astype(DTYPES[name]), np.full(16, 3).astype(DTYPES[name])) for name in DTYPES}
        expected = {name: vinculum.div(*pair) for name, pair in pairs.items()}
        names = list(DTYPES)

        def divide(shift: int) -> None:
            for turn in range(400):
                name = names[(turn * (shift + 1) + shift) % len(names)]
                assert_same(operator(*pairs[name]), expected[name])

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(divide, range(8)))

    @pytest.mark.parametrize("name", ["int16", "uint64"])
    def test_each_is_told_of_its_own_elements(self, name: str) -> None:
        assert name in INTEGERS
        a = square(name, 0)

        def find(row: int) -> None:
            b = np.ones_like(a)
            b[row, row + 1 :] = 0
            for _ in range(5):
                with pytest.raises(vinculum.DivisionByZeroError) as caught:
                    vinculum.div(a, b)
                assert caught.value.first_index == (row, row + 1)
                assert caught.value.count == a.shape[1] - row - 1

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(find, range(0, 480, 60)))
