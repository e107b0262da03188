"""The JSON of a benchmark: what is read is what was written, and nothing else is taken for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.reporting.bench.reports import report
from vinculum.benchmarking.results import Measured
from vinculum.errors import ModelError
from vinculum.reporting.bench.json_file import report_of, text


def test_there_and_back() -> None:
    written = text(report())
    read = report_of(written, "it")
    assert text(read) == written
    made = report()
    assert (read.machine, read.titles, read.versions) == (made.machine, made.titles, made.versions)
    assert (read.date, read.threads, read.single, read.rounds, read.others) == ("2026-01-31", 2, ("numpy",), 5, 0.01)
    assert [row.cell for row in read.rows] == [row.cell for row in made.rows]
    for there, back in zip(made.rows, read.rows, strict=True):
        assert list(there.outcomes) == list(back.outcomes)
        for name, outcome in there.outcomes.items():
            if isinstance(outcome, Measured):
                measured = back.measured(name)
                assert measured is not None
                assert measured.exact == outcome.exact
                assert measured.samples == pytest.approx(outcome.samples, rel=1e-5)
            else:
                assert back.outcomes[name] == outcome


def test_what_machines_find_there() -> None:
    data = json.loads(text(report()))
    cell = data["cells"][0]
    assert (cell["operator"], cell["element_type"], cell["shape"], cell["elements"]) == ("Div", "int8", "equal", 16)
    assert (cell["fastest"], cell["ratio"], cell["of_limit"]) == ("torch", 0.75, 1.25)
    assert cell["outcomes"]["openvino"]["exact"] is False
    assert cell["outcomes"]["vinculum"]["median"] == 0.25
    assert cell["outcomes"]["vinculum"]["quartiles"] == [0.24375, 0.25625]
    assert data["cells"][-1]["outcomes"]["torch"] == {"reason": "crashed with SIGFPE", "ended": True}
    assert data["cells"][-1]["ratio"] is None


def cell_of(data: Any) -> Any:
    """Return the first cell."""
    return data["cells"][0]


SPOILERS: dict[str, Callable[[Any], object]] = {
    "another format": lambda d: d.update(format="vinculum bench 2"),
    "no cells": lambda d: d.update(cells=[]),
    "no such operator": lambda d: cell_of(d).update(operator="Mod"),
    "no such type": lambda d: cell_of(d).update(element_type="int7"),
    "an unhashable type": lambda d: cell_of(d).update(element_type=[]),
    "no such shape": lambda d: cell_of(d).update(shape="round"),
    "a size of none": lambda d: cell_of(d).update(size=0),
    "a size in words": lambda d: cell_of(d).update(size="16"),
    "a peer too few": lambda d: cell_of(d)["outcomes"].pop("numpy"),
    "one sample": lambda d: cell_of(d)["outcomes"]["vinculum"].update(samples=[1.0]),
    "a sample of nothing": lambda d: cell_of(d)["outcomes"]["vinculum"].update(samples=[1.0, 0.0]),
    "an endless sample": lambda d: cell_of(d)["outcomes"]["vinculum"].update(samples=[1.0, "inf"]),
    "no threads": lambda d: d.update(threads=True),
    "more than all": lambda d: d.update(others=1.5),
    "a nameless machine": lambda d: d.update(machine={"processor": 7}),
    "no versions": lambda d: d.pop("versions"),
    "nobody": lambda d: d.update(peers={}),
}


@pytest.mark.parametrize("spoil", SPOILERS.values(), ids=SPOILERS)
def test_anything_else_is_refused(spoil: Callable[[Any], object]) -> None:
    data = json.loads(text(report()))
    spoil(data)
    with pytest.raises(ModelError, match="it holds no run that vinculum bench --json has written"):
        report_of(json.dumps(data), "it")


@pytest.mark.parametrize("content", ["", "[]", "null", "{", "[" * 100_000, '{"format": "vinculum bench 1"}'])
def test_other_content_is_refused(content: str) -> None:
    with pytest.raises(ModelError, match="it holds no run"):
        report_of(content, "it")
