"""SARIF 2.1.0 as code hosts and editors take it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.reporting.check.findings import ALL, HOSTILE, LIBRARY, OWN, finding, triage
from tests.reporting.formats import read_sarif
from vinculum.analysis.findings import Severity
from vinculum.analysis.triage import FINGERPRINT, Suppression, Triage, sorted_out
from vinculum.reporting.check import sarif as module
from vinculum.reporting.check.sarif import document


def run_of(*triages: Triage, root: Path = Path("/")) -> dict[str, Any]:
    """Return the one run of a document, which the standard allows, and which has what code scanning asks for."""
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
    """A rule for each hazard, a result for each finding, surest first."""

    def test_every_severity(self) -> None:
        run = run_of(triage(*ALL))
        assert [r["level"] for r in run["results"]] == ["error", "error", "warning", "warning", "note"]
        assert [r["properties"]["severity"] for r in run["results"]] == [s.value for s in Severity]
        assert len({r["partialFingerprints"][FINGERPRINT] for r in run["results"]}) == len(ALL)

    def test_the_message_tells_all(self) -> None:
        text = run_of(triage(ALL[1]))["results"][0]["message"]["text"]
        for words in (
            "'convert_element_type' lies in [0, 6], by declared ranges.",
            "Path: attention_mask -> sum_2 -> convert_element_type -> node_div.",
            "Witness: on attention_mask = zeros, output 'linear_5' is NaN in 4 places (vinculum, onnxruntime 1.31.1).",
            "Fix: clamp(min=1) on the divisor.",
        ):
            assert words in text

    def test_it_says_which_epsilon_vanishes(self) -> None:
        (result,) = run_of(triage(finding(element_type="float16")))["results"]
        assert (
            "Fix: clamp(min=1) on the divisor; in float16 an epsilon below 5.96e-08 is zero."
            in result["message"]["text"]
        )

    def test_several_models_are_one_run(self) -> None:
        endless = replace(ALL[0], low=float("-inf"), high=float("inf"))
        run = run_of(triage(ALL[3], model="a.onnx"), triage(endless, model="b.onnx"), triage())
        assert [r["properties"]["model"] for r in run["results"]] == ["b.onnx", "a.onnx"]
        assert run["results"][0]["properties"]["range"] == ["-inf", "inf"]

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
    """An alert lies in the user's repository: at a line of theirs, or at the model."""

    @pytest.mark.parametrize("folder", ["", "project/"])
    def test_the_innermost_line_of_the_user_s(self, tmp_path: Path, folder: str) -> None:
        """Of several, in a file that lies deeper in the repository too; the others are related."""
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


class TestStates:
    """What is suppressed and what the baseline has stay in the report, marked."""

    def test_suppressed(self) -> None:
        accepted = Suppression("never empty", date(2030, 1, 1), node="node_div")
        run = run_of(sorted_out(triage(ALL[0]).report, "m.onnx", [accepted], today=date(2026, 1, 1)))
        (suppression,) = run["results"][0]["suppressions"]
        assert suppression["justification"] == "never empty"
        assert suppression["properties"] == {"expires": "2030-01-01"}

    def test_baseline(self) -> None:
        known = frozenset({("m.onnx", ALL[0].fingerprint)})
        run = run_of(sorted_out(triage(*ALL[:2]).report, "m.onnx", baseline=known))
        states = {r["partialFingerprints"][FINGERPRINT]: r["baselineState"] for r in run["results"]}
        assert states == {ALL[0].fingerprint: "unchanged", ALL[1].fingerprint: "new"}
