"""What a run found as a file of known deviations: the run matches it, in few lines."""

from __future__ import annotations

from pathlib import Path

from tests.conformance.judging import case_id
from vinculum.conformance.cases.case import Level
from vinculum.conformance.expect import KnownDeviations, as_toml, mismatches, read_known_deviations
from vinculum.conformance.run.record import Cause, Result, Run, Selection
from vinculum.conformance.run.verdict import Kind, Verdict

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
        assert known.versions == {"onnxruntime": "1.31.1"}
        assert [(cause.name, cause.element_types) for cause in known.causes] == [
            ("arithmetic: a * (1/b)", ("float",)),
            ("rule: crashed: SIGFPE where MIN / -1", ("int64",)),
        ]
        assert known.unexplained == ()

    def test_what_no_cause_predicts_is_listed(self, tmp_path: Path) -> None:
        run = _run({CRASH: Kind.CRASHED, FINE: Kind.WRONG_VALUE})
        known = _read(as_toml(run), tmp_path)
        assert known.unexplained == (FINE,)
        assert mismatches(run, known) == ()

    def test_reasons_are_kept(self, tmp_path: Path) -> None:
        older = _read(
            as_toml(RUN).replace(
                'reason = "crashed: SIGFPE for MIN / -1"', 'reason = "r"\nlink = "l"\nreproducer = "import a\\n"'
            ),
            tmp_path,
        )
        known = _read(as_toml(RUN, older), tmp_path)
        assert [(cause.reason, cause.link) for cause in known.causes] == [
            ("computed as a multiplication by the reciprocal", ""),
            ("r", "l"),
        ]
        assert [cause.element_types for cause in known.causes] == [("float",), ("int64",)]
        assert [cause.reproducer for cause in known.causes] == ["", "import a\n"]

    def test_a_cause_with_several_reasons_keeps_them(self, tmp_path: Path) -> None:
        several = """backend = "onnxruntime"
level = "default"
[[cause]]
arithmetic = "a * (1/b)"
element_types = ["double"]
reason = "one"
[[cause]]
arithmetic = "a * (1/b)"
element_types = ["float", "float16"]
reason = "two"
"""
        known = _read(as_toml(_run({ULPS: Kind.ULPS}), _read(several, tmp_path)), tmp_path)
        assert [(cause.element_types, cause.reason) for cause in known.causes] == [(("float",), "two")]

    def test_a_run_without_deviations_writes_a_file_without_entries(self, tmp_path: Path) -> None:
        known = _read(as_toml(_run({FINE: Kind.EXACT, CRASH: Kind.UNSUPPORTED})), tmp_path)
        assert (known.causes, known.unexplained) == ((), ())
