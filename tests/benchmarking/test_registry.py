"""Peers by name: whoever is not there is told so in one line."""

from __future__ import annotations

import sys

import pytest

from tests.benchmarking import miniatures
from vinculum.benchmarking.peers.registry import NAMES, OURS, ROOFLINE, checked_peers, peer
from vinculum.errors import ModelError, SpecLookupError, VinculumError

MINIATURES = miniatures.__name__


@pytest.mark.parametrize("name", [*NAMES, OURS, ROOFLINE])
def test_making_one_imports_nothing_foreign(name: str) -> None:
    before = set(sys.modules)
    made = peer(name)
    assert made.title
    assert made.install.startswith("pip install ")
    foreign = {"torch", "onnxruntime", "openvino", "numexpr", "jax"}
    assert not foreign & (set(sys.modules) - before)


def test_without_names_all_that_are_installed() -> None:
    found = checked_peers([])
    assert "numpy" in found
    assert set(found) <= set(NAMES)


def test_each_once() -> None:
    assert checked_peers(["numpy", f"{MINIATURES}:Right", "numpy"]) == ("numpy", f"{MINIATURES}:Right")


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("nunpy", SpecLookupError, "no peer is called 'nunpy'; allowed: numpy, .*; did you mean 'numpy'?"),
        ("", SpecLookupError, "no peer is called ''; allowed: numpy"),
        ("limit", SpecLookupError, "'limit' is always measured"),
        ("no.such.module:Class", ModelError, "cannot be loaded: No module named 'no'"),
        (f"{MINIATURES}:Absent", ModelError, "cannot be loaded: module .* has no attribute 'Absent'"),
        (f"{MINIATURES}:NotInstalled", ModelError, "Not installed cannot .* pip install no-such-package"),
    ],
)
def test_refused(name: str, error: type[VinculumError], words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        checked_peers(["numpy", name])
    assert "\n" not in str(caught.value)
