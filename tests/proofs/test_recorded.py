"""Theories that are unchanged since the last full replay, by digests of all files it reads, are not replayed again.

These tests need no prover.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from proofs.checking import contradictions, gappa, mutants, recorded, replay, statements
from proofs.checking.mutants import Mutant
from proofs.checking.provers import ProofError
from proofs.checking.recorded import FILE, REPLAYING

ROOT = Path(__file__).parents[2]
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
ALL = EVERY_THEORY | EVERY_VARIANT | {"false of sums", "false of other"}
Damage = Callable[[Path], object]


@pytest.fixture
def proofs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a recorded folder of proofs, with copies of the programs and of Why3's files."""
    folder = tmp_path / "proofs"
    for name in ("theories", "gappa", "mutants", "programs", "why3"):
        (folder / name).mkdir(parents=True)
    files = {"README.md": "", "gappa/script.gappa": "true", "why3/int.mlw": "", "why3/z3.drv": ""}
    files["mutants/scripts.toml"] = VARIANT.format('script = "script.gappa"')
    for name, text in THEORIES.items():
        (folder / "theories" / name).mkdir()
        files |= {f"theories/{name}.mlw": text, f"theories/{name}/why3session.xml": SESSION}
        files |= {f"theories/{name}/why3shapes.gz": "", f"mutants/{name}.toml": VARIANT.format('theorem = "M.g"')}
    for name, text in files.items():
        (folder / name).write_text(text)
    for name in REPLAYING:
        shutil.copyfile(recorded.PROGRAMS / name, folder / "programs" / name)
    monkeypatch.setattr(recorded, "PROGRAMS", folder / "programs")
    monkeypatch.setattr(recorded, "_WHY3", ((folder / "why3", "*"),))
    recorded.record(folder, recorded.digests(folder))
    return folder


class Replayed:
    """Stands in for Why3 and Gappa: notes what is replayed, and fails where it is told to."""

    def __init__(self, proofs: Path) -> None:
        self.proofs = proofs
        self.names: set[str] = set()
        self.fails: set[str] = set()
        self.meanwhile: Callable[[], object] = lambda: None

    def asked(self, name: str) -> str:
        self.meanwhile()
        self.names.add(name)
        if name in self.fails:
            raise ProofError("not proved")
        return "as it must be"

    def variant(self, mutant: Mutant, configuration: Path) -> bool:
        self.names.add(mutant.title)
        return mutant.title in self.fails

    def __call__(self, *, everything: bool = False, record: bool = False) -> int:
        return replay.replay(self.proofs, Path(), everything=everything, record=record)


@pytest.fixture
def replayed(proofs: Path, monkeypatch: pytest.MonkeyPatch) -> Replayed:
    """Return a stand-in that replays the folder without provers."""
    stand_in = Replayed(proofs)
    monkeypatch.setattr(replay, "replay_theory", lambda theory, _: stand_in.asked(theory.stem))
    monkeypatch.setattr(contradictions, "require_none", lambda theory, _: stand_in.asked(f"false of {theory.stem}"))
    monkeypatch.setattr(mutants, "survives", stand_in.variant)
    monkeypatch.setattr(gappa, "proves", lambda script: True)
    return stand_in


def written(file: str, text: str, proofs: Path) -> None:
    """Write a file of the folder, or append white space to it."""
    with (proofs / file).open("w" if text.strip() else "a") as opened:
        opened.write(text)


class TestWhatIsUnchanged:
    """It is not replayed, as the output says, but its stored session and variants are read."""

    def test_nothing_is_replayed(self, replayed: Replayed, capsys: pytest.CaptureFixture[str]) -> None:
        assert replayed() == 0
        assert replayed.names == set()
        told = capsys.readouterr().out
        assert "known by digest, not replayed: theories 3; `make proofs-all` replays them" in told
        assert "not tried: false variants 4; `make proofs-all` tries them" in told
        assert "proved  script" in told

    def test_everything_is_replayed_if_asked(self, replayed: Replayed, capsys: pytest.CaptureFixture[str]) -> None:
        """``false`` is tried for the theories that no other theory uses."""
        assert replayed(everything=True) == 0
        assert replayed.names == ALL
        told = capsys.readouterr().out
        assert "digest" not in told
        assert "not tried" not in told

    @pytest.mark.parametrize(
        ("file", "text", "complaint"),
        [
            ("theories/sums/why3session.xml", SESSION.replace(' name="g" proved="true"', ' name="g"'), "sums.M.g"),
            ("mutants/sums.toml", VARIANT.format('theorem = "M.g"').replace("true", "truth"), "stands 0 times"),
        ],
    )
    def test_stored_sessions_and_variants_are_read(
        self, replayed: Replayed, capsys: pytest.CaptureFixture[str], file: str, text: str, complaint: str
    ) -> None:
        written(file, text, replayed.proofs)
        recorded.record(replayed.proofs, recorded.digests(replayed.proofs))
        assert replayed() == 1
        assert re.search(rf"^FAILED .*{re.escape(complaint)}", capsys.readouterr().out, re.MULTILINE)

    def test_an_axiom_that_is_not_listed(self, replayed: Replayed) -> None:
        written("theories/sums.mlw", "module M use base.M lemma g: true axiom a: true end", replayed.proofs)
        recorded.record(replayed.proofs, recorded.digests(replayed.proofs))
        with pytest.raises(ProofError, match=r"taken on trust and not listed .*: sums\.M\.a axiom"):
            replayed()


