"""Why3 sessions: which goals a theory has, what proves each, and how Why3 is asked to try.

Why3 1.5.1 makes sessions in its window only. A session file that names a theory, and under its goals the attempts to
make, is filled by ``why3 replay -f``: that is how ours are made and read.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
import xml.etree.ElementTree as ElementTree  # the files are ours, or were just written by Why3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

from proofs.checking import children
from proofs.checking.provers import FIRST, PROVERS, TURN, ProofError

_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<!DOCTYPE why3session PUBLIC "-//Why3//proof session v5//EN"\n"http://why3.lri.fr/why3session.dtd">\n'
)
# What processor time a stored proof may take; it was found in a fraction of this, and another machine may be slower.
REPLAY_SECONDS = 30
_MEMORY = 2000
# Seconds that Why3 may take beside its provers, and how many times their limits it may wait for those: for Why3 that
# hangs, not for one that is slow.
_WITHOUT_PROVERS = 300
_PATIENCE = 3
SESSION = "why3session.xml"
# Why3 leaves them when it has filled a session, and only then.
_BACKUPS = "*.bak"
_VC = "'vc"  # ends the name of a function's verification condition
# What stands before a dot: in `use tensor.RowMajor`, the theory.
_QUALIFIER = re.compile(r"\w+(?=\s*\.)")


@dataclass(frozen=True)
class Theorem:
    """A goal of a theory and what proves it.

    Attributes
    ----------
    theory : str
        The file and the module: ``"integer_division.Truncation"``.
    name : str
        The lemma, goal or function whose verification condition it is.
    provers : tuple of str
        Name and version of each prover that proves a part of it.
    seconds : float
        What the proofs of the parts took together when they were recorded.
    proved : bool
        Whether every part is proved.
    """

    theory: str
    name: str
    provers: tuple[str, ...]
    seconds: float
    proved: bool

    @property
    def title(self) -> str:
        """Return the full name, as the traceability table calls it."""
        return f"{self.theory}.{self.name}"


class Session:
    """The session of one theory: ``theories/name.mlw`` has its session in ``theories/name/``."""

    def __init__(self, theory: Path, configuration: Path) -> None:
        self.theory = theory
        self.folder = theory.with_suffix("")
        self.path = self.folder / SESSION
        self.configuration = configuration
        self._take([])

    def _take(self, modules: Iterable[Element]) -> None:
        """Hold these modules as those of our theory, whichever file they were read of."""
        self.file = Element("file", format="whyml")
        SubElement(self.file, "path", name="..")
        SubElement(self.file, "path", name=self.theory.name)
        self.file.extend(modules)

    def read(self) -> None:
        """Read the session file."""
        try:
            root = ElementTree.parse(self.path).getroot()
        except (OSError, ElementTree.ParseError) as error:
            raise ProofError(f"{self.theory.name} has no readable session ({error}); prove it first") from None
        keys = {(p.name, p.version, p.alternative): key for key, p in PROVERS.items()}
        named = {
            p.get("id"): keys.get((p.get("name", ""), p.get("version", ""), p.get("alternative", "")))
            for p in root.findall("prover")
        }
        file = root.find("file")
        if file is None:
            raise ProofError(f"the session of {self.theory.name} names no file; prove it anew")
        for proof in file.iter("proof"):
            key = named.get(proof.get("prover"))
            if key is None:
                raise ProofError(f"the session of {self.theory.name} uses a prover that is not ours; prove it anew")
            proof.set("prover", key)
        self._take(file.findall("theory"))

    def write(self) -> None:
        """Write the session file without its claims of what is proved: those are Why3's to make.

        Every attempt is called obsolete, and stays it where Why3 does not make it: its goal is gone.
        """
        root = Element("why3session", shape_version="6")
        keys = sorted({proof.get("prover", "") for proof in self.file.iter("proof")})
        for number, key in enumerate(keys):
            prover = PROVERS[key]
            limits = {"timelimit": str(REPLAY_SECONDS), "steplimit": "0", "memlimit": str(_MEMORY)}
            attributes = {"id": str(number), "name": prover.name, "version": prover.version, **limits}
            if prover.alternative:
                attributes["alternative"] = prover.alternative
            SubElement(root, "prover", attributes)
        file = ElementTree.fromstring(ElementTree.tostring(self.file))
        for element in file.iter():
            element.attrib.pop("proved", None)
        for proof in file.iter("proof"):
            proof.set("prover", str(keys.index(proof.get("prover", ""))))
            proof.set("obsolete", "true")
        root.append(file)
        self.folder.mkdir(exist_ok=True)
        for pattern in ("why3shapes*", _BACKUPS):
            for left in self.folder.glob(pattern):
                left.unlink()
        self.path.write_text(_HEAD + ElementTree.tostring(root, encoding="unicode") + "\n", encoding="utf-8")

    def run(self, *, until_open: bool = False) -> None:
        """Let Why3 try every attempt, or until one fails, and take in what became of it and of the theory.

        Raises
        ------
        ProofError
            If the theory does not type-check, or Why3 does not finish.
        """
        self.write()
        command = ["why3", "replay", "--force", "--quiet", "--no-stats", "--smoke-detector=none"]
        command += [f"--config={self.configuration}", f"--library={self.theory.parent}", str(self.folder)]
        attempts = sum(int(proof.get("timelimit", REPLAY_SECONDS)) for proof in self.file.iter("proof"))
        # An interrupted Why3 leaves the files that it gave to provers.
        temporary = str(self.configuration.parent)
        with tempfile.NamedTemporaryFile(dir=temporary) as turn:
            environment = {**os.environ, "TMPDIR": temporary, TURN: turn.name, FIRST: "yes" if until_open else ""}
            told = children.told(command, _WITHOUT_PROVERS + _PATIENCE * attempts, environment)
        backups = list(self.folder.glob(_BACKUPS))
        if not backups:
            said = f"{told.stdout} {told.stderr}".replace("[Warning] could not find goal shapes file", "")
            told_why = " ".join(said.split()) or f"why3 ended with exit code {told.returncode}"
            raise ProofError(f"{self.theory.name}: {told_why}")
        for left in backups:
            left.unlink()
        self.read()

    def prune(self) -> None:
        """Drop every goal that the theory no longer has: Why3 keeps those, proved as they once were.

        Raises
        ------
        ProofError
            If the theory does not type-check.
        """
        with tempfile.TemporaryDirectory() as folder:
            bare = Session(self.copied_bare(Path(folder)), self.configuration)
            bare.run()
        there = {(module, goal.get("name")) for module, goal in bare.goals()}
        for module in self.file.findall("theory"):
            for goal in module.findall("goal"):
                if (module.get("name", ""), goal.get("name")) not in there:
                    module.remove(goal)
            if module.find("goal") is None:
                self.file.remove(module)

    def copied_bare(self, folder: Path) -> Path:
        """Copy the theory without its session, and all that it uses, into a folder; return the copy's path."""
        return copied(self.theory, folder, stored=False)

    def erase(self) -> None:
        """Remove the session from the disk."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def goals(self) -> Iterator[tuple[str, Element]]:
        """Yield each goal of the theory with its module's name."""
        for theory in self.file.findall("theory"):
            for goal in theory.findall("goal"):
                yield theory.get("name", ""), goal

    def theorems(self) -> list[Theorem]:
        """Return every goal with what proves it."""
        found = []
        for module, goal in self.goals():
            proofs = [proof for leaf in leaves(goal) for proof in leaf.findall("proof") if _valid(proof)]
            titles = tuple(sorted({PROVERS[proof.get("prover", "")].title for proof in proofs}))
            seconds = sum(float(result.get("time", "0")) for proof in proofs for result in proof.findall("result"))
            theory = f"{self.theory.stem}.{module}"
            found.append(Theorem(theory, goal_name(goal), titles, seconds, is_proved(goal)))
        return found


