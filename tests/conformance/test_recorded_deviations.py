"""What a run found as a file of known deviations: the run matches it, in few lines."""

from __future__ import annotations

from pathlib import Path

from tests.conformance.judging import case_id
from vinculum.conformance.case import Level
from vinculum.conformance.known_deviations import mismatches, read_known_deviations
from vinculum.conformance.recorded_deviations import as_text
from vinculum.conformance.run import Result, Run, Selection
from vinculum.conformance.verdict import Kind, Verdict

DEFAULT = Selection(Level.DEFAULT)
HEAD = "backend: onnxruntime\nlevel: default\n"
CRASH = "Div-14/int64/MIN divided by -1/equal shapes/run-time operands"
ULPS = "Div-14/float/ordinary numbers/equal shapes/run-time operands"
FINE = "Div-14/float/special values/equal shapes/run-time operands"


def _run(kinds: dict[str, Kind], selection: Selection = DEFAULT) -> Run:
    results = tuple(Result(case_id(id), "", "", Verdict(kind)) for id, kind in kinds.items())
    return Run("onnxruntime", "ONNX Runtime", {"onnxruntime": "1.31.1"}, selection, results, (), "2026-01-01", 1.0)


RUN = _run({CRASH: Kind.CRASHED, ULPS: Kind.ULPS, FINE: Kind.EXACT})


class TestWriting:
    """The file that a run writes expects that very run."""

    def test_a_run_matches_the_file_that_it_wrote(self, tmp_path: Path) -> None:
        file = tmp_path / "known.txt"
        file.write_text(as_text(RUN))
        known = read_known_deviations(file)
        assert mismatches(RUN, known) == ()
        assert known.versions == (("onnxruntime", "1.31.1"),)

    def test_patterns_are_as_broad_as_they_can_be(self) -> None:
        types = ("float", "double", "int8")
        kinds = {
            f"{operator}/{element_type}/{what}/equal shapes/run-time operands": (
                Kind.REFUSED if operator == "Div-1" else Kind.ULPS if element_type == "float" else Kind.EXACT
            )
            for operator in ("Div-1", "Div-7")
            for element_type in types
            for what in ("ordinary numbers", "special values")
        }
        lines = as_text(_run(kinds)).splitlines()
        assert [line for line in lines if "/" in line] == [
            "refused: Div-1/*/*/*/*",
            "off by ulps: Div-7/float/*/*/*",
        ]

    def test_reasons_are_taken_from_a_broader_file(self, tmp_path: Path) -> None:
        file = tmp_path / "known.txt"
        file.write_text(
            f"{HEAD}reason: one\nlink: https://a.example/1\nnot supported: */*/*/*/*\ncrashed: */*/*/*/*\n"
            "reason: two\ncrashed: */int64/*/*/*\n"
        )
        written = as_text(RUN, read_known_deviations(file))
        assert written.splitlines()[3:] == [
            "",
            "reason: one",
            "link: https://a.example/1",
            "crashed: */int64/*/*/*",
            "",
            "reason: not explained yet",
            "off by ulps: */*/ordinary numbers/*/*",
        ]

    def test_where_the_processor_decides_the_line_stays(self, tmp_path: Path) -> None:
        file = tmp_path / "known.txt"
        file.write_text(f"{HEAD}reason: the processor\nexact or off by ulps: Div-14/float/*/*/*\n")
        for kind in (Kind.EXACT, Kind.ULPS):
            run = _run({ULPS: kind, FINE: Kind.EXACT, CRASH: Kind.CRASHED})
            written = as_text(run, read_known_deviations(file)).splitlines()
            assert written[3:6] == ["", "reason: the processor", "exact or off by ulps: */float/*/*/*"]

    def test_what_must_be_refused_does_not_split_a_pattern(self, tmp_path: Path) -> None:
        run = _run({ULPS: Kind.REFUSED, FINE: Kind.REFUSED_AS_REQUIRED, CRASH: Kind.EXACT})
        file = tmp_path / "known.txt"
        file.write_text(as_text(run))
        assert "refused: */float/*/*/*" in file.read_text()
        assert mismatches(run, read_known_deviations(file)) == ()

    def test_a_run_without_deviations_writes_a_file_without_lines(self, tmp_path: Path) -> None:
        file = tmp_path / "known.txt"
        file.write_text(as_text(_run({FINE: Kind.EXACT})))
        assert read_known_deviations(file).deviations == ()