class TestWhatIsChanged:
    """After a change of any file that a replay reads, all that depends on it is replayed."""

    @pytest.mark.parametrize(
        ("change", "file", "expected"),
        [
            ("append", "theories/base.mlw", {"base", "sums"}),
            ("append", "theories/sums.mlw", {"sums"}),
            ("append", "theories/base/why3session.xml", {"base"}),
            ("append", "theories/base/why3shapes.gz", {"base"}),
            ("append", "mutants/base.toml", set()),
            ("append", "gappa/script.gappa", set()),
            ("append", "mutants/scripts.toml", set()),
            *(("append", f"programs/{name}", EVERY_THEORY) for name in REPLAYING),
            ("append", "why3/int.mlw", EVERY_THEORY),
            ("append", "why3/z3.drv", EVERY_THEORY),
            ("remove", "theories/base/why3shapes.gz", {"base"}),
            ("remove", "why3/int.mlw", EVERY_THEORY),
            ("remove", "mutants/base.toml", set()),
            ("remove", FILE, EVERY_THEORY),
            ("add", "theories/base/more", {"base"}),
            ("add", "why3/more.drv", EVERY_THEORY),
        ],
    )
    def test_each_file(
        self, replayed: Replayed, capsys: pytest.CaptureFixture[str], change: str, file: str, expected: set[str]
    ) -> None:
        if change == "remove":
            (replayed.proofs / file).unlink()
        else:
            written(file, "more" if change == "add" else "\n", replayed.proofs)
        assert replayed() == 1
        assert replayed.names == expected
        told = capsys.readouterr().out
        assert f"{FILE} is not up to date" in told
        if change == "append":
            assert re.search(rf"^changed since everything was replayed: \S*{Path(file).name}$", told, re.MULTILINE)

    def test_a_changed_digest(self, replayed: Replayed) -> None:
        text = (replayed.proofs / FILE).read_text()
        forged = re.sub(r"^\w{64}(?=  theories/other\.mlw$)", "0" * 64, text, flags=re.MULTILINE)
        assert forged != text
        (replayed.proofs / FILE).write_text(forged)
        assert replayed() == 1
        assert replayed.names == {"other"}


class TestRecording:
    """The record is written only after everything was replayed without a failure."""

    @pytest.fixture(autouse=True)
    def changed(self, proofs: Path) -> None:
        written("theories/other.mlw", "\n", proofs)

    def test_the_next_replay_is_short(self, replayed: Replayed, capsys: pytest.CaptureFixture[str]) -> None:
        assert replayed(everything=True) == 1
        assert "make proofs-all RECORD=--record" in capsys.readouterr().out
        assert replayed(everything=True, record=True) == 0
        replayed.names.clear()
        assert replayed() == 0
        assert replayed.names == set()

    @pytest.mark.parametrize("name", [*sorted(ALL), "a file that changes meanwhile"])
    def test_not_if_something_fails(self, replayed: Replayed, capsys: pytest.CaptureFixture[str], name: str) -> None:
        before = (replayed.proofs / FILE).read_bytes()
        replayed.fails.add(name)
        if name not in ALL:
            replayed.meanwhile = partial(written, "theories/base.mlw", "\n", replayed.proofs)
        assert replayed(everything=True, record=True) == 1
        told = capsys.readouterr().out
        assert "nothing is recorded" in told
        assert ("files changed during the replay" in told) == (name not in ALL)
        assert (replayed.proofs / FILE).read_bytes() == before


@pytest.mark.parametrize(
    "text",
    ["\n", "sums.mlw\n", f"{'0' * 64} sums.mlw\n", f"{'0' * 64}  two words.mlw\n", f"{'0' * 64}  sums.mlw\n" * 2],
)
def test_an_invalid_record(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    with pytest.raises(ProofError, match=r"recorded\.txt records each file once") as raised:
        recorded.recorded(tmp_path)
    assert "\n" not in str(raised.value)


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
def test_a_folder_with_more_or_less(replayed: Replayed, damage: Damage, complaint: str) -> None:
    damage(replayed.proofs / "theories")
    with pytest.raises(ProofError, match=re.escape(complaint)):
        replayed()


@pytest.mark.parametrize("check", ["require_traced", "require_read"])
def test_checks_before_the_replay(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], check: str
) -> None:
    def differs(proofs: Path) -> None:
        raise ProofError("it is not what it was")

    monkeypatch.setattr(statements, "require_traced", lambda proofs: None)
    monkeypatch.setattr(replay if check == "require_read" else statements, check, differs)
    monkeypatch.setattr(replay, "configure", lambda folder: folder)
    assert replay.main([]) == 2
    assert capsys.readouterr().err == "error: it is not what it was\n"
