"""CUDA's own compiler takes the source, and divides by correctly rounded instructions."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.processes import run
from vinculum.device_arrays.source import NARROW, SOURCE

pytestmark = pytest.mark.skipif(shutil.which("nvcc") is None, reason="optional here, and needed: nvcc, CUDA's compiler")


def assembly(tmp_path: Path, body: str, arguments: str) -> str:
    """Return what a kernel over the source becomes, with the compiler's default options, which are CuPy's."""
    source = tmp_path / "kernel.cu"
    source.write_text(f'{SOURCE}\nextern "C" __global__ void kernel({arguments}) {{ {body} }}\n', encoding="utf-8")
    made = tmp_path / "kernel.ptx"
    done = run(["nvcc", "-std=c++17", "-Werror", "all-warnings", "-ptx", "-o", str(made), str(source)])
    assert done.returncode == 0, done.stderr
    return made.read_text(encoding="utf-8")


def test_floats(tmp_path: Path) -> None:
    narrow = "".join(
        f"c[{i}] = vinculum::narrow_quotient<vinculum::{name}>(c[0], c[1]);" for i, name in enumerate(NARROW.values())
    )
    body = f"x[0] = vinculum::float_quotient(x[0], x[1]); y[0] = vinculum::float_quotient(y[0], y[1]); {narrow}"
    text = assembly(tmp_path, body, "float* x, double* y, unsigned* c")
    assert text.count("div.rn.f32") == 1 + len(NARROW)
    assert text.count("div.rn.f64") == 1
    assert not [word for word in ("div.approx", "div.full", "rcp", ".ftz") if word in text]


def test_integers(tmp_path: Path) -> None:
    policies = "vinculum::SATURATE, vinculum::RAISE"
    body = f"a[2] = vinculum::integer_quotient<long long, true, {policies}>(a[0], a[1], *found);"
    assert "div.s64" in assembly(tmp_path, body, "long long* a, bool* found")
