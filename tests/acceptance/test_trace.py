"""``vinculum trace``, as a user types it: the first node that goes wrong, and why."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.acceptance.conftest import Vinculum


@pytest.fixture
def mean(mean: Path) -> Path:
    """Return the file of a mean over a mask, an empty mask beside it."""
    np.save(mean.with_name("mask.npy"), np.zeros((2, 4), np.float32))
    np.save(mean.with_name("x.npy"), np.ones((2, 4), np.float32))
    np.save(mean.with_name("long.npy"), np.ones((2, 5), np.float32))
    return mean


GIVEN = ("--input", "x=x.npy", "--input", "mask=mask.npy")


def test_json(vinculum: Vinculum, mean: Path) -> None:
    done = vinculum("trace", mean.name, *GIVEN, "--json", "--engine", "reference", folder=mean.parent, code=1)
    (engine,) = json.loads(done.stdout)["engines"]
    assert [(one["kind"], one["node"]) for one in engine["events"]] == [("zero divisor", "mean"), ("NaN", "mean")]
    assert engine["events"][1]["result"] == "nan"
    assert engine["effects"] == [{"output": "mean", "value": "NaN", "count": 2}]
