"""The number of threads that a division may use, determined at each large division."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from operator import index
from pathlib import Path

from vinculum.errors import AttributeValueError

_CGROUPS = Path("/sys/fs/cgroup")
_OWN_CGROUPS = Path("/proc/self/cgroup")

_everywhere: int | None = None
_here: ContextVar[int | None] = ContextVar("threads", default=None)


def get_threads() -> int:
    """Return the most threads that a large division uses, here and now.

    Returns
    -------
    int
        The number given to `threads`, or else to `set_threads`, but no more than the processors that the process may
        use: by its affinity, and by the quota of its control groups (Linux), rounded up.
    """
    wanted = _here.get() or _everywhere
    if wanted == 1:
        return 1
    allowed = usable_processors()
    return allowed if wanted is None or allowed < wanted else wanted


def set_threads(n: int | None) -> None:
    """Let divisions use at most `n` threads, in the whole process, from now on.

    Quotients do not depend on it. Divisions too small to gain from more use one thread.

    Parameters
    ----------
    n : int or None
        At least 1; None, the default, for as many as the process may use. More than those are never used.

    Raises
    ------
    AttributeValueError
        If `n` is something else.

    See Also
    --------
    threads : the same inside a ``with`` statement.
    """
    global _everywhere
    _everywhere = _checked(n)


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Let divisions use at most `n` threads inside a ``with`` statement, for the running thread or task only.

    Parameters
    ----------
    n : int
        At least 1.

    Raises
    ------
    AttributeValueError
        If `n` is something else.

    Examples
    --------
    >>> import numpy as np
    >>> import vinculum
    >>> with vinculum.threads(1):
    ...     vinculum.div(np.int8([-7]), np.int8([2]))
    array([-3], dtype=int8)
    """
    token = _here.set(_checked(n))
    try:
        yield
    finally:
        _here.reset(token)


def _checked(n: int | None) -> int | None:
    if n is None:
        return None
    try:
        number = 0 if isinstance(n, bool) else index(n)
    except TypeError:
        number = 0
    if number < 1:
        raise AttributeValueError(f"n is {n!r}; give a whole number of threads from 1, or None for all allowed")
    return number


def usable_processors() -> int:
    """Return how many processors the process may use: its affinity now, and the quota that it had at the first call."""
    try:
        allowed = len(os.sched_getaffinity(0))
    except AttributeError:  # other systems than Linux
        allowed = os.cpu_count() or 1
    granted = _granted()
    return granted if granted < allowed else allowed


@cache
def _granted() -> int:
    return granted_processors(_OWN_CGROUPS, _CGROUPS)


def granted_processors(own_groups: Path, root: Path) -> int:
    """Return how many processors control groups grant a process (Linux, versions 1 and 2), rounded up.

    It is at least 1, and `sys.maxsize` if no group sets a limit. The file names the groups of the process, as
    ``/proc/self/cgroup`` does; they are mounted at the root, as at ``/sys/fs/cgroup``. Existing packages look at the
    root group only, which is not the process's own inside a service.
    """
    return min((math.ceil(quota) for quota in _quotas(own_groups, root)), default=sys.maxsize)


def _quotas(own_groups: Path, mounted: Path) -> Iterator[float]:
    """Yield the processors that each control group around the process grants it."""
    try:
        lines = os.fsdecode(own_groups.read_bytes()).split("\n")
    except OSError:
        return
    for line in lines:
        if line.count(":") < 2:
            continue
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        # In a container the path may be the host's, of which only the root is mounted: try all parents.
        root = mounted if not controllers else mounted / "cpu"
        group = root / path.lstrip("/")
        for place in (group, *group.parents):
            if place != root and root not in place.parents:
                break
            quota = _quota(place)
            if quota is not None:
                yield quota


def _quota(group: Path) -> float | None:
    """Return how many processors one control group grants, None if it sets no limit."""
    try:
        if (group / "cpu.max").exists():
            quota, period = (group / "cpu.max").read_text(encoding="ascii").split()
        else:
            quota, period = ((group / f"cpu.cfs_{name}_us").read_text(encoding="ascii") for name in ("quota", "period"))
        granted = float(quota) / float(period)  # "max" is no number
    except (OSError, ValueError, ZeroDivisionError):
        return None
    return granted if 0 < granted < math.inf else None  # version 1 has -1 for no limit
