"""What is unchanged since everything was replayed is known by digest; whatever a replay reads counts.

No prover is needed to see that.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from proofs.checking import contradictions, gappa, mutants, recorded, replay, statements
from proofs.checking.mutants import Mutant
from proofs.checking.provers import ProofError
from proofs.checking.recorded import FILE, REPLAYING

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
SESSION = """<why3session shape_version="6"><prover id="0" name="Z3" version="4.8.12"/>
<file format="whyml" proved="true"><theory name="M" proved="true"><goal name="g" proved="true">
<proof prover="0"><result status="valid" time="0.01"/></proof></goal></theory></file></why3session>
"""
VARIANT = '[[mutant]]\n{}\nreplace = "true"\nby = "false"\nfalse_because = "it is not"\n'
# `sums` rests on `base`.
THEORIES = {
    "base": "module M lemma g: true end",
    "sums": "module M use base.M lemma g: true end",
    "other": "module M lemma g: true end",
}
EVERY_THEORY = {"base", "sums", "other"}
EVERY_VARIANT = {f"{name}.M.g" for name in EVERY_THEORY} | {"script.gappa"}
ALL = EVERY_THEORY | EVERY_VARIANT | {f"false of {name}" for name in EVERY_THEORY}


@pytest.fixture
def proofs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of proofs, recorded, with programs and an installed Why3 of its own."""
    folder = tmp_path / "proofs"
    for name in ("theories", "gappa", "mutants", "programs", "why3"):
        (folder / name).mkdir(parents=True)
    (folder / "README.md").touch()
    for name, text in THEORIES.items():
        (folder / "theories" / f"{name}.mlw").write_text(text)
        (folder / "theories" / name).mkdir()
        (folder / "theories" / name / "why3session.xml").write_text(SESSION)
        (folder / "theories" / name / "why3shapes.gz").touch()
        (folder / "mutants" / f"{name}.toml").write_text(VARIANT.format('theorem = "M.g"'))
    (folder / "gappa" / "script.gappa").write_text("true")
    (folder / "mutants" / "scripts.toml").write_text(VARIANT.format('script = "script.gappa"'))
    for name in REPLAYING:
        shutil.copyfile(recorded.PROGRAMS / name, folder / "programs" / name)
    (folder / "why3" / "int.mlw").touch()
    (folder / "why3" / "z3.drv").touch()
    monkeypatch.setattr(recorded, "PROGRAMS", folder / "programs")
    monkeypatch.setattr(recorded, "_WHY3", ((folder / "why3", "*"),))
    recorded.record(folder, recorded.digests(folder))
    return folder


class Replayed:
    """Stands for Why3 and Gappa: notes what is replayed, and finds what it is told to."""

    def __init__(self, proofs: Path) -> None:
        self.proofs = proofs
        self.names: set[str] = set()
        self.fails: set[str] = set()
        self.meanwhile: Callable[[], object] = lambda: None

    def theory(self, theory: Path, configuration: Path) -> str:
        self.meanwhile()
        self.names.add(theory.stem)
        if theory.stem in self.fails:
            raise ProofError("not proved")
        return "1 goals"

    def variant(self, mutant: Mutant, configuration: Path) -> bool:
        self.names.add(mutant.title)
        return mutant.title in self.fails

    def contradiction(self, theory: Path, configuration: Path) -> str:
        self.names.add(f"false of {theory.stem}")
        if f"false of {theory.stem}" in self.fails:
            raise ProofError("false is proved")
        return "no false"

    def __call__(self, *, everything: bool = False, record: bool = False) -> int:
        return replay.replay(self.proofs, Path(), everything=everything, record=record)


@pytest.fixture
def replayed(proofs: Path, monkeypatch: pytest.MonkeyPatch) -> Replayed:
    """Return what replays the folder without provers."""
    stand_in = Replayed(proofs)
    monkeypatch.setattr(replay, "replay_theory", stand_in.theory)
    monkeypatch.setattr(mutants, "survives", stand_in.variant)
    monkeypatch.setattr(contradictions, "require_none", stand_in.contradiction)
    monkeypatch.setattr(gappa, "proves", lambda script: True)
    return stand_in


