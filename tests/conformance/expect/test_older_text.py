"""Files of known deviations: what they may say, and that a run must match them in every line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.judging import case_id
from vinculum.conformance.cases.case import Level
from vinculum.conformance.execute.run import Result, Run, Selection
from vinculum.conformance.expect import Disagreement, KnownCases, mismatches, read_known_deviations
from vinculum.conformance.oracle.verdict import Kind, Verdict
from vinculum.errors import ModelError

HEAD = "backend: onnxruntime\nlevel: default\n"
CRASH = "Div-14/int64/MIN divided by -1/equal shapes/run-time operands"
ULPS = "Div-14/float/ordinary numbers/equal shapes/run-time operands"
FINE = "Div-14/float/special values/equal shapes/run-time operands"
DEFAULT = Selection(Level.DEFAULT)
REASON = "reason: an instruction that raises\n"


def _run(kinds: dict[str, Kind], selection: Selection = DEFAULT) -> Run:
    results = tuple(Result(case_id(id), "", "", Verdict(kind)) for id, kind in kinds.items())
    return Run("onnxruntime", "ONNX Runtime", {"onnxruntime": "1.31.1"}, selection, results, (), "2026-01-01", 1.0)


RUN = _run({CRASH: Kind.CRASHED, ULPS: Kind.ULPS, FINE: Kind.EXACT})


def _mismatches(text: str, folder: Path, run: Run = RUN) -> list[tuple[str, Disagreement, Kind | None, str]]:
    """Return of each mismatch: the id or the pattern, how they disagree, the verdict, and the line."""
    file = folder / "known.txt"
    file.write_text(HEAD + text)
    found: list[tuple[str, Disagreement, Kind | None, str]] = []
    for one in mismatches(run, read_known_deviations(file)):
        pattern = "/".join(one.entry.pattern) if isinstance(one.entry, KnownCases) else ""
        where = one.entry.where if one.entry else ""
        if one.result is None:
            found.append((pattern, one.how, None, where))
        else:
            found.append((str(one.result.id), one.how, one.result.verdict.kind, where))
    return found


class TestMatching:
    """A run matches a file if what deviates is listed, with the verdict that is listed, and nothing else is."""

    BOTH = f"{REASON}crashed: Div-*/int64/MIN divided by -1/*/*\noff by ulps: {ULPS}\n"

    def test_what_is_listed_and_happens_is_no_mismatch(self, tmp_path: Path) -> None:
        assert _mismatches(self.BOTH, tmp_path) == []

    def test_what_is_not_listed_is_a_new_failure(self, tmp_path: Path) -> None:
        assert _mismatches(f"{REASON}off by ulps: {ULPS}\n", tmp_path) == [
            (CRASH, Disagreement.NEW_FAILURE, Kind.CRASHED, "")
        ]

    def test_a_case_that_passes_now_is_an_unexpected_pass(self, tmp_path: Path) -> None:
        run = _run({CRASH: Kind.UNSPECIFIED, ULPS: Kind.ULPS})
        assert _mismatches(self.BOTH, tmp_path, run) == [
            (CRASH, Disagreement.UNEXPECTED_PASS, Kind.UNSPECIFIED, "line 4")
        ]

    def test_a_pattern_too_broad_is_an_unexpected_pass(self, tmp_path: Path) -> None:
        broad = f"{REASON}crashed: {CRASH}\noff by ulps: Div-14/float/*/*/*\n"
        assert _mismatches(broad, tmp_path) == [(FINE, Disagreement.UNEXPECTED_PASS, Kind.EXACT, "line 5")]

    def test_another_verdict_than_the_one_listed_is_named(self, tmp_path: Path) -> None:
        run = _run({CRASH: Kind.HUNG, ULPS: Kind.ULPS})
        assert _mismatches(self.BOTH, tmp_path, run) == [(CRASH, Disagreement.OTHER_FAILURE, Kind.HUNG, "line 4")]

    def test_a_line_that_matches_no_case_is_a_mismatch(self, tmp_path: Path) -> None:
        stale = f"{self.BOTH}crashed: Div-99/*/*/*/*\n"
        assert _mismatches(stale, tmp_path) == [("Div-99/*/*/*/*", Disagreement.UNUSED, None, "line 6")]

    def test_a_part_of_the_cases_leaves_lines_without_one(self, tmp_path: Path) -> None:
        part = {ULPS: Kind.ULPS}
        assert _mismatches(self.BOTH, tmp_path, _run(part, Selection(Level.DEFAULT, (ULPS,)))) == []
        quick = _run({ULPS: Kind.ULPS}, Selection(Level.QUICK))
        assert _mismatches(self.BOTH, tmp_path, quick) == []
        assert len(_mismatches(self.BOTH, tmp_path, _run(part))) == 1

    @pytest.mark.parametrize("kind", [Kind.EXACT, Kind.ULPS])
    def test_where_the_processor_decides_either_verdict_will_do(self, kind: Kind, tmp_path: Path) -> None:
        either = f"{REASON}exact or off by ulps: {ULPS}\ncrashed: {CRASH}\n"
        assert _mismatches(either, tmp_path, _run({ULPS: kind, CRASH: Kind.CRASHED})) == []
        wrong = _run({ULPS: Kind.WRONG_VALUE, CRASH: Kind.CRASHED})
        assert _mismatches(either, tmp_path, wrong) == [(ULPS, Disagreement.OTHER_FAILURE, Kind.WRONG_VALUE, "line 4")]

    def test_what_is_not_supported_is_no_failure(self, tmp_path: Path) -> None:
        run = _run({CRASH: Kind.CRASHED, ULPS: Kind.ULPS, FINE: Kind.UNSUPPORTED})
        assert _mismatches(self.BOTH, tmp_path, run) == []

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
        assert [(d.reason, d.link, d.kinds, d.where) for d in known.cases] == [
            ("one", "https://a.example/1", (Kind.CRASHED,), "line 8"),
            ("two", "", (Kind.HUNG,), "line 10"),
        ]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (f"{HEAD}reason: x\nexact: a/b/c/d/e\n", "line 4 of .* begins with one of backend, level"),
            (f"{HEAD}reason: x\nexact or unspecified: a/b/c/d/e\n", "line 4 of .* begins with one of"),
            (f"{HEAD}reason: x\nexact or melted: a/b/c/d/e\n", "line 4 of .* begins with one of"),
            (f"{HEAD}reason: x\nmelted: a/b/c/d/e\n", "line 4 of .*'melted: a/b/c/d/e'"),
            (f"{HEAD}crashed: a/b/c/d/e\n", "line 3 of .* has no reason"),
            (
                f"{HEAD}reason: x\ncrashed: a/b/c/d\n",
                "line 4 of .* has the pattern 'a/b/c/d'; a pattern of ids has 5 parts",
            ),
            (f"{HEAD}reason:\n", "line 3 of .* has nothing after 'reason:'; add a value"),
            (f"{HEAD}version: onnxruntime\n", "line 3 of "),
            (f"{HEAD}backend: torch\n", "line 3 of .* gives 'backend' a second time"),
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
        with pytest.raises(ModelError, match=r"/dev/zero. is not a regular file"):
            read_known_deviations(Path("/dev/zero"))

    def test_a_file_that_is_no_text_is_refused(self, tmp_path: Path) -> None:
        file = tmp_path / "known.txt"
        file.write_bytes(b"\xff\xfe\x00")
        with pytest.raises(ModelError, match="not a text file in UTF-8"):
            read_known_deviations(file)
