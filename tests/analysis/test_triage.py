"""Issue 19, point 9: suppressions with a reason and a last day, and a baseline."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

import vinculum
from tests.analysis import hazardous
from tests.cases import case
from vinculum.analysis.triage import (
    Baseline,
    Suppression,
    Triage,
    read_baseline,
    read_suppressions,
    sorted_out,
    unused,
)
from vinculum.errors import ModelError
from vinculum.reporting.check.page import as_json
from vinculum.reporting.check.sarif import document

REPORT = vinculum.check(hazardous.masked_mean(), runs=0)
(FINDING,) = REPORT.findings
TODAY, LATER = date(2026, 11, 23), date(2027, 1, 1)


def entry(expires: date = LATER, /, **wanted: str) -> Suppression:
    return Suppression("masks are never empty", expires, **wanted)


class TestSuppressions:
    """A suppression applies to the findings that it names, until it expires."""

    def test_what_it_is_about(self) -> None:
        for wanted, meets in (
            ({"fingerprint": FINDING.fingerprint}, True),
            ({"rule": "zero-over-zero"}, True),
            ({"node": "mean"}, True),
            ({"rule": "zero-over-zero", "node": "mean", "model": "model.onnx"}, True),
            ({"rule": "zero-divisor"}, False),
            ({"node": "mean", "model": "other.onnx"}, False),
        ):
            with case(wanted):
                triage = sorted_out(REPORT, "models/model.onnx", [entry(**wanted)], today=TODAY)
                assert triage.open == (() if meets else (FINDING,))
                assert triage.suppressed == (((FINDING, entry(**wanted)),) if meets else ())
                assert triage.fails("possible") is not meets
                assert not triage.fails("certain")

    @pytest.mark.parametrize(("expires", "is_open"), [(TODAY, True), (date(2026, 11, 24), False)])
    def test_its_last_day(self, expires: date, is_open: bool) -> None:
        triage = sorted_out(REPORT, "m.onnx", [entry(expires, node="mean")], today=TODAY)
        assert ((triage.open == (FINDING,)), len(triage.expired)) == (is_open, int(is_open))

    def test_what_is_gone(self) -> None:
        gone, needed = entry(node="another"), entry(date(2020, 1, 1), node="mean")
        assert unused([gone, needed], [sorted_out(REPORT, "m.onnx", today=TODAY)]) == [gone]

    def test_a_file(self, tmp_path: Path) -> None:
        file = tmp_path / "accepted.toml"
        text = '[[suppress]]\nrule = "zero-over-zero"\nreason = "never empty"\nexpires = 2027-01-01\n'
        for encoding, newline in (("utf-8", "\n"), ("utf-8-sig", "\r\n")):  # The second as editors of Windows write it.
            file.write_text(text, encoding=encoding, newline=newline)
            assert read_suppressions(file) == (Suppression("never empty", LATER, rule="zero-over-zero"),)
        file.write_text("")
        assert read_suppressions(file) == ()

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("[[suppress", "is not a suppression file"),
            ('[[suppress]]\nrule = "a"\nexpires = 2027-01-01\n', "reason"),
            ('[[suppress]]\nrule = "a"\nreason = "b"\n', "expires"),
            ('[[suppress]]\nrule = "a"\nreason = "b"\nexpires = "soon"\n', "expires"),
            ('[[suppress]]\nrule = "a"\nreason = " "\nexpires = 2027-01-01\n', "empty reason"),
            ('[[suppress]]\nreason = "b"\nexpires = 2027-01-01\n', "matches every finding"),
            ('[[suppress]]\nrules = "a"\nreason = "b"\nexpires = 2027-01-01\n', "allowed: reason, expires, finger"),
            ("[[ignore]]\n", "allowed: suppress"),
        ],
    )
    def test_what_cannot_be_read(self, tmp_path: Path, text: str, words: str) -> None:
        file = tmp_path / "accepted.toml"
        file.write_text(text)
        with pytest.raises(ModelError, match=words):
            read_suppressions(file)


class TestBaseline:
    """Findings of an earlier report, in either form, are not reported again."""

    @pytest.mark.parametrize("form", ["json", "sarif"])
    def test_both_forms(self, tmp_path: Path, form: str) -> None:
        """Suppressed findings are not part of the baseline: they still need their suppression."""
        file = tmp_path / "before"

        def baseline(triage: Triage) -> Baseline:
            file.write_text(json.dumps(as_json(triage)) if form == "json" else document([triage], tmp_path, "1.0"))
            return read_baseline(file)

        before = baseline(sorted_out(REPORT, "old/model.onnx"))
        again = sorted_out(REPORT, "new/model.onnx", baseline=before)
        assert (again.open, again.known, again.fails("possible")) == ((), (FINDING,), False)
        assert sorted_out(REPORT, "another.onnx", baseline=before).open == (FINDING,)
        assert baseline(sorted_out(REPORT, "model.onnx", [entry(node="mean")], today=TODAY)) == frozenset()

    def test_names_do_not_matter(self, tmp_path: Path) -> None:
        """Another export may rename all values."""
        file = tmp_path / "before"
        file.write_text(json.dumps(as_json(sorted_out(REPORT, "model.onnx"))))
        renamed = hazardous.masked_mean()
        for node in renamed.graph.node:
            node.name = f"renamed_{node.name}"
            for names in (node.input, node.output):
                names[:] = [f"v_{name}" if name in ("total", "count", "kept") else name for name in names]
        report = vinculum.check(renamed, runs=0)
        assert sorted_out(report, "model.onnx", baseline=read_baseline(file)).open == ()

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b"{", "is not JSON"),
            (b"[]", "is not a report of vinculum check"),
            (b'{"findings": 3}', "is not a report of vinculum check"),
            (b'{"runs": [{"results": [{}]}]}', "is not a report of vinculum check"),
            (b"\xff\xfe", "is not UTF-8"),
        ],
    )
    def test_what_cannot_be_read(self, tmp_path: Path, content: bytes, words: str) -> None:
        file = tmp_path / "before"
        file.write_bytes(content)
        with pytest.raises(ModelError, match=words):
            read_baseline(file)
