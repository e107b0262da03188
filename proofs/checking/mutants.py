"""Checks that false variants of the theorems cannot be proved: ``python -m proofs.checking.mutants [NAME ...]``.

A proof that cannot fail proves nothing. Each variant in ``proofs/mutants`` is one replacement in the text of a theory;
the theorem that it makes false is tried as the true one is proved, split by split, and what stays open with every
prover of that proof, each attempt for at least three times as long as the longest of the true one takes, in processor
time. One part that none of them proves is enough, and no prover has to try the same part twice. Many have a witness
besides: values that refute them, by evaluation.
"""

from __future__ import annotations

import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

from proofs.checking import gappa, witnesses
from proofs.checking.ending import Arguments, ended
from proofs.checking.jobs import Job, failures
from proofs.checking.provers import ProofError, configure
from proofs.checking.sessions import Session, copied, goal_name, is_proved, stored_seconds, was_made

PROOFS = Path(__file__).parents[1]
_SHORTEST = 1


@dataclass(frozen=True)
class Mutant:
    """A false variant: in the text of `file` the words `old` become `new`, and `theorem` no longer holds.

    Attributes
    ----------
    listed_in : str
        The name of the file in ``proofs/mutants``.
    file : Path
        The theory or the Gappa script.
    theorem : str
        Module and goal, ``"Truncation.only_overflow"``; empty for a script, which is one theorem.
    old, new : str
        What is replaced, exactly once, and by what.
    false_because : str
        Why the variant does not hold.
    witness : str
        Values of which the variant does not hold, as `witnesses` evaluates it; empty if it cannot.
    """

    listed_in: str
    file: Path
    theorem: str
    old: str
    new: str
    false_because: str
    witness: str = ""

    @property
    def title(self) -> str:
        """Return what a report calls it."""
        return f"{self.file.stem}.{self.theorem}" if self.theorem else self.file.name

    def text(self) -> str:
        """Return the text of the file with the replacement made.

        Raises
        ------
        ProofError
            If the words to replace do not stand there exactly once.
        """
        text = self.file.read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise ProofError(f"{self.old!r} stands {text.count(self.old)} times in the text; it must stand there once")
        return text.replace(self.old, self.new)


def mutants(proofs: Path, names: Sequence[str] = ()) -> Iterator[Mutant]:
    """Yield the variants of the theories named, or all.

    Raises
    ------
    ProofError
        If there is no such file, or one cannot be read as such a list.
    """
    paths = {path.stem: path for path in sorted((proofs / "mutants").glob("*.toml"))}
    for name in names or paths:
        if name not in paths:
            raise ProofError(f"no false variants of {name} are listed; there are those of: {', '.join(paths)}")
        try:
            for entry in tomllib.loads(paths[name].read_text(encoding="utf-8"))["mutant"]:
                yield _mutant(proofs, name, **entry)
        except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
            raise ProofError(f"{name}.toml is no list of mutants: {error}") from None


def _mutant(
    proofs: Path,
    name: str,
    *,
    replace: str,
    by: str,
    false_because: str,
    theorem: str = "",
    script: str = "",
    witness: str = "",
) -> Mutant:
    """Return the variant that an entry of a file describes: either of a theorem, or of a script."""
    if not all(isinstance(word, str) for word in (replace, by, false_because, theorem, script, witness)):
        raise TypeError("every value is a string")
    file = proofs / "gappa" / script if script else proofs / "theories" / f"{name}.mlw"
    if bool(theorem) == bool(script) or not file.is_file():
        raise TypeError(f"each variant names a theorem of {name}.mlw or a script in gappa/")
    return Mutant(f"{name}.toml", file, theorem, replace, by, false_because, witness)


def is_refuted(mutant: Mutant, configuration: Path) -> bool:
    """Tell whether a variant's witness refutes it, and not the true theorem too.

    Raises
    ------
    ProofError
        If it is no witness of that theorem.
    """
    true = mutant.file.read_text(encoding="utf-8")
    refuted = [
        witnesses.refutes(mutant.file, text, mutant.theorem, mutant.witness, configuration)
        for text in (mutant.text(), true)
    ]
    return refuted == [True, False]


def survives(mutant: Mutant, configuration: Path) -> bool:
    """Tell whether a false variant is proved, which it must not be.

    Parameters
    ----------
    mutant : Mutant
        The variant.
    configuration : Path
        Of Why3.

    Raises
    ------
    ProofError
        If the variant does not type-check, its theorem is not there, or the true one is not proved.
    """
    with tempfile.TemporaryDirectory() as folder:
        if not mutant.theorem:
            script = Path(folder) / mutant.file.name
            script.write_text(mutant.text(), encoding="utf-8")
            return gappa.proves(script)
        session = Session(copied(mutant.file, Path(folder)), configuration)
        session.read()
        goal = _goal(session, mutant)
        provers, seconds = _allowed(goal)
        for _, other in session.goals():
            if other is not goal:
                other[:] = []
        for proof in goal.iter("proof"):
            proof.set("timelimit", str(seconds))
        session.theory.write_text(mutant.text(), encoding="utf-8")
        asked = session.file  # what proves the true theorem
        for until_open in (True, False):
            session.file = asked
            session.run(until_open=until_open)
            goal = _goal(session, mutant)
            if is_proved(goal):
                return True
            parts = _open_parts(goal)
            if until_open:  # mostly the first one that fails is enough
                parts = [part for part in parts if any(map(_failed, part.iter("result")))][:1]
            proved = _all_proved(parts, session, mutant, provers, seconds)
            if proved is False:
                return False
    if proved is None:
        raise ProofError(f"{mutant.file.name} has no goal {mutant.theorem}")
    return True


