"""Files of known deviations: what they may say, and that a run must match them in every line."""

from __future__ import annotations

from pathlib import Path

import pytest

from vinculum.conformance.case import Level
from vinculum.conformance.known_deviations import Mismatch, mismatches, read_known_deviations
from vinculum.conformance.report import Report, Result
from vinculum.conformance.verdict import Kind, Verdict
from vinculum.errors import ModelError

HEAD = "backend: onnxruntime\nlevel: default\n"
CRASH = "Div-14/int64/MIN divided by -1/equal shapes/run-time operands"
ULPS = "Div-14/float/ordinary numbers/equal shapes/run-time operands"
FINE = "Div-14/float/special values/equal shapes/run-time operands"
REASON = "reason: an instruction that raises\n"


def _report(kinds: dict[str, Kind], level: Level = Level.DEFAULT) -> Report:
    results = tuple(Result(id, "", "Div-14", "int64", "", Verdict(kind)) for id, kind in kinds.items())
    return Report("onnxruntime", "ONNX Runtime", {"onnxruntime": "1.31.1"}, level, results, 1.0)


RUN = _report({CRASH: Kind.CRASHED, ULPS: Kind.ULPS, FINE: Kind.EXACT})


def _mismatches(text: str, folder: Path, report: Report = RUN, *, whole: bool = True) -> list[tuple[str, str]]:
    file = folder / "known.txt"
    file.write_text(HEAD + text)
    found: tuple[Mismatch, ...] = mismatches(report, read_known_deviations(file), whole=whole)
    return [(mismatch.id, mismatch.words.replace(str(file), "known.txt")) for mismatch in found]


class TestMatching:
    """A run matches a file if what deviates is listed, with the verdict that is listed, and nothing else is."""

    BOTH = f"{REASON}crashed: Div-*/int64/MIN divided by -1/*/*\noff by ulps: {ULPS}\n"

    def test_what_is_listed_and_happens_is_no_mismatch(self, tmp_path: Path) -> None:
        assert _mismatches(self.BOTH, tmp_path) == []

    def test_what_is_not_listed_is_a_new_failure(self, tmp_path: Path) -> None:
        assert _mismatches(f"{REASON}off by ulps: {ULPS}\n", tmp_path) == [(CRASH, "new failure: crashed")]

    def test_a_case_that_passes_now_is_an_unexpected_pass(self, tmp_path: Path) -> None:
        report = _report({CRASH: Kind.SILENT, ULPS: Kind.ULPS})
        words = "unexpected pass: silent by specification, where line 4 says crashed"
        assert _mismatches(self.BOTH, tmp_path, report) == [(CRASH, words)]

    def test_a_pattern_too_broad_is_an_unexpected_pass(self, tmp_path: Path) -> None:
        broad = f"{REASON}crashed: {CRASH}\noff by ulps: Div-14/float/*/*/*\n"
        words = "unexpected pass: exact, where line 5 says off by ulps"
        assert _mismatches(broad, tmp_path) == [(FINE, words)]

    def test_another_verdict_than_the_one_listed_is_named(self, tmp_path: Path) -> None:
        report = _report({CRASH: Kind.HUNG, ULPS: Kind.ULPS})
        assert _mismatches(self.BOTH, tmp_path, report) == [(CRASH, "other failure: hung, where line 4 says crashed")]

    def test_a_line_that_matches_no_case_is_a_mismatch(self, tmp_path: Path) -> None:
        stale = f"{self.BOTH}crashed: Div-99/*/*/*/*\n"
        assert _mismatches(stale, tmp_path) == [("Div-99/*/*/*/*", "line 6 of known.txt matches no case")]

    def test_a_part_of_the_cases_leaves_lines_without_one(self, tmp_path: Path) -> None:
        part = _report({ULPS: Kind.ULPS})
        assert _mismatches(self.BOTH, tmp_path, part, whole=False) == []
        quick = _report({ULPS: Kind.ULPS}, Level.QUICK)
        assert _mismatches(self.BOTH, tmp_path, quick) == []
        assert len(_mismatches(self.BOTH, tmp_path, part)) == 1

    @pytest.mark.parametrize("kind", [Kind.EXACT, Kind.ULPS])
    def test_where_the_processor_decides_either_verdict_will_do(self, kind: Kind, tmp_path: Path) -> None:
        either = f"{REASON}exact or off by ulps: {ULPS}\ncrashed: {CRASH}\n"
        assert _mismatches(either, tmp_path, _report({ULPS: kind, CRASH: Kind.CRASHED})) == []
        wrong = _report({ULPS: Kind.WRONG_VALUE, CRASH: Kind.CRASHED})
        words = "other failure: wrong value, where line 4 says exact or off by ulps"
        assert _mismatches(either, tmp_path, wrong) == [(ULPS, words)]

    def test_a_star_stands_for_a_part_of_a_part(self, tmp_path: Path) -> None:
        inside = f"{REASON}crashed: Div-14/int64/MIN */*/*\noff by ulps: {ULPS}\n"
        assert _mismatches(inside, tmp_path) == []


