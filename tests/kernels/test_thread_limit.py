"""How many threads a division may use: what was asked for, where it was asked for, and never more than is allowed."""

from __future__ import annotations

import asyncio
import contextvars
import math
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import vinculum
from tests.kernels.processes import run, same_cache
from vinculum.kernels import thread_limit

ALLOWED = 8


@pytest.fixture
def eight(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the process use eight processors, whatever there are, and forget afterwards what was asked for."""
    monkeypatch.setattr(thread_limit, "usable_processors", lambda: ALLOWED)
    yield
    vinculum.set_threads(None)


@pytest.mark.usefixtures("eight")
class TestAskedFor:
    """`set_threads` holds everywhere, `threads` in its context only, and both below what is allowed."""

    def test_as_many_as_allowed_unless_asked(self) -> None:
        assert vinculum.get_threads() == ALLOWED

    @pytest.mark.parametrize(("wanted", "given"), [(1, 1), (7, 7), (8, 8), (9, 8), (10**30, 8), (None, 8)])
    def test_everywhere(self, wanted: int | None, given: int) -> None:
        vinculum.set_threads(wanted)
        assert vinculum.get_threads() == given
        with ThreadPoolExecutor(1) as other:
            assert other.submit(vinculum.get_threads).result() == given
        vinculum.set_threads(None)
        assert vinculum.get_threads() == ALLOWED

    def test_here_and_nested(self) -> None:
        vinculum.set_threads(6)
        with vinculum.threads(2):
            assert vinculum.get_threads() == 2
            with vinculum.threads(100):
                assert vinculum.get_threads() == ALLOWED
                with vinculum.threads(1):
                    assert vinculum.get_threads() == 1
                assert vinculum.get_threads() == ALLOWED
            assert vinculum.get_threads() == 2
            vinculum.set_threads(4)  # the nearer word counts
            assert vinculum.get_threads() == 2
        assert vinculum.get_threads() == 4

    def test_until_an_exception(self) -> None:
        def divide() -> None:
            with vinculum.threads(3):
                assert vinculum.get_threads() == 3
                vinculum.div(np.ones(2, "i4"), np.zeros(2, "i4"))

        with pytest.raises(vinculum.DivisionByZeroError):
            divide()
        assert vinculum.get_threads() == ALLOWED

    def test_another_thread_is_not_meant(self) -> None:
        entered, asked = threading.Event(), threading.Event()
        found = []

        def ask() -> None:
            entered.wait(60)
            found.append(vinculum.get_threads())
            with vinculum.threads(5):
                found.append(vinculum.get_threads())
                asked.set()

        other = threading.Thread(target=ask)
        other.start()
        with vinculum.threads(1):
            entered.set()
            assert asked.wait(60)
            assert vinculum.get_threads() == 1
        other.join()
        assert found == [ALLOWED, 5]

    def test_another_task_is_not_meant(self) -> None:
        async def ask(n: int, turns: int) -> list[int]:
            with vinculum.threads(n):
                found = []
                for _ in range(turns):
                    await asyncio.sleep(0)
                    found.append(vinculum.get_threads())
            return [*found, vinculum.get_threads()]

        async def both() -> list[list[int]]:
            return list(await asyncio.gather(ask(1, 5), ask(3, 2), ask(7, 4)))

        assert asyncio.run(both()) == [[1] * 5 + [8], [3] * 2 + [8], [7] * 4 + [8]]

    def test_a_context_that_is_copied_goes_on_elsewhere(self) -> None:
        with vinculum.threads(2):
            context = contextvars.copy_context()
        with ThreadPoolExecutor(1) as other:
            assert other.submit(context.run, vinculum.get_threads).result() == 2
        assert vinculum.get_threads() == ALLOWED

    @pytest.mark.parametrize("n", [0, -1, 1.5, 1.0, True, False, "2", [2], float("nan")], ids=repr)
    def test_bad_numbers(self, n: object) -> None:
        for ask in (vinculum.set_threads, lambda n: vinculum.threads(n).__enter__()):
            with pytest.raises(vinculum.AttributeValueError) as caught:
                ask(n)  # type: ignore[arg-type]  # that is the mistake
            line = str(caught.value)
            assert repr(n) in line
            assert "1" in line.replace(repr(n), "")  # from where threads are counted
            assert "\n" not in line
        assert vinculum.get_threads() == ALLOWED


# Prints the processors that a process may use, once it may use these only.
PROGRAM = """
import os, sys
os.sched_setaffinity(0, {int(cpu) for cpu in sys.argv[1:]})
import vinculum
vinculum.set_threads(64)
print(vinculum.get_threads())
"""


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux sets a process's affinity")
class TestAffinity:
    """Never more threads than the process has processors."""

    def test_affinity(self) -> None:
        usable = sorted(os.sched_getaffinity(0))
        for count in {1, len(usable)}:
            taken = [str(cpu) for cpu in usable[:count]]
            assert int(run(["-c", PROGRAM, *taken], same_cache())) <= count
        assert run(["-c", PROGRAM, str(usable[-1])], same_cache()) == "1\n"


class Groups:
    """A tree of control groups in a folder, and what ``/proc/self/cgroup`` says of it."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.told = root / "cgroup", root / "proc"
        monkeypatch.setattr(thread_limit, "_CGROUPS", self.root)
        monkeypatch.setattr(thread_limit, "_OWN_CGROUPS", self.told)
        monkeypatch.setattr(thread_limit, "_granted", thread_limit._granted.__wrapped__)
        monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(64)), raising=False)

    def write(self, group: str, **files: str | bytes) -> None:
        """Write a group's files; the first underscore stands for a dot in their names."""
        folder = self.root / group
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name.replace("_", ".", 1)).write_bytes(text if isinstance(text, bytes) else text.encode())

    def allowed(self, told: str | bytes) -> int:
        """Return how many processors the process may use if its groups are these."""
        self.told.write_bytes(told if isinstance(told, bytes) else told.encode())
        return thread_limit.usable_processors()


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Groups:
    """Return an empty tree."""
    return Groups(tmp_path, monkeypatch)


