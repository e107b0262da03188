"""What the terminal shows of findings: all of it at every width, and no name obeyed."""

from __future__ import annotations

from datetime import date

import pytest

from tests.reporting.check.findings import ALL, HOSTILE, finding, triage
from tests.reporting.printing import printed
from vinculum.analysis.triage import Suppression, sorted_out
from vinculum.reporting.check.page import page


class TestPage:
    """Findings by severity, each with its place, its path, what shows it and what to do."""

    @pytest.mark.parametrize("width", [40, 80, 120])
    def test_every_width(self, width: int) -> None:
        told = "".join("".join(printed(page(triage(*ALL, Unheard=3)), width)).split())
        for words in (
            "certain zero-over-zero node_div",
            "total / mask.sum()",
            "Path: attention_mask -> sum_2 -> convert_element_type -> node_div",
            "Witness: on attention_mask = zeros, output 'linear_5' is NaN in 4 places (vinculum, onnxruntime 1.31.1).",
            "Witness: on attention_mask = zeros (outside of the declared ranges), output 'linear_5' is NaN",
            "Witness: inner tensor 'pooled' = zeros makes the divisor zero (vinculum); smallest magnitude reached from "
            "the inputs 4.8e-06, in 200 runs.",
            "Search: no witness; smallest magnitude reached from the inputs 0.48, in 200 runs; 10 s of processor time",
            "Fix: clamp(min=1) on the divisor.",
            "whose results may be anything: Unheard (3).",
            "models/bert.onnx: 5 findings (1 certain, 1 witnessed, 1 witnessed outside, 1 possible, 1 unconfirmed) in "
            "717 nodes",
        ):
            assert "".join(words.split()) in told

    def test_the_user_s_line_and_a_long_path(self) -> None:
        lines = printed(page(triage(finding(path=tuple(f"v{n}" for n in range(40))))), 120)
        assert lines[0].endswith("/home/someone/project/export.py:20")
        assert "v0 -> v1 -> v2 -> ... -> v36 -> v37 -> v38 -> v39 -> node_div" in " ".join(lines)

    def test_hostile_and_very_long_names(self) -> None:
        for name, most in ((HOSTILE, 80), ("n" * 10_000, 30)):
            bad = finding(node=name, divisor=name, scope=name, path=(name, name))
            lines = printed(page(triage(bad, model=name)), 80)
            assert "".join(lines).isprintable()
            assert ("[red]" in "".join(lines)) == (name == HOSTILE)
            assert len(lines) < most

    def test_alike_findings_are_told_once(self) -> None:
        """Of twelve layers: the first as it is, five more names, and how many there are."""
        layers = [finding(node=f"layer_{n}", fingerprint=str(n), cause="model.py:12") for n in range(12)]
        other = finding(node="head", fingerprint="99", cause="model.py:30")
        told = printed(page(triage(*layers, other)), 120)
        assert sum("zero-over-zero" in line for line in told) == 2
        assert "  Alike (11 more): layer_1, layer_2, layer_3, layer_4, layer_5, 6 more." in told
        assert told[-1].startswith("models/bert.onnx: 13 findings of 2 causes (13 possible) in 717 nodes")

    def test_what_is_hidden_is_counted(self) -> None:
        accepted = Suppression("never empty", date(2030, 1, 1), fingerprint=ALL[0].fingerprint)
        known = frozenset({("bert.onnx", ALL[1].fingerprint)})
        made = sorted_out(triage(*ALL[:3]).report, "bert.onnx", [accepted], known, date(2026, 1, 1))
        (last,) = printed(page(made), 120)[-1:]
        assert last.startswith("bert.onnx: 1 finding (1 witnessed outside) in 717 nodes")
        assert last.endswith("1 suppressed. 1 in the baseline.")

    def test_what_has_expired_is_told(self) -> None:
        accepted = Suppression("for the release", date(2026, 1, 1), rule="zero-over-zero")
        told = printed(page(sorted_out(triage(ALL[0]).report, "m.onnx", [accepted], today=date(2026, 2, 1))), 120)
        assert "Suppressed until 2026-01-01, reported again: zero-over-zero (for the release)." in told
