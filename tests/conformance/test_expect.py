"""Files of known deviations in TOML."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conformance.asking import case_id
from vinculum.conformance.cases.case import Level
from vinculum.conformance.expect import Disagreement, KnownDeviations, as_toml, mismatches, read_known_deviations
from vinculum.conformance.run.record import Cause, Kind, Result, Run, Selection, Verdict
from vinculum.conformance.runtimes.backends import names
from vinculum.errors import ModelError

HEAD = 'backend = "mine"\nlevel = "default"\n'
CAUSE = '[[cause]]\narithmetic = "a * (1/b)"\nelement_types = ["float"]\nreason = "r"\n'
RECIPROCAL = "arithmetic: a * (1/b)"
FLOAT, DOUBLE, FINE = (
    case_id(f"Div-14/{name}/equal shapes/run-time operands")
    for name in ("float/ordinary numbers", "double/ordinary numbers", "float/special values")
)


def run(*results: Result, only: tuple[str, ...] = (), features: str = "") -> Run:
    causes = (Cause(RECIPROCAL, "computed as a multiplication", ("float", "double"), 0),)
    versions = {"mine": "1.0", "processor features": features}
    return Run("mine", "Mine", versions, Selection(Level.DEFAULT, only), results, causes, "2026-11-23", 1.0)


UNEXPLAINED = f'unexplained = ["{DOUBLE}"]\n'
OFF = Result(FLOAT, "", "", Verdict(Kind.ULPS), RECIPROCAL)
RUN = run(OFF, Result(DOUBLE, "", "", Verdict(Kind.ULPS)), Result(FINE, "", "", Verdict(Kind.EXACT)))


def found(text: str, folder: Path, given: Run = RUN) -> list[tuple[Disagreement, str]]:
    """Return how run and file disagree in each mismatch, and the case or the name in the file."""
    file = folder / "known.toml"
    file.write_text(HEAD + text)
    return [
        (one.how, str(one.result.id) if one.result else one.unused)
        for one in mismatches(given, read_known_deviations(file))
    ]


OTHER, OFF_TOO = "arithmetic: flush(a) / b", RUN.results[1]
PASSES = run(replace(OFF, verdict=Verdict(Kind.EXACT), cause=""))
NEW, UNUSED = Disagreement.NEW_FAILURE, Disagreement.UNUSED


@pytest.mark.parametrize(
    ("text", "given", "disagreements"),
    [
        # A case that deviates must have a listed cause, of a listed element type; a listed cause must be some case's.
        (UNEXPLAINED + CAUSE, RUN, []),
        (CAUSE, run(OFF, replace(OFF_TOO, cause=RECIPROCAL)), [(NEW, str(DOUBLE))]),
        (UNEXPLAINED + CAUSE, run(replace(OFF, cause=OTHER), OFF_TOO), [(NEW, str(FLOAT)), (UNUSED, RECIPROCAL)]),
        (CAUSE, PASSES, [(UNUSED, RECIPROCAL)]),
        (CAUSE, replace(PASSES, selection=Selection(Level.DEFAULT, ("*",))), []),
        # A case without a cause is listed by its id: it must deviate, and without a cause.
        (UNEXPLAINED + CAUSE, run(OFF, replace(OFF_TOO, verdict=Verdict(Kind.EXACT))),
         [(Disagreement.UNEXPECTED_PASS, str(DOUBLE))]),
        (UNEXPLAINED + CAUSE, run(OFF, replace(OFF_TOO, cause=OTHER)), [(NEW, str(DOUBLE))]),
        (UNEXPLAINED + CAUSE, run(OFF), [(UNUSED, str(DOUBLE))]),
        (CAUSE, RUN, [(NEW, str(DOUBLE))]),
    ],
)  # fmt: skip
def test_disagreements(text: str, given: Run, disagreements: list[tuple[Disagreement, str]], tmp_path: Path) -> None:
    assert found(text, tmp_path, given) == disagreements


class TestProcessors:
    """A cause counts only on the processors and versions that it requires."""

    @pytest.mark.parametrize(
        ("requires", "features", "counts"),
        [
            ("", "", True),
            ("no avx2", "x86_64 avx2", False),
            ("no avx2", "x86_64", True),
            ("avx512f, no avx512_bf16", "x86_64 avx512f", True),
            ("avx512f, no avx512_bf16", "x86_64 avx512f avx512_bf16", False),
            ("mine 1", "", True),
            ("mine 1.0.1", "", False),
            ("no mine 1.0, avx2", "avx2", False),
        ],
    )
    def test_requires(self, tmp_path: Path, requires: str, features: str, counts: bool) -> None:
        told = f'requires = "{requires}"\n'
        given = run(*RUN.results, features=features)
        assert found(UNEXPLAINED + CAUSE + told, tmp_path, given) == (
            [] if counts else [(Disagreement.NEW_FAILURE, str(FLOAT))]
        )

    @pytest.mark.parametrize(
        ("versions", "processors", "told"),
        [
            ({"mine": "1.0"}, ("x86_64, avx2", "x86_64, no avx2"), []),
            ({"mine": "1.1"}, (), ["The file is for mine 1.1; 1.0 was used."]),
            ({"yours": "2"}, (), ["The file is for yours 2; it was not used."]),
            ({}, ("aarch64", "avx2"), ["The file is for processors with aarch64 or with avx2; this one is another."]),
        ],
    )
    def test_differences(self, versions: dict[str, str], processors: tuple[str, ...], told: list[str]) -> None:
        known = KnownDeviations("mine", Level.DEFAULT, versions, processors)
        assert list(known.differences(run(features="x86_64"))) == told

    def test_what_requires_another_processor_is_recorded_too(self, tmp_path: Path) -> None:
        file = tmp_path / "known.toml"
        file.write_text(
            HEAD + 'processors = ["x86_64, avx2", "aarch64"]\n' + CAUSE + 'requires = "avx2"\n'
            + CAUSE.replace("a * (1/b)", "flush(a / b)") + 'requires = "no avx2"\n'
        )  # fmt: skip
        given = run(OFF, RUN.results[2], features="x86_64 avx2")
        file.write_text(as_toml(given, read_known_deviations(file)))
        known = read_known_deviations(file)
        assert mismatches(given, known) == ()
        assert known.processors == ("x86_64, avx2",)
        assert [(cause.requires, cause.reason) for cause in known.causes] == [("avx2", "r"), ("no avx2", "r")]


class TestReading:
    """Invalid files are refused in one line that names the file and the place."""

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ('backend = "mine"\n', "is not a file of known deviations: Object missing required field `level`"),
            ('backend = "mine"\nlevel = "deep"\n', "Invalid enum value 'deep'.*; allowed: quick, default, full$"),
            (HEAD + "colour = 1\n", "unknown field `colour`; allowed: backend, level, versions, processors, unexp"),
            (HEAD + CAUSE + "colour = 1\n", "unknown field `colour`.*allowed: reason, element_types, "),
            (HEAD + CAUSE.replace("arithmetic = \"a * (1/b)", "rule = \"axis forgotten"),
             "cause.. 1 of .*: no rule has the outcome 'axis forgotten'; did you mean 'axis ignored'"),
            (HEAD + CAUSE + 'requires = "avx1024"\n', "cause.. 1 of .*the processor feature 'avx1024'; allow"),
            (HEAD + "[[cases]]\n", "unknown field `cases`; allowed: backend, level"),
            ("reason: one\ncrashed: */*/*/*/*\n", "is not a file of known deviations"),
            (HEAD + 'processors = ["x86"]\n', "known.toml names the processor feature 'x86'; allowed: x86_64, "),
            ('{"a": 1}', "known.toml is JSON; --expect takes a file of known deviations, which --record writes"),
            (HEAD + "[[cause]]\n= 3", "Invalid statement"),
            (HEAD + CAUSE.replace("a * (1/b)", "a * (1/c)"),
             "'a . .1/c.' is not a known way to divide float; did you mean 'a . .1/b.'"),
            (HEAD + CAUSE.replace("float", "float12"), "cause.. 1 of .*float12"),
            (HEAD + CAUSE + 'rule = "x"\n', "cause.. 1 of .* has both arithmetic and rule; give one"),
            (HEAD + CAUSE.replace("arithmetic", "#"), "cause.. 1 of .* has neither arithmetic nor rule; give one"),
            (HEAD + CAUSE.replace('"r"', '""'), "cause.. 1 of .* has no reason"),
        ],
    )  # fmt: skip
    def test_what_is_refused(self, text: str, message: str, tmp_path: Path) -> None:
        file = tmp_path / "known.toml"
        file.write_text(text)
        with pytest.raises(ModelError, match=message) as caught:
            read_known_deviations(file)
        assert "\n" not in str(caught.value)

    def test_a_byte_order_mark(self, tmp_path: Path) -> None:
        file = tmp_path / "known.toml"
        file.write_text(HEAD + CAUSE, encoding="utf-8-sig", newline="\r\n")
        assert read_known_deviations(file).backend == "mine"


class TestWriting:
    """The file that a run writes matches that run."""

    CRASH = case_id("Div-14/int64/MIN divided by -1/equal shapes/run-time operands")
    CRASHED = "rule: crashed: SIGFPE where MIN / -1"
    CAUSES = (
        Cause(RECIPROCAL, "computed as a multiplication by the reciprocal", ("float", "double"), 3),
        Cause(CRASHED, "crashed: SIGFPE for MIN / -1", ("int64",), 0),
    )
    CRASHES = replace(RUN, causes=CAUSES, results=(Result(CRASH, "", "", Verdict(Kind.CRASHED), CRASHED), *RUN.results))

    def written(self, given: Run, folder: Path, older: str = "") -> KnownDeviations:
        """Write the file of a run and read it again; the run must match it."""
        file = folder / "known.toml"
        file.write_text(older, encoding="utf-8")
        file.write_text(as_toml(given, read_known_deviations(file) if older else None), encoding="utf-8")
        known = read_known_deviations(file)
        assert mismatches(given, known) == ()
        return known

    def test_a_run_matches_the_file_that_it_wrote(self, tmp_path: Path) -> None:
        known = self.written(self.CRASHES, tmp_path)
        assert (known.backend, known.level, known.versions) == ("mine", Level.DEFAULT, {"mine": "1.0"})
        assert [(cause.name, cause.element_types) for cause in known.causes] == [
            (RECIPROCAL, ("float",)),
            (self.CRASHED, ("int64",)),
        ]
        assert known.unexplained == (str(DOUBLE),)

    def test_reasons_are_kept(self, tmp_path: Path) -> None:
        plain = as_toml(self.CRASHES)
        theirs = plain.replace(
            'reason = "crashed: SIGFPE for MIN / -1"', 'reason = "r"\nlink = "l"\nreproducer = "import a\\n"'
        )
        known = self.written(self.CRASHES, tmp_path, theirs)
        assert [(cause.reason, cause.link, cause.reproducer) for cause in known.causes] == [
            ("computed as a multiplication by the reciprocal", "", ""),
            ("r", "l", "import a\n"),
        ]


class TestOurs:
    """There is a file for each runtime of the survey; those of pinned versions have no unexplained cases."""

    ROOT = Path(__file__).parents[2]
    FILES = sorted((ROOT / "known_deviations").glob("*.toml"))

    def test_there_is_one_for_each(self) -> None:
        own = {name for name in names() if name != "vinculum"}
        assert {file.stem for file in self.FILES} == own | {"torch-compile"}

    @pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
    def test_each(self, file: Path) -> None:
        known = read_known_deviations(file)
        compiled = file.stem == "torch-compile"
        level = Level.QUICK if compiled else Level.DEFAULT
        assert (known.backend, known.level) == ("torch[compile=true]" if compiled else file.stem, level)
        assert known.causes
        assert known.versions
        assert all(cause.reason for cause in known.causes)

    @pytest.mark.parametrize("name", ["onnx-reference", "onnxruntime", "openvino", "torch"])
    def test_those_of_pinned_versions(self, name: str) -> None:
        known = read_known_deviations(self.ROOT / "known_deviations" / f"{name}.toml")
        assert not known.unexplained
        extras = tomllib.loads((self.ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
        pinned = dict(pin.partition(";")[0].split("==") for pin in extras["runtimes"])
        assert {name: version.partition("+")[0] for name, version in known.versions.items()}.items() <= pinned.items()