class TestWhatIsUnchanged:
    """It is not replayed, that is said, and what is stored of it is looked at all the same."""

    def test_nothing_is_replayed(self, replayed: Replayed, capsys: pytest.CaptureFixture[str]) -> None:
        assert replayed() == 0
        assert replayed.names == set()
        told = capsys.readouterr().out
        assert "known by digest, not replayed: theories 3; `make proofs-all` replays them" in told
        assert "not tried: false variants 4; `make proofs-all` tries them" in told
        assert "proved  script" in told

    def test_everything_is_replayed_if_asked(self, replayed: Replayed, capsys: pytest.CaptureFixture[str]) -> None:
        assert replayed(everything=True) == 0
        assert replayed.names == ALL
        told = capsys.readouterr().out
        assert "digest" not in told
        assert "not tried" not in told

    def test_a_session_that_lacks_a_proof(
        self, proofs: Path, replayed: Replayed, capsys: pytest.CaptureFixture[str]
    ) -> None:
        session = proofs / "theories" / "sums" / "why3session.xml"
        session.write_text(SESSION.replace('<goal name="g" proved="true">', '<goal name="g">'))
        recorded.record(proofs, recorded.digests(proofs))
        assert replayed() == 1
        assert "not proved: sums.M.g" in capsys.readouterr().out

    def test_a_variant_that_is_none(self, proofs: Path, replayed: Replayed, capsys: pytest.CaptureFixture[str]) -> None:
        (proofs / "mutants" / "sums.toml").write_text(VARIANT.format('theorem = "M.g"').replace("true", "truth"))
        recorded.record(proofs, recorded.digests(proofs))
        assert replayed() == 1
        assert "FAILED   sums.M.g: 'truth' stands 0 times" in capsys.readouterr().out

    def test_what_is_trusted_is_listed(self, proofs: Path, replayed: Replayed) -> None:
        (proofs / "theories" / "sums.mlw").write_text("module M use base.M lemma g: true axiom a: true end")
        recorded.record(proofs, recorded.digests(proofs))
        with pytest.raises(ProofError, match=r"taken on trust and not listed .*: sums\.M\.a axiom"):
            replayed()


