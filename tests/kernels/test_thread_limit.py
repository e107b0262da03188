"""How many threads a division may use: what was asked for, where it was asked for, and never more than is allowed."""

from __future__ import annotations

import asyncio
import contextvars
import os
import sys
import threading
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
    """`set_threads` holds everywhere, `threads` in its context only, and both below what is allowed."""

    def test_as_many_as_allowed_unless_asked(self) -> None:
        assert vinculum.get_threads() == ALLOWED

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
        other.join(60)
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

        assert asyncio.run(both()) == [[1] * 5 + [ALLOWED], [3] * 2 + [ALLOWED], [7] * 4 + [ALLOWED]]

    def test_a_context_that_is_copied_goes_on_elsewhere(self) -> None:
        with vinculum.threads(2):
            context = contextvars.copy_context()
        assert in_threads(context.run, [vinculum.get_threads]) == [2]
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


class Groups:
    """A tree of control groups in a folder, and a file that says which of them are a process's."""

    def __init__(self, folder: Path) -> None:
        self.root, self.told = folder / "cgroup", folder / "proc"

    def write(self, group: str, **files: str | bytes) -> None:
        """Write a group's files; the first underscore stands for a dot in their names."""
        folder = self.root / group
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name.replace("_", ".", 1)).write_bytes(text if isinstance(text, bytes) else text.encode())

    def granted(self, told: str | bytes) -> int:
        """Return how many processors a process is granted if its groups are these."""
        self.told.write_bytes(told if isinstance(told, bytes) else told.encode())
        return thread_limit.granted_processors(self.told, self.root)


@pytest.fixture
def groups(tmp_path: Path) -> Groups:
    """Return an empty tree."""
    return Groups(tmp_path)


class TestControlGroups:
    """The quotas of a process's control groups, each one of them, bound its threads; they are rounded up."""

    @pytest.mark.parametrize(
        ("quota", "granted"),
        [
            ("200000 100000", 2),
            ("150000 100000", 2),
            ("1000 100000", 1),
            ("max 100000", UNLIMITED),
            ("9900000 100000", 99),
        ],
    )
    def test_version_2(self, quota: str, granted: int, groups: Groups) -> None:
        groups.write("service", cpu_max=quota + "\n")
        assert groups.granted("0::/service\n") == granted

    def test_the_tightest_of_nested_groups(self, groups: Groups) -> None:
        groups.write("a", cpu_max="300000 100000")
        groups.write("a/b", cpu_max="max 100000")
        groups.write("a/b/c", cpu_max="500000 100000")
        assert groups.granted("0::/a/b/c\n") == 3
        groups.write("", cpu_max="200000 100000")
        assert groups.granted("0::/a/b/c\n") == 2
        groups.write("a/b/c", cpu_max="50000 100000")
        assert groups.granted("0::/a/b/c\n") == 1
        assert groups.granted("0::/a/other\n") == 2

    def test_a_container_sees_its_own_group_as_the_root(self, groups: Groups) -> None:
        groups.write("", cpu_max="400000 100000")
        assert groups.granted("0::/docker/0123abcd\n") == 4
        assert groups.granted("0::/../../kubepods/pod1\n") == 4

    def test_version_1(self, groups: Groups) -> None:
        groups.write("cpu/service", cpu_cfs_quota_us="250000\n", cpu_cfs_period_us="100000\n")
        told = "5:memory:/other\n4:cpu,cpuacct:/service\n2:cpuset:/\n1:name=systemd:/service\n"
        assert groups.granted(told) == 3
        groups.write("cpu/service", cpu_cfs_quota_us="-1\n")
        assert groups.granted(told) == UNLIMITED
        groups.write("cpu", cpu_cfs_quota_us="100000", cpu_cfs_period_us="50000")
        assert groups.granted(told) == 2

    def test_other_controllers_of_version_1_say_nothing_of_processors(self, groups: Groups) -> None:
        groups.write("cpu/service", cpu_cfs_quota_us="100000", cpu_cfs_period_us="100000")
        assert groups.granted("5:memory,cpuset:/service\n") == UNLIMITED

    def test_both_versions_at_once(self, groups: Groups) -> None:
        groups.write("cpu/old", cpu_cfs_quota_us="500000", cpu_cfs_period_us="100000")
        groups.write("new", cpu_max="700000 100000")
        assert groups.granted("4:cpu,cpuacct:/old\n0::/new\n") == 5

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
        assert groups.granted("0::/a/b\n") == 3

    @pytest.mark.parametrize("line", ["", "nonsense", "0:", "0::", ":::", "0:cpu", "\0", b"0::/\xff\xfe", "0::/a\n\n"])
    def test_groups_that_cannot_be_read_are_passed_over(self, line: str | bytes, groups: Groups) -> None:
        groups.write("service", cpu_max="200000 100000")
        told = line if isinstance(line, bytes) else line.encode()
        assert groups.granted(told) == UNLIMITED
        assert groups.granted(told + b"\n0::/service\n") == 2

    def test_a_name_beyond_ascii(self, groups: Groups) -> None:
        groups.write("dienst-ü", cpu_max="200000 100000")
        assert groups.granted("0::/dienst-ü\n") == 2

    def test_no_such_file(self, groups: Groups) -> None:
        assert not groups.told.exists()
        assert thread_limit.granted_processors(groups.told, groups.root) == UNLIMITED


class TestUsableProcessors:
    """Those of the affinity that the process has now, and no more than its control groups grant."""

    def test_an_affinity_that_changes_counts_at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        granted = thread_limit.granted_processors(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup"))
        for allowed in ({0, 1, 2}, {1}, {0, 1}):
            monkeypatch.setattr(os, "sched_getaffinity", lambda process, allowed=allowed: allowed, raising=False)
            assert vinculum.get_threads() == thread_limit.usable_processors() == min(len(allowed), granted)

    def test_those_of_this_process(self) -> None:
        assert 1 <= thread_limit.usable_processors() <= (os.cpu_count() or 1)
        vinculum.set_threads(1 << 40)
        try:
            assert vinculum.get_threads() == thread_limit.usable_processors()
        finally:
            vinculum.set_threads(None)
