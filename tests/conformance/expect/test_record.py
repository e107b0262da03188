"""What a run found as a file of known deviations: the run matches it, in few lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.judging import case_id
from vinculum.conformance.cases.case import Level
from vinculum.conformance.execute.run import Cause, Result, Run, Selection
from vinculum.conformance.expect import KnownDeviations, as_toml, mismatches, read_known_deviations
from vinculum.conformance.oracle.verdict import Kind, Verdict

CAUSES = {Kind.ULPS: "arithmetic: a * (1/b)", Kind.CRASHED: "rule: crashed: SIGFPE where MIN / -1"}
DEFAULT = Selection(Level.DEFAULT)
CRASH = "Div-14/int64/MIN divided by -1/equal shapes/run-time operands"
ULPS = "Div-14/float/ordinary numbers/equal shapes/run-time operands"
FINE = "Div-14/float/special values/equal shapes/run-time operands"


def _run(kinds: dict[str, Kind], selection: Selection = DEFAULT) -> Run:
    results = tuple(Result(case_id(id), "", "", Verdict(kind), CAUSES.get(kind, "")) for id, kind in kinds.items())
    causes = (
        Cause(CAUSES[Kind.ULPS], "computed as a multiplication by the reciprocal", ("float", "double"), 3),
        Cause(CAUSES[Kind.CRASHED], "crashed: SIGFPE for MIN / -1", ("int64",), 0),
    )
    versions = {"onnxruntime": "1.31.1", "numpy": "2.4.1"}
    return Run("onnxruntime", "ONNX Runtime", versions, selection, results, causes, "2026-01-01", 1.0)


def _read(text: str, folder: Path) -> KnownDeviations:
    file = folder / "known.toml"
    file.write_text(text, encoding="utf-8")
    return read_known_deviations(file)


RUN = _run({CRASH: Kind.CRASHED, ULPS: Kind.ULPS, FINE: Kind.EXACT})


class TestWriting:
    """The file that a run writes expects that very run."""

    def test_a_run_matches_the_file_that_it_wrote(self, tmp_path: Path) -> None:
        known = _read(as_toml(RUN), tmp_path)
        assert mismatches(RUN, known) == ()
        assert (known.backend, known.level) == ("onnxruntime", Level.DEFAULT)
        assert known.versions == (("onnxruntime", "1.31.1"),)
        assert [(cause.name, cause.element_types) for cause in known.causes] == [
            ("arithmetic: a * (1/b)", ("float",)),
            ("rule: crashed: SIGFPE where MIN / -1", ("int64",)),
        ]
        assert known.cases == ()

    def test_patterns_are_as_broad_as_they_can_be(self, tmp_path: Path) -> None:
        kinds = {
            f"{operator}/{element_type}/{what}/equal shapes/run-time operands": (
                Kind.REFUSED if operator == "Div-1" else Kind.WRONG_TYPE if element_type == "float" else Kind.EXACT
            )
            for operator in ("Div-1", "Div-7")
            for element_type in ("float", "double", "int8")
            for what in ("ordinary numbers", "special values")
        }
        known = _read(as_toml(_run(kinds)), tmp_path)
        assert [(entry.kinds, "/".join(entry.pattern)) for entry in known.cases] == [
            ((Kind.REFUSED,), "Div-1/*/*/*/*"),
            ((Kind.WRONG_TYPE,), "Div-7/float/*/*/*"),
        ]
        assert {entry.reason for entry in known.cases} == {"not explained yet"}

    def test_reasons_are_taken_from_an_older_file(self, tmp_path: Path) -> None:
        older = _read(
            "backend: onnxruntime\nlevel: default\nreason: one\nlink: https://a.example/1\ncrashed: */*/*/*/*\n"
            "reason: two\noff by ulps: */float/*/*/*\n",
            tmp_path,
        )
        known = _read(as_toml(RUN, older), tmp_path)
        assert [(cause.reason, cause.link) for cause in known.causes] == [("two", ""), ("one", "https://a.example/1")]

    @pytest.mark.parametrize("kind", [Kind.EXACT, Kind.ULPS])
    def test_where_the_processor_decides_the_patterns_stay(self, kind: Kind, tmp_path: Path) -> None:
        older = _read(
            "backend: onnxruntime\nlevel: default\nreason: the processor\nexact or off by ulps: Div-14/float/*/*/*\n",
            tmp_path,
        )
        run = _run({ULPS: kind, FINE: Kind.EXACT, CRASH: Kind.CRASHED})
        known = _read(as_toml(run, older), tmp_path)
        assert mismatches(run, known) == ()
        (entry,) = known.cases
        assert (entry.reason, entry.kinds, entry.pattern) == (
            "the processor",
            (Kind.EXACT, Kind.ULPS),
            ("*", "float", "*", "*", "*"),
        )

    def test_what_must_be_refused_does_not_split_a_pattern(self, tmp_path: Path) -> None:
        run = _run({ULPS: Kind.REFUSED, FINE: Kind.REFUSED_AS_REQUIRED, CRASH: Kind.EXACT})
        known = _read(as_toml(run), tmp_path)
        assert [entry.pattern for entry in known.cases] == [("*", "float", "*", "*", "*")]
        assert mismatches(run, known) == ()

    def test_a_run_without_deviations_writes_a_file_without_entries(self, tmp_path: Path) -> None:
        known = _read(as_toml(_run({FINE: Kind.EXACT, CRASH: Kind.UNSUPPORTED})), tmp_path)
        assert (known.causes, known.cases) == ((), ())