def stored_seconds(theories: Iterable[Path]) -> dict[str, float]:
    """Return what the proof of each theorem took when it was stored, by title; none where no session can be read."""
    seconds: dict[str, float] = {}
    for theory in theories:
        session = Session(theory, Path())
        with contextlib.suppress(ProofError):
            session.read()
        seconds |= {theorem.title: theorem.seconds for theorem in session.theorems()}
    return seconds


def needed(theory: Path) -> list[Path]:
    """Return a theory and every theory that it uses or clones, or that one of these does, by the names in their texts.

    A name in a comment counts too. A theory that were missed would not be copied for a replay, which fails then.
    """
    found = [theory]
    for each in found:  # it grows meanwhile
        named = (each.with_name(f"{name}.mlw") for name in _QUALIFIER.findall(each.read_text(encoding="utf-8")))
        found += sorted({path for path in named if path.is_file()} - set(found))
    return found


def copied(theory: Path, folder: Path, *, stored: bool = True) -> Path:
    """Copy a theory, what it uses and, if it is `stored`, its session into a folder; return the copy's path."""
    for each in needed(theory):
        shutil.copyfile(each, folder / each.name)
    path = theory.with_suffix("") / SESSION
    if stored and path.is_file():
        (folder / theory.stem).mkdir()
        shutil.copyfile(path, folder / theory.stem / SESSION)
    return folder / theory.name


def goal_name(goal: Element) -> str:
    """Return the name of the lemma or the function that a goal is about."""
    return goal.get("name", "").removesuffix(_VC)


def leaves(goal: Element) -> list[Element]:
    """Return the parts of a goal that no transformation splits further."""
    parts = [part for split in goal.findall("transf") for part in split.findall("goal")]
    return [leaf for part in parts for leaf in leaves(part)] or [goal]


def is_proved(goal: Element) -> bool:
    """Tell whether Why3 says that a goal is proved, which it computes anew whenever it tries the attempts.

    It knows better than the parts of a split that are listed: they may be none, where a transformation could not be
    applied, or more than there are, where the theory changed.
    """
    return goal.get("proved") == "true"


def was_made(proof: Element) -> bool:
    """Tell whether Why3 made an attempt when it was last asked: the goal is there."""
    return proof.get("obsolete") is None


def _valid(proof: Element) -> bool:
    result = proof.find("result")
    return was_made(proof) and result is not None and result.get("status") == "valid"


def drop_failures(goal: Element) -> None:
    """Remove every attempt that did not prove its goal, every split that is not needed, and parts that are gone."""
    for proof in goal.findall("proof"):
        if not _valid(proof):
            goal.remove(proof)
        proof.attrib.pop("timelimit", None)  # that of the search, too short where the machine is busy
    proved_whole = goal.find("proof") is not None
    for split in goal.findall("transf"):
        if proved_whole or split.find("goal") is None:
            goal.remove(split)
        for part in split.findall("goal"):
            if is_proved(goal) and not is_proved(part):
                split.remove(part)
            drop_failures(part)


def open_leaves(goal: Element) -> list[Element]:
    """Return the parts of a goal that are not proved yet."""
    if is_proved(goal):
        return []
    parts = [part for split in goal.findall("transf") for part in split.findall("goal")]
    return [leaf for part in parts for leaf in open_leaves(part)] or [goal]