def _failed(result: Element) -> bool:
    """Tell whether a prover ran, and was not kept back since another had failed before."""
    return result.get("status") not in ("valid", "highfailure")


def _all_proved(
    parts: Sequence[Element], session: Session, mutant: Mutant, provers: set[str], seconds: int
) -> bool | None:
    """Tell whether parts are proved by those of the provers that have not tried them yet; None if there are none."""
    tried, proved = session.file, None
    untried = {part: provers - _tried(part) for part in parts}
    for part in _goal(session, mutant).iter("goal"):
        _forget(part)
    # One part that nothing proves is enough; those that every prover has tried come first.
    for part in sorted(untried, key=lambda part: len(untried[part])):
        if not untried[part]:
            return False
        for prover in sorted(untried[part]):
            SubElement(SubElement(part, "proof", prover=prover, timelimit=str(seconds)), "undone")
        session.file = tried
        session.run()
        made = [each for each in _goal(session, mutant).iter("goal") if any(map(was_made, each.findall("proof")))]
        if made and not all(map(is_proved, made)):
            return False
        proved = proved or bool(made) or None  # without any the variant has no such part
        _forget(part)
    return proved


def _open_parts(goal: Element) -> list[Element]:
    """Return the parts of a goal that are not proved; one of which Why3 made no attempt is not split."""
    if is_proved(goal):
        return []
    attempts = list(goal.iter("proof"))
    if attempts and not any(map(was_made, attempts)):
        return [goal]
    parts = [part for split in goal.findall("transf") for part in split.findall("goal")]
    return [leaf for part in parts for leaf in _open_parts(part)] or [goal]


def _tried(part: Element) -> set[str]:
    return {proof.get("prover", "") for proof in part.findall("proof") if was_made(proof)}


def _forget(part: Element) -> None:
    for proof in part.findall("proof"):
        part.remove(proof)


def jobs(listed: Sequence[Mutant], configuration: Path) -> list[Job]:
    """Return the work of trying each variant, the longest first."""
    seconds = stored_seconds({mutant.file for mutant in listed if mutant.theorem})
    ordered = sorted(listed, key=lambda mutant: seconds.get(mutant.title, 0.0), reverse=True)
    return [Job("false variants", partial(_told, mutant, configuration)) for mutant in ordered]


def read(mutant: Mutant) -> tuple[bool, str]:
    """Return whether a variant is one, and a line that says so; it is not tried."""
    try:
        mutant.text()
    except ProofError as error:
        return False, f"FAILED   {mutant.title}: {error}"
    return True, f"known    {mutant.title}: {mutant.false_because}"


def _told(mutant: Mutant, configuration: Path) -> tuple[bool, str]:
    began = time.perf_counter()
    try:
        if mutant.witness and not is_refuted(mutant, configuration):
            return False, f"FAILED   {mutant.title}: its witness refutes nothing, or the true theorem: {mutant.witness}"
        proved = survives(mutant, configuration)
    except ProofError as error:
        return False, f"FAILED   {mutant.title}: {error}"
    verdict = "PROVED, THOUGH FALSE" if proved else "refuted " if mutant.witness else "refused "
    return not proved, f"{verdict} {mutant.title}: {mutant.false_because} ({time.perf_counter() - began:.1f} s)"


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the variants of the theories named, or all; return 1 if one is proved."""
    parser = Arguments(prog="python -m proofs.checking.mutants", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="names of files in proofs/mutants; none: all")
    given = parser.parse_args(arguments)

    def check() -> int:
        listed = list(mutants(PROOFS, given.names))
        with tempfile.TemporaryDirectory() as folder:
            return 1 if failures(jobs(listed, configure(Path(folder)))) else 0

    return ended(check)


def _goal(session: Session, mutant: Mutant) -> Element:
    for module, goal in session.goals():
        if f"{module}.{goal_name(goal)}" == mutant.theorem:
            return goal
    raise ProofError(f"{mutant.file.name} has no goal {mutant.theorem}")


def _allowed(goal: Element) -> tuple[set[str], int]:
    """Return the provers of a true theorem, and how many seconds each has for a part of the false one."""
    provers = {proof.get("prover", "") for proof in goal.iter("proof")}
    if not provers:
        raise ProofError(f"no prover proves the true {goal_name(goal)}: a split of it leaves nothing")
    longest = max(float(result.get("time", "0")) for result in goal.iter("result"))
    return provers, max(_SHORTEST, ceil(3 * longest))


if __name__ == "__main__":
    sys.exit(main())
