"""The number of threads of a division: the one asked for, and never more than the process may use."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import numpy as np
import pytest

import vinculum
from tests.kernels.many_threads import in_threads
from vinculum.kernels import threads as thread_limit

ALLOWED = 12
UNLIMITED = sys.maxsize


@pytest.mark.usefixtures("twelve_threads")
class TestAskedFor:
    """`set_threads` applies everywhere, `threads` in its context only, and both up to the processors allowed."""

    @pytest.mark.parametrize(("wanted", "given"), [(1, 1), (7, 7), (12, 12), (13, 12), (10**30, 12), (None, 12)])
    def test_everywhere(self, wanted: int | None, given: int) -> None:
        vinculum.set_threads(wanted)
        assert vinculum.get_threads() == given
        assert in_threads(lambda _: vinculum.get_threads(), [None]) == [given]
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

        assert asyncio.run(both()) == [[1] * 5 + [ALLOWED], [3] * 2 + [ALLOWED], [7] * 4 + [ALLOWED]]

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


class Groups:
    """A tree of control groups in a folder, and a file with the groups of a process."""

    def __init__(self, folder: Path) -> None:
        self.root, self.told = folder / "cgroup", folder / "proc"

    def write(self, group: str, **files: str | bytes) -> None:
        """Write a group's files; the first underscore stands for a dot in their names."""
        folder = self.root / group
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name.replace("_", ".", 1)).write_bytes(text if isinstance(text, bytes) else text.encode())

    def granted(self, told: str | bytes) -> int:
        """Return how many processors a process with these groups may use."""
        self.told.write_bytes(told if isinstance(told, bytes) else told.encode())
        return thread_limit.granted_processors(self.told, self.root)


@pytest.fixture
def groups(tmp_path: Path) -> Groups:
    """Return an empty tree."""
    return Groups(tmp_path)


# Groups with their files, what a process is told of its groups, and how many processors it is granted.
QUOTAS = {
    "two": ({"service": "200000 100000"}, "0::/service", 2),
    "rounded up": ({"service": "150000 100000"}, "0::/service", 2),
    "less than one": ({"service": "1000 100000"}, "0::/service", 1),
    "no quota": ({"service": "max 100000"}, "0::/service", UNLIMITED),
    "many": ({"service": "9900000 100000"}, "0::/service", 99),
    "an outer group": ({"a": "300000 100000", "a/b": "max 100000", "a/b/c": "500000 100000"}, "0::/a/b/c", 3),
    "the root": ({"": "200000 100000", "a": "300000 100000", "a/b": "max 100000"}, "0::/a/b", 2),
    "the innermost": ({"": "200000 100000", "a": "300000 100000", "a/b": "50000 100000"}, "0::/a/b", 1),
    "another group": ({"": "200000 100000", "a/b": "50000 100000"}, "0::/a/other", 2),
    "a container, which sees its own group as the root": ({"": "400000 100000"}, "0::/docker/0123abcd", 4),
    "a container in a pod": ({"": "400000 100000"}, "0::/../../kubepods/pod1", 4),
    "a name beyond ASCII": ({"dienst-ü": "200000 100000"}, "0::/dienst-ü", 2),
    "no such group": ({}, "0::/service", UNLIMITED),
}
OLD = "5:memory:/other\n4:cpu,cpuacct:/service\n2:cpuset:/\n1:name=systemd:/service\n"
QUOTAS_OF_VERSION_1 = {
    "rounded up": ({"cpu/service": ("250000\n", "100000\n")}, OLD, 3),
    "no quota": ({"cpu/service": ("-1\n", "100000\n")}, OLD, UNLIMITED),
    "an outer group": ({"cpu/service": ("-1", "100000"), "cpu": ("100000", "50000")}, OLD, 2),
    "of other controllers": ({"cpu/service": ("100000", "100000")}, "5:memory,cpuset:/service\n", UNLIMITED),
}


class TestControlGroups:
    """The smallest quota of a process's control groups limits its threads; quotas are rounded up."""

    @pytest.mark.parametrize(("quotas", "told", "granted"), QUOTAS.values(), ids=QUOTAS)
    def test_version_2(self, quotas: dict[str, str], told: str, granted: int, groups: Groups) -> None:
        for group, quota in quotas.items():
            groups.write(group, cpu_max=f"{quota}\n")
        assert groups.granted(f"{told}\n") == granted

    @pytest.mark.parametrize(("quotas", "told", "granted"), QUOTAS_OF_VERSION_1.values(), ids=QUOTAS_OF_VERSION_1)
    def test_version_1(self, quotas: dict[str, tuple[str, str]], told: str, granted: int, groups: Groups) -> None:
        for group, (quota, period) in quotas.items():
            groups.write(group, cpu_cfs_quota_us=quota, cpu_cfs_period_us=period)
        assert groups.granted(told) == granted

    def test_both_versions_at_once(self, groups: Groups) -> None:
        groups.write("cpu/old", cpu_cfs_quota_us="500000", cpu_cfs_period_us="100000")
        groups.write("new", cpu_max="700000 100000")
        assert groups.granted("4:cpu,cpuacct:/old\n0::/new\n") == 5

    @pytest.mark.parametrize(
        "content",
        [
            *("", "max", "fast 100000", "100000", "1 2 3", "100000 0", "0 0", "nan 1", "inf 1", "1 nan", "0 100000"),
            *("-5 100000", b"\xff\xfe 1"),
        ],
        ids=repr,
    )
    def test_a_quota_that_cannot_be_read_is_none(self, content: str | bytes, groups: Groups) -> None:
        groups.write("a/b", cpu_max=content)
        groups.write("a", cpu_max="300000 100000")
        assert groups.granted("0::/a/b\n") == 3

    @pytest.mark.parametrize("line", ["", "nonsense", "0:", "0::", ":::", "0:cpu", "\0", b"0::/\xff\xfe", "0::/a\n\n"])
    def test_groups_that_cannot_be_read_are_passed_over(self, line: str | bytes, groups: Groups) -> None:
        groups.write("service", cpu_max="200000 100000")
        told = line if isinstance(line, bytes) else line.encode()
        assert groups.granted(told) == UNLIMITED
        assert groups.granted(told + b"\n0::/service\n") == 2

    def test_no_such_file(self, groups: Groups) -> None:
        assert not groups.told.exists()
        assert thread_limit.granted_processors(groups.told, groups.root) == UNLIMITED


class TestUsableProcessors:
    """The number of processors in the current affinity, up to the quota of the control groups."""

    def test_an_affinity_that_changes_counts_at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        granted = thread_limit.granted_processors(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup"))
        for allowed in ({0, 1, 2}, {1}, {0, 1}):
            monkeypatch.setattr(os, "sched_getaffinity", lambda process, allowed=allowed: allowed, raising=False)
            assert vinculum.get_threads() == thread_limit.usable_processors() == min(len(allowed), granted)

    @pytest.mark.parametrize(("counted", "usable"), [(None, 1), (3, 3), (9, 4)])
    def test_without_an_affinity(self, counted: int | None, usable: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delattr(os, "sched_getaffinity", raising=False)
        monkeypatch.setattr(os, "cpu_count", lambda: counted)
        monkeypatch.setattr(thread_limit, "_granted", lambda: 4)
        assert thread_limit.usable_processors() == usable
