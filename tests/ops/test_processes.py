"""Processes share compiled kernels on disk: what one compiled must not stand in for what another did."""

from __future__ import annotations

from pathlib import Path

from tests.kernels.processes import environment, run

DIVIDE = """
import numpy, vinculum
a, b = numpy.array([-7, 1], "i1"), numpy.array([2, 3], "i1")
calls = {
    "truncating": lambda: vinculum.div(a, b).tolist(),
    "floor": lambda: vinculum.divide(a, b).tolist(),
}
print(*(calls[name]() for name in NAMES), sep=";")
"""
EXPECTED = {
    "truncating": "[-3, 0]",
    "floor": "[-4, 0]",
}


def divided(cache: Path, *names: str) -> dict[str, str]:
    """Divide in another process in the order given; return what each call printed."""
    output = run(["-c", DIVIDE.replace("NAMES", repr(names))], environment(cache))
    return dict(zip(names, output.strip().split(";"), strict=True))


def test_kernels_that_different_processes_compiled_keep_apart(tmp_path: Path) -> None:
    """The compiler's names for the parts of a kernel count from the start of a process, so that they may coincide.

    Kernels of floats that two processes compile at once are in `tests/kernels/test_cache.py`.
    """
    for name in EXPECTED:
        assert divided(tmp_path, name) == {name: EXPECTED[name]}
    for order in (list(EXPECTED), list(EXPECTED)[::-1]):
        assert divided(tmp_path, *order) == {n: EXPECTED[n] for n in order}
