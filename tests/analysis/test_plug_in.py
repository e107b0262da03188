"""Operators of other packages, told of by entry points."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

import vinculum
from tests.analysis.hazardous import parsed
from vinculum.analysis import Report
from vinculum.analysis.plug_in import AbstractTensor, Call, Hidden, Operator, Unary, tensor
from vinculum.analysis.transfer import operators
from vinculum.errors import ModelError


def norm(call: Call, x: AbstractTensor) -> AbstractTensor:
    """Return a norm that is never less than a half."""
    return tensor(x.element_type, x.shape, 0.5, float("inf"), bounds_from=x.bounds_from)


def _inside(call: Call, x: AbstractTensor) -> Hidden:
    return Hidden(0, tensor(x.element_type, None, float(call.attribute("epsilon", 0.0)), float("inf")))


def exits(call: Call, x: AbstractTensor) -> AbstractTensor:
    """End the program."""
    raise SystemExit(3)


halved = Unary(lambda x: x / 2, rising=True)
divides = Operator(norm, hidden=_inside)
wrong = "no function"


def _install(patch: pytest.MonkeyPatch, *points: EntryPoint) -> None:
    patch.setattr(operators, "entry_points", lambda group: EntryPoints(points))


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a package with plug-ins."""
    names = ("norm", "halved", "divides", "exits", "wrong", "absent")
    _install(monkeypatch, *(EntryPoint(f"com.acme.{n}", f"{__name__}:{n}", operators.GROUP) for n in names))
    for cached in (operators._points, operators._plugged_in):
        cached.cache_clear()
    yield
    for cached in (operators._points, operators._plugged_in):
        cached.cache_clear()


def checked(nodes: str) -> Report:
    return vinculum.check(parsed(nodes, domain="com.acme"), assume=["x=1:4"], runs=0)


def test_its_bounds_are_used() -> None:
    for nodes in ("n = com.acme.norm(x) y = Div(x, n)", "n = com.acme.halved(x) y = Div(x, n)"):
        report = checked(nodes)
        assert (report.findings, report.unknown_operators) == ((), {})


def test_its_hidden_divisor_is_looked_at() -> None:
    assert [f.rule for f in checked("y = com.acme.divides(x)").findings] == ["zero-over-zero"]
    assert checked("y = com.acme.divides <epsilon = 0.1> (x)").findings == ()


@pytest.mark.parametrize(("node", "name"), [("com.acme.norm(x, x)", "norm"), ("com.acme.exits(x)", "exits")])
def test_what_fails_makes_the_operator_unknown(node: str, name: str) -> None:
    report = checked(f"n = {node} y = Div(x, n)")
    assert report.unknown_operators == {f"{name} (malformed)": 1}
    assert "zero-divisor" in {f.rule for f in report.findings}


def test_what_cannot_be_loaded_is_told_of() -> None:
    with pytest.raises(ModelError, match=r"for operator 'com.acme.wrong' is str; give an Operator or a function"):
        checked("y = com.acme.wrong(x)")
    with pytest.raises(ModelError, match=r"'com.acme.absent' cannot be loaded: .*; repair or remove its package"):
        checked("y = com.acme.absent(x)")


def test_a_module_that_ends_the_program_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "acme_script.py").write_text("import sys\nsys.exit(0)\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    _install(monkeypatch, EntryPoint("com.acme.script", "acme_script:norm", operators.GROUP))
    with pytest.raises(ModelError, match=r"'com.acme.script' cannot be loaded: .*; repair or remove its package"):
        checked("y = com.acme.script(x)")
