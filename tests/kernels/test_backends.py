"""The choice of the backend: the quickest, the one that the environment names, or NumPy without a compiled core."""

from __future__ import annotations

import sys

import pytest

from tests.optional import needs_core
from vinculum import kernels
from vinculum.errors import AttributeValueError
from vinculum.kernels import VARIABLE, backends

chosen = kernels.backend.__wrapped__  # without what is remembered for this process
NAMES = [backend.name for backend in backends()]


@needs_core()
def test_the_quickest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert chosen().name == NAMES[0] != "portable"


@pytest.mark.parametrize("name", NAMES)
def test_one_that_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, name)
    assert chosen().name == name
    assert chosen() in backends()


def test_one_that_there_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "abacus")
    with pytest.raises(AttributeValueError) as refusal:
        chosen()
    assert str(refusal.value) == f"{VARIABLE} is 'abacus'; allowed on this machine: {', '.join(NAMES)}"


def test_without_a_compiled_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy divides, with a warning unless that was asked for."""
    monkeypatch.setitem(sys.modules, "vinculum.kernels.compiled", None)
    monkeypatch.setenv(VARIABLE, "")
    assert [backend.name for backend in backends.__wrapped__()] == ["portable"]
    with pytest.warns(RuntimeWarning, match="compiled core is missing, so that NumPy divides"):
        assert chosen().name == "portable"
    monkeypatch.setenv(VARIABLE, "portable")
    assert chosen().name == "portable"