class TestReading:
    """A line that says nothing known is refused, with its number."""

    def test_reasons_and_links_hold_for_the_lines_below(self, tmp_path: Path) -> None:
        file = tmp_path / "known.txt"
        file.write_text(
            f"# by hand\n\n{HEAD}version: onnxruntime 1.31.1\nreason: one\nlink: https://a.example/1\n"
            "crashed: a/b/c/d/e\nreason: two\nhung: a/b/c/d/f\n"
        )
        known = read_known_deviations(file)
        assert (known.backend, known.level, known.versions) == (
            "onnxruntime",
            Level.DEFAULT,
            (("onnxruntime", "1.31.1"),),
        )
        assert [(d.reason, d.link, d.kinds, d.line) for d in known.deviations] == [
            ("one", "https://a.example/1", (Kind.CRASHED,), 8),
            ("two", "", (Kind.HUNG,), 10),
        ]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (f"{HEAD}reason: x\nexact: a/b/c/d/e\n", "line 4 of .* begins with one of backend, level"),
            (f"{HEAD}reason: x\nexact or silent by specification: a/b/c/d/e\n", "line 4 of .* begins with one of"),
            (f"{HEAD}reason: x\nexact or melted: a/b/c/d/e\n", "line 4 of .* begins with one of"),
            (f"{HEAD}reason: x\nmelted: a/b/c/d/e\n", "line 4 of .*'melted: a/b/c/d/e'"),
            (f"{HEAD}crashed: a/b/c/d/e\n", "line 3 of .* has no reason"),
            (f"{HEAD}reason: x\ncrashed: a/b/c/d\n", "line 4 of .* has the pattern 'a/b/c/d'; it has 5 parts"),
            (f"{HEAD}reason:\n", "line 3 of "),
            (f"{HEAD}version: onnxruntime\n", "line 3 of "),
            (f"{HEAD}backend: torch\n", "line 3 of "),
            ("level: default\n", "has no line 'backend: ...'"),
            ("backend: torch\n", "has no line 'level: ...'"),
            ("backend: torch\nlevel: deep\n", "'deep'; allowed: quick, default, full"),
            ("no words at all", "line 1 of "),
        ],
    )
    def test_what_is_refused(self, text: str, message: str, tmp_path: Path) -> None:
        file = tmp_path / "known.txt"
        file.write_text(text)
        with pytest.raises(ModelError, match=message):
            read_known_deviations(file)

    def test_a_file_without_an_end_is_refused(self) -> None:
        with pytest.raises(ModelError, match="/dev/zero is larger than 16,777,216 bytes"):
            read_known_deviations(Path("/dev/zero"))

    def test_a_file_that_is_no_text_is_refused(self, tmp_path: Path) -> None:
        file = tmp_path / "known.txt"
        file.write_bytes(b"\xff\xfe\x00")
        with pytest.raises(ModelError, match="not a text file in UTF-8"):
            read_known_deviations(file)
