"""Findings as SARIF 2.1.0, which code hosts and editors read."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.reporting.check.findings import ALL, HOSTILE, LIBRARY, OWN, finding, triage
from tests.reporting.formats import read_sarif
from tests.reporting.printing import Told
from vinculum.analysis.triage import Suppression, Triage, sorted_out
from vinculum.reporting.check import sarif as module
from vinculum.reporting.check.sarif import document


def run_of(*triages: Triage, root: Path = Path("/")) -> dict[str, Any]:
    """Return the only run of a document, after checking it by the standard and by the rules of code scanning."""
    text = document(triages, root, "1.2.3")
    (checked,) = read_sarif(text).runs
    for rule in checked.tool.driver.rules:
        assert len(rule.full_description.text) <= 1024
        assert rule.help is not None
    for result in checked.results:
        assert result.message.text.isprintable()
        (location,) = result.locations
        assert all(place.physical_location for place in (location, *(result.related_locations or ())))
    (run,) = json.loads(text)["runs"]
    assert isinstance(run, dict)
    return run


class TestResults:
    """A result for each finding, the surest first."""

    def test_so_many_that_code_scanning_takes_them(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert module._MOST_RESULTS == 5_000
        monkeypatch.setattr(module, "_MOST_RESULTS", 50)
        many = [finding(fingerprint=f"{n:016x}") for n in range(150)] + [ALL[0]]
        run = run_of(triage(*many))
        assert (len(run["results"]), run["properties"]["leftOut"]) == (50, 101)
        assert run["results"][0]["properties"]["severity"] == "certain"

    def test_hostile_names(self, tmp_path: Path) -> None:
        bad = finding(node=HOSTILE, divisor=HOSTILE, scope=HOSTILE, path=(HOSTILE, HOSTILE))
        assert run_of(triage(bad, model=str(tmp_path / "a b<c>.onnx")), root=tmp_path)


class TestPlaces:
    """An alert is in the user's repository: at a line of the user's program, or at the model."""

    @pytest.mark.parametrize("folder", ["", "project/"])
    def test_the_innermost_line_of_the_user_s(self, tmp_path: Path, folder: str) -> None:
        """The file may be deeper in the repository; other lines are related locations."""
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "export.py").write_text("...")
        inner = replace(OWN, line=31, code="return total / count")
        (result,) = run_of(triage(finding(frames=(OWN, inner, LIBRARY))), root=tmp_path)["results"]
        assert result["locations"][0]["physicalLocation"] == {
            "artifactLocation": {"uri": f"{folder}export.py", "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": 31},
        }
        library, other = result["relatedLocations"]
        assert (library["message"]["text"], other["message"]["text"]) == (LIBRARY.code, OWN.code)
        assert library["physicalLocation"]["artifactLocation"] == {"uri": LIBRARY.file}

    @pytest.mark.parametrize("frames", [(OWN, LIBRARY), (LIBRARY,), ()])
    def test_else_the_model(self, tmp_path: Path, frames: tuple[Any, ...]) -> None:
        model = str(tmp_path / "models" / "my model.onnx")
        (result,) = run_of(triage(finding(frames=frames), model=model), root=tmp_path)["results"]
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"] == {"uri": "models/my%20model.onnx", "uriBaseId": "%SRCROOT%"}
        assert place["region"] == {"startLine": 1}
        assert len(result["relatedLocations"]) == len(frames)

    def test_a_model_elsewhere(self, tmp_path: Path) -> None:
        root = tmp_path / "repository"
        root.mkdir()
        found = finding(frames=(), scope="If:then_branch")
        (result,) = run_of(triage(found, model=str(tmp_path / "m.onnx")), root=root)["results"]
        assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].startswith("file:///")
        (logical,) = result["locations"][0]["logicalLocations"]
        assert logical["fullyQualifiedName"] == "m.onnx#If:then_branch/node_div"


LOCAL = "/models/bert.onnx"
ENDLESS = replace(ALL[0], low=float("-inf"), high=float("inf"))
ACCEPTED = Suppression("never empty", date(2030, 1, 1), node="node_div")
SORTED = sorted_out(triage(ALL[0]).report, LOCAL, [ACCEPTED], today=date(2026, 1, 1))
BASELINE = sorted_out(triage(*ALL[:2]).report, LOCAL, baseline=frozenset({("bert.onnx", ALL[0].fingerprint)}))


def told(*triages: Triage) -> Callable[[int], Any]:
    return lambda _: run_of(*triages)


TOLD: Told = {
    "every severity": told(triage(*ALL, model=LOCAL)),
    "an epsilon that vanishes": told(triage(finding(element_type="float16"), model=LOCAL)),
    "several models": told(triage(ALL[3], model="/a.onnx"), triage(ENDLESS, model="/b.onnx"), triage(model="/c.onnx")),
    "suppressed": told(SORTED),
    "in the baseline": told(BASELINE),
}
