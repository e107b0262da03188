"""Processes share compiled kernels on disk: what one compiled must not stand in for what another did."""

from __future__ import annotations

from pathlib import Path

from tests.kernels.processes import environment, run

DIVIDE = """
import ml_dtypes, numpy, vinculum
a, b = numpy.array([-7, 1], "i1"), numpy.array([2, 3], "i1")
x, y = (v.astype("f2") for v in (a, b))
p, q = (v.astype(ml_dtypes.bfloat16) for v in (a, b))
calls = {
    "truncating": lambda: vinculum.div(a, b).tolist(),
    "floor": lambda: vinculum.divide(a, b).tolist(),
    "binary16": lambda: vinculum.div(x, y).view("u2").tolist(),
    "bfloat16": lambda: vinculum.div(p, q).view("u2").tolist(),
}
print(*(calls[name]() for name in NAMES), sep=";")
"""
EXPECTED = {
    "truncating": "[-3, 0]",
    "floor": "[-4, 0]",
    "binary16": "[49920, 13653]",
    "bfloat16": "[49248, 16043]",
}


def divided(cache: Path, *names: str) -> dict[str, str]:
    """Divide in another process in the order given; return what each call printed."""
    output = run(["-c", DIVIDE.replace("NAMES", repr(names))], environment(cache))
    return dict(zip(names, output.strip().split(";"), strict=True))


def test_kernels_that_different_processes_compiled_keep_apart(tmp_path: Path) -> None:
    """The compiler's names for the parts of a kernel count from the start of a process, so that they may coincide."""
    assert divided(tmp_path, "truncating", "binary16") == {n: EXPECTED[n] for n in ("truncating", "binary16")}
    assert divided(tmp_path, "floor", "bfloat16") == {n: EXPECTED[n] for n in ("floor", "bfloat16")}
    for order in (list(EXPECTED), list(EXPECTED)[::-1]):
        assert divided(tmp_path, *order) == {n: EXPECTED[n] for n in order}