class TestWhatIsChanged:
    """Whatever a replay reads counts, what rests on it is replayed, and the record is not up to date."""

    @pytest.mark.parametrize(
        ("file", "expected"),
        [
            ("theories/base.mlw", {"base", "sums"}),
            ("theories/sums.mlw", {"sums"}),
            ("theories/base/why3session.xml", {"base"}),
            ("theories/base/why3shapes.gz", {"base"}),
            ("mutants/base.toml", set()),
            ("gappa/script.gappa", set()),
            ("mutants/scripts.toml", set()),
            *((f"programs/{name}", EVERY_THEORY) for name in REPLAYING),
            ("why3/int.mlw", EVERY_THEORY),
            ("why3/z3.drv", EVERY_THEORY),
        ],
    )
    def test_each_file(
        self, proofs: Path, replayed: Replayed, capsys: pytest.CaptureFixture[str], file: str, expected: set[str]
    ) -> None:
        with (proofs / file).open("a") as text:
            text.write("\n")
        self._check(replayed, capsys, file, expected)

    @pytest.mark.parametrize(
        ("file", "expected"), [("theories/base/why3shapes.gz", {"base"}), ("why3/int.mlw", EVERY_THEORY)]
    )
    def test_a_file_that_is_gone(
        self, proofs: Path, replayed: Replayed, capsys: pytest.CaptureFixture[str], file: str, expected: set[str]
    ) -> None:
        (proofs / file).unlink()
        self._check(replayed, capsys, file, expected)

    @staticmethod
    def _check(replayed: Replayed, capsys: pytest.CaptureFixture[str], file: str, expected: set[str]) -> None:
        assert replayed() == 1
        assert replayed.names == expected
        told = capsys.readouterr().out
        assert re.search(rf"^changed since everything was replayed: \S*{Path(file).name}$", told, re.MULTILINE)
        assert f"{FILE} is not up to date" in told

    @pytest.mark.parametrize(
        ("file", "expected"),
        [("theories/base/more", {"base"}), ("mutants/base.toml", set()), ("why3/more.drv", EVERY_THEORY)],
    )
    def test_a_new_file(self, proofs: Path, replayed: Replayed, file: str, expected: set[str]) -> None:
        (proofs / file).unlink(missing_ok=True)
        recorded.record(proofs, recorded.digests(proofs))
        (proofs / file).write_text(VARIANT.format('theorem = "M.g"'))
        assert replayed() == 1
        assert replayed.names == expected

    def test_no_record(self, proofs: Path, replayed: Replayed) -> None:
        (proofs / FILE).unlink()
        assert replayed() == 1
        assert replayed.names == EVERY_THEORY

    def test_a_digest_that_is_another(
        self, proofs: Path, replayed: Replayed, capsys: pytest.CaptureFixture[str]
    ) -> None:
        text = (proofs / FILE).read_text()
        forged = re.sub(r"^\w{64}(?=  theories/other\.mlw$)", "0" * 64, text, flags=re.MULTILINE)
        assert forged != text
        (proofs / FILE).write_text(forged)
        assert replayed() == 1
        assert replayed.names == {"other"}

    def test_a_variant_of_which_nothing_is_left(self, proofs: Path, replayed: Replayed) -> None:
        (proofs / "mutants" / "base.toml").unlink()
        assert replayed() == 1
        assert replayed.names == set()

    def test_a_replay_of_everything_says_so_too(
        self, proofs: Path, replayed: Replayed, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (proofs / "theories" / "other.mlw").write_text(THEORIES["other"] + "\n")
        assert replayed(everything=True) == 1
        assert "make proofs-all RECORD=--record" in capsys.readouterr().out


class TestRecording:
    """The record is written when everything was replayed and holds, and then only."""

    @pytest.fixture(autouse=True)
    def changed(self, proofs: Path) -> None:
        (proofs / "theories" / "other.mlw").write_text(THEORIES["other"] + "\n")

    def test_it_makes_the_next_replay_short(self, replayed: Replayed) -> None:
        assert replayed(everything=True, record=True) == 0
        replayed.names.clear()
        assert replayed() == 0
        assert replayed.names == set()

    @pytest.mark.parametrize("name", sorted(ALL))
    def test_not_if_something_fails(
        self, proofs: Path, replayed: Replayed, capsys: pytest.CaptureFixture[str], name: str
    ) -> None:
        before = (proofs / FILE).read_bytes()
        replayed.fails.add(name)
        assert replayed(everything=True, record=True) == 1
        assert "nothing is recorded" in capsys.readouterr().out
        assert (proofs / FILE).read_bytes() == before

    def test_not_if_a_file_changes_meanwhile(
        self, proofs: Path, replayed: Replayed, capsys: pytest.CaptureFixture[str]
    ) -> None:
        before = (proofs / FILE).read_bytes()
        replayed.meanwhile = lambda: (proofs / "theories" / "base.mlw").write_text(THEORIES["base"] + " ")
        assert replayed(everything=True, record=True) == 1
        assert "files changed during the replay" in capsys.readouterr().out
        assert (proofs / FILE).read_bytes() == before


class TestRecord:
    """A file that is no such record is refused."""

    @pytest.mark.parametrize("line", ["", "sums.mlw", f"{'0' * 64} sums.mlw", f"{'0' * 64}  two words.mlw"])
    def test_a_line_that_records_nothing(self, tmp_path: Path, line: str) -> None:
        (tmp_path / FILE).write_text(f"{line}\n", encoding="utf-8")
        with pytest.raises(ProofError, match=r"recorded\.txt records each file once") as raised:
            recorded.recorded(tmp_path)
        assert "\n" not in str(raised.value)

    def test_a_file_that_is_recorded_twice(self, tmp_path: Path) -> None:
        (tmp_path / FILE).write_text(f"{'0' * 64}  theories/sums.mlw\n" * 2, encoding="utf-8")
        with pytest.raises(ProofError, match="once"):
            recorded.recorded(tmp_path)


class TestTheories:
    """Each theory has a session, and nothing is there that nobody would replay."""

    @pytest.mark.parametrize(
        ("damage", "complaint"),
        [
            (lambda theories: (theories / "sums.mlw").unlink(), "theories holds what belongs to no theory: sums"),
            (lambda theories: shutil.rmtree(theories / "sums"), "theories lacks the session of sums"),
            (lambda theories: (theories / "more.mlw").touch(), "theories lacks the session of more"),
            (lambda theories: (theories / "gone").mkdir(), "theories holds what belongs to no theory: gone"),
            (lambda theories: (theories / "sums.why").touch(), "theories holds what belongs to no theory: sums.why"),
            (lambda theories: [each.unlink() for each in theories.glob("*.mlw")], "theories holds no theory"),
        ],
    )
    def test_a_folder_with_more_or_less(
        self, proofs: Path, replayed: Replayed, damage: Callable[[Path], object], complaint: str
    ) -> None:
        damage(proofs / "theories")
        with pytest.raises(ProofError, match=re.escape(complaint)):
            replayed()


class TestCommands:
    """`make proofs` replays what changed, `make proofs-all` everything, and so does CI."""

    @pytest.mark.parametrize(
        ("words", "everything", "record"),
        [([], False, False), (["--all"], True, False), (["--all", "--record"], True, True)],
    )
    @pytest.mark.parametrize(
        ("failed", "told"), [(0, "no failures, 0 s"), (1, "1 failure, 0 s"), (2, "2 failures, 0 s")]
    )
    def test_the_command_line(
        self,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
        words: list[str],
        everything: bool,
        record: bool,
        failed: int,
        told: str,
    ) -> None:
        def replay_all(proofs: Path, configuration: Path, *, everything: bool, record: bool) -> int:
            asked.append((proofs, everything, record))
            return failed

        asked: list[tuple[Path, bool, bool]] = []
        monkeypatch.setattr(replay, "replay", replay_all)
        monkeypatch.setattr(replay, "configure", lambda folder: folder)
        monkeypatch.setattr(statements, "require_traced", lambda proofs: None)
        assert replay.main(words) == bool(failed)
        assert asked == [(ROOT / "proofs", everything, record)]
        assert capsys.readouterr().out == f"{told}\n"

    def test_a_statement_that_is_another(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def differs(proofs: Path) -> None:
            raise ProofError("they do not say what they said")

        monkeypatch.setattr(statements, "require_traced", differs)
        monkeypatch.setattr(replay, "configure", lambda folder: folder)
        assert replay.main([]) == 2
        assert capsys.readouterr().err == "error: they do not say what they said\n"

    def test_make_and_ci(self) -> None:
        assert "proofs-all: ## Replay" in MAKEFILE
        assert MAKEFILE.count("\t$(PROVING).replay\n") == 1
        assert MAKEFILE.count("\t$(PROVING).replay --all $(RECORD)\n") == 1
        assert "make proofs-all" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
