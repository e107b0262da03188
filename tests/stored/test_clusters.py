"""Dask arrays and stored ones divided by processes of a cluster: the same bytes, also when one of them is killed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.optional import skip_without
from tests.processes import importing, output_of
from tests.stored import on_a_cluster
from tests.stored.stores import put, taken
from vinculum import div
from vinculum.errors import AttributeValueError, ModelError
from vinculum.stored.clusters import client_of
from vinculum.stored.workers import workers

pytestmark = pytest.mark.skipif(os.name == "nt", reason="stored arrays are divided on Linux and macOS")


def test_two_processes_of_which_one_is_killed(tmp_path: Path) -> None:
    """One cluster divides everything, because its processes take a second each to start, even forked."""
    skip_without("distributed")
    skip_without("zarr")
    rng = np.random.default_rng(0)
    a, b = rng.integers(-99, 99, (2000, 300)).astype("i4"), rng.integers(1, 99, (2000, 300)).astype("i4")
    a[1999, 7] = 0
    a[a == 0] = 1
    a[1000, 7] = a[1999, 299] = 0
    names = put(tmp_path, "a", a, "npy"), put(tmp_path, "b", b, "zarr", 100)
    outs = [str(tmp_path / "c.npy"), str(tmp_path / "c.zarr")]
    program = [sys.executable, on_a_cluster.__file__, *names, *outs]
    forking = {"DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD": "forkserver"}  # so that Dask is imported once
    of_dask, *killed, wrong = output_of(program, limit=150, env={**importing(), **forking}).splitlines()
    assert of_dask.startswith("3; (99, 399); 3 of 120000 divisors of Div-14 are zero, the first at index (99, 399);")
    assert killed == ["0;True", "0;True"]
    assert wrong.startswith("2 of 600000 divisors of Div-14 are zero, the first at index (1000, 7);")
    for out in outs:
        assert taken(out).tobytes() == div(a, b).tobytes()
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.parametrize(
    ("address", "processes", "error", "words"),
    [
        ("tcp://127.0.0.1:1", 2, AttributeValueError, "leave one out"),
        ("nowhere at all", None, ModelError, "no scheduler answers at 'nowhere at all'"),
    ],
)
def test_refused(address: str, processes: int | None, error: type[Exception], words: str) -> None:
    skip_without("distributed")
    with pytest.raises(error, match=words), client_of(address, processes):
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
        pytest.raises(ModelError, match=r"needs the package distributed: pip install 'vinculum-div\[dask\]'"),
        client_of(None, 1),
    ):
        pass
