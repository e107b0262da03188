"""Clusters that cannot be used: one line says why; tests/machine has some that can."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import pytest

from vinculum.errors import ModelError
from vinculum.stored.clusters import client_of
from vinculum.stored.workers import workers

pytestmark = pytest.mark.skipif(os.name == "nt", reason="stored arrays are divided on Linux and macOS")


def test_no_scheduler() -> None:
    with pytest.raises(ModelError, match="no scheduler answers at 'nowhere at all'"), client_of("nowhere at all"):
        pass


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ({"tcp://x:1": "0.0.1"}, r"the worker at tcp://x:1 has vinculum 0\.0\.1, and this process .*; install one"),
        (ImportError("no such module"), "the workers cannot import vinculum; install .* there: no such module"),
    ],
)
def test_workers_of_another_version(found: dict[str, str] | Exception, words: str) -> None:
    class Client:
        def run(self, function: Callable[[], str]) -> dict[str, str]:
            if isinstance(found, Exception):
                raise found
            return {"tcp://ours:1": function(), **found}

    with pytest.raises(ModelError, match=words), workers(Client()):
        pass


def test_without_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(ModelError, match=r"needs the package distributed: pip install 'dask\[array,distributed\]'"),
        client_of("tcp://127.0.0.1:1"),
    ):
        pass