class TestControlGroups:
    """The quotas of a process's control groups, each one of them, bound its threads; they are rounded up."""

    @pytest.mark.parametrize(
        ("quota", "allowed"),
        [("200000 100000", 2), ("150000 100000", 2), ("1000 100000", 1), ("max 100000", 64), ("9900000 100000", 64)],
    )
    def test_version_2(self, quota: str, allowed: int, groups: Groups) -> None:
        groups.write("service", cpu_max=quota + "\n")
        assert groups.allowed("0::/service\n") == allowed

    def test_the_tightest_of_nested_groups(self, groups: Groups) -> None:
        groups.write("a", cpu_max="300000 100000")
        groups.write("a/b", cpu_max="max 100000")
        groups.write("a/b/c", cpu_max="500000 100000")
        assert groups.allowed("0::/a/b/c\n") == 3
        groups.write("", cpu_max="200000 100000")
        assert groups.allowed("0::/a/b/c\n") == 2
        groups.write("a/b/c", cpu_max="50000 100000")
        assert groups.allowed("0::/a/b/c\n") == 1
        assert groups.allowed("0::/a/other\n") == 2

    def test_a_container_sees_its_own_group_as_the_root(self, groups: Groups) -> None:
        groups.write("", cpu_max="400000 100000")
        assert groups.allowed("0::/docker/0123abcd\n") == 4
        assert groups.allowed("0::/../../kubepods/pod1\n") == 4

    def test_version_1(self, groups: Groups) -> None:
        groups.write("cpu/service", cpu_cfs_quota_us="250000\n", cpu_cfs_period_us="100000\n")
        told = "5:memory:/other\n4:cpu,cpuacct:/service\n2:cpuset:/\n1:name=systemd:/service\n"
        assert groups.allowed(told) == 3
        groups.write("cpu/service", cpu_cfs_quota_us="-1\n")
        assert groups.allowed(told) == 64
        groups.write("cpu", cpu_cfs_quota_us="100000", cpu_cfs_period_us="50000")
        assert groups.allowed(told) == 2

    def test_other_controllers_of_version_1_say_nothing_of_processors(self, groups: Groups) -> None:
        groups.write("cpu/service", cpu_cfs_quota_us="100000", cpu_cfs_period_us="100000")
        assert groups.allowed("5:memory,cpuset:/service\n") == 64

    def test_both_versions_at_once(self, groups: Groups) -> None:
        groups.write("cpu/old", cpu_cfs_quota_us="500000", cpu_cfs_period_us="100000")
        groups.write("new", cpu_max="700000 100000")
        assert groups.allowed("4:cpu,cpuacct:/old\n0::/new\n") == 5

    @pytest.mark.parametrize(
        "content",
        [
            "",
            "max",
            "fast 100000",
            "100000",
            "1 2 3",
            "100000 0",
            "0 0",
            "nan 1",
            "inf 1",
            "1 nan",
            "0 100000",
            "-5 100000",
            b"\xff\xfe 1",
        ],
        ids=repr,
    )
    def test_a_quota_that_cannot_be_read_is_none(self, content: str | bytes, groups: Groups) -> None:
        groups.write("a/b", cpu_max=content)
        groups.write("a", cpu_max="300000 100000")
        assert groups.allowed("0::/a/b\n") == 3

    @pytest.mark.parametrize("line", ["", "nonsense", "0:", "0::", ":::", "0:cpu", "\0", b"0::/\xff\xfe", "0::/a\n\n"])
    def test_groups_that_cannot_be_read_are_passed_over(self, line: str | bytes, groups: Groups) -> None:
        groups.write("service", cpu_max="200000 100000")
        told = line if isinstance(line, bytes) else line.encode()
        assert groups.allowed(told) == 64
        assert groups.allowed(told + b"\n0::/service\n") == 2

    def test_a_name_beyond_ascii(self, groups: Groups) -> None:
        groups.write("dienst-ü", cpu_max="200000 100000")
        assert groups.allowed("0::/dienst-ü\n") == 2

    def test_no_such_file(self, groups: Groups) -> None:
        assert not groups.told.exists()
        assert thread_limit.usable_processors() == 64

    def test_an_affinity_that_changes_counts_at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for allowed in ({0, 1, 2}, {1}, {0, 1}):
            monkeypatch.setattr(os, "sched_getaffinity", lambda process, allowed=allowed: allowed, raising=False)
            monkeypatch.setattr(thread_limit, "_granted", lambda: 64)
            assert thread_limit.usable_processors() == len(allowed)

    def test_the_real_groups_of_this_process(self) -> None:
        found = thread_limit.usable_processors()
        assert 1 <= found <= (os.cpu_count() or 1)
        assert all(quota > 0 and math.isfinite(quota) for quota in thread_limit._quotas())
