"""Checks that false variants of the theorems cannot be proved: ``python -m proofs.checking.mutants [NAME ...]``.

A proof that cannot fail proves nothing. Each variant in ``proofs/mutants`` is one replacement in the text of a theory;
the theorem that it makes false is tried as the true one is proved, split by split, and what stays open with every
prover of that proof, each attempt for at least three times as long as the longest of the true one takes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from xml.etree.ElementTree import Element

from proofs.checking import gappa
from proofs.checking.ending import ended
from proofs.checking.prove import attempt
from proofs.checking.provers import ProofError, configure
from proofs.checking.sessions import AT_ONCE, Session, copied, goal_name, is_proved, open_leaves

PROOFS = Path(__file__).parents[1]
_SHORTEST = 1


@dataclass(frozen=True)
class Mutant:
    """A false variant: in the text of `file` the words `old` become `new`, and `theorem` no longer holds.

    Attributes
    ----------
    file : Path
        The theory or the Gappa script.
    theorem : str
        Module and goal, ``"Truncation.only_overflow"``; empty for a script, which is one theorem.
    old, new : str
        What is replaced, exactly once, and by what.
    false_because : str
        Why the variant does not hold.
    """

    file: Path
    theorem: str
    old: str
    new: str
    false_because: str

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
    proofs: Path, name: str, *, replace: str, by: str, false_because: str, theorem: str = "", script: str = ""
) -> Mutant:
    """Return the variant that an entry of a file describes: either of a theorem, or of a script."""
    if not all(isinstance(word, str) for word in (replace, by, false_because, theorem, script)):
        raise TypeError("every value is a string")
    file = proofs / "gappa" / script if script else proofs / "theories" / f"{name}.mlw"
    if bool(theorem) == bool(script) or not file.is_file():
        raise TypeError(f"each variant names a theorem of {name}.mlw or a script in gappa/")
    return Mutant(file, theorem, replace, by, false_because)


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
        every_prover = _limited(session, _goal(session, mutant))
        session.theory.write_text(mutant.text(), encoding="utf-8")
        session.prune()
        attempt(session, [], every_prover)  # nothing new yet: what proves the true theorem
        left = open_leaves(_goal(session, mutant))
        while left:
            attempt(session, left[:1], every_prover)
            before, left = len(left), open_leaves(_goal(session, mutant))
            if len(left) == before:
                break  # one part that nothing proves is enough
        return not left


def check_all(proofs: Path, configuration: Path, names: Sequence[str] = ()) -> int:
    """Try the variants in `proofs`, print a line for each, and return how many are proved or cannot be tried."""

    def told(mutant: Mutant) -> tuple[bool, str]:
        began = time.perf_counter()
        try:
            proved = survives(mutant, configuration)
        except ProofError as error:
            return False, f"FAILED   {mutant.title}: {error}"
        verdict = "PROVED, THOUGH FALSE" if proved else "refused "
        return not proved, f"{verdict} {mutant.title}: {mutant.false_because} ({time.perf_counter() - began:.1f} s)"

    failures = 0
    listed = list(mutants(proofs, names))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for refused, line in pool.map(told, listed):
            failures += not refused
            print(line, flush=True)
    print(f"{len(listed)} false variants tried")
    return failures


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the variants of the theories named, or all; return 1 if one is proved."""
    parser = argparse.ArgumentParser(prog="python -m proofs.checking.mutants", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="names of files in proofs/mutants; none: all")
    given = parser.parse_args(arguments)

    def check() -> int:
        with tempfile.TemporaryDirectory() as folder:
            return 1 if check_all(PROOFS, configure(Path(folder)), given.names) else 0

    return ended(check)


def _goal(session: Session, mutant: Mutant) -> Element:
    for module, goal in session.goals():
        if f"{module}.{goal_name(goal)}" == mutant.theorem:
            return goal
    raise ProofError(f"{mutant.file.name} has no goal {mutant.theorem}")


def _limited(session: Session, goal: Element) -> str:
    """Leave in a session the proof of one goal, its attempts limited; return a step of all provers of the goal."""
    if not is_proved(goal):
        raise ProofError(f"the true {goal_name(goal)} is not proved either")
    provers = sorted({proof.get("prover", "") for proof in goal.iter("proof")})
    if not provers:
        raise ProofError(f"no prover proves the true {goal_name(goal)}: a split of it leaves nothing")
    longest = max(float(result.get("time", "0")) for result in goal.iter("result"))
    seconds = max(_SHORTEST, ceil(3 * longest))
    for proof in goal.iter("proof"):
        proof.set("timelimit", str(seconds))
    for _, other in session.goals():
        if other is not goal:
            other[:] = []
    return "+".join(f"{key}:{seconds}" for key in provers)


if __name__ == "__main__":
    sys.exit(main())
