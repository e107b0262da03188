"""Checks that false variants of the theorems cannot be proved: ``python -m proofs.checking.mutants [NAME ...]``.

A proof that cannot fail proves nothing. Each variant in ``proofs/mutants`` is one replacement in the text of a theory;
the theorem that it makes false is tried with the provers and the splits that prove the true one, each for at least
three times as long as the longest part of that takes.
"""

from __future__ import annotations

import argparse
import subprocess
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

from proofs.checking.prove import search
from proofs.checking.provers import ProofError, configure
from proofs.checking.sessions import AT_ONCE, VC, Session, copied, is_proved, step

PROOFS = Path(__file__).parents[1]
_SHORTEST = 2


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
        If a file cannot be read as such a list.
    """
    for path in sorted((proofs / "mutants").glob("*.toml")):
        if names and path.stem not in names:
            continue
        try:
            listed = tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
            for entry in listed:
                file = proofs / "gappa" / entry["script"] if "script" in entry else proofs / f"theories/{path.stem}.mlw"
                yield Mutant(file, entry.get("theorem", ""), entry["replace"], entry["by"], entry["false_because"])
        except (tomllib.TOMLDecodeError, KeyError) as error:
            raise ProofError(f"{path.name} is no list of mutants: {error}") from None


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
            return _gappa_proves(mutant, Path(folder))
        session = Session(copied(mutant.file, Path(folder)), configuration)
        session.read()
        plan = _plan(_goal(session, mutant))
        session.theory.write_text(mutant.text(), encoding="utf-8")
        session.erase()
        variant = Session(session.theory, configuration)
        search(variant, plan, only=(mutant.theorem.rpartition(".")[2],))
        return is_proved(_goal(variant, mutant))


def _gappa_proves(mutant: Mutant, folder: Path) -> bool:
    script = folder / mutant.file.name
    script.write_text(mutant.text(), encoding="utf-8")
    told = subprocess.run(["gappa", str(script)], capture_output=True, text=True, check=False)
    if "syntax error" in told.stderr:
        raise ProofError(" ".join(told.stderr.split()))
    return told.returncode == 0


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
    try:
        with tempfile.TemporaryDirectory() as folder:
            return 1 if check_all(PROOFS, configure(Path(folder)), given.names) else 0
    except ProofError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _goal(session: Session, mutant: Mutant) -> Element:
    for module, goal in session.goals():
        if f"{module}.{goal.get('name', '').removesuffix(VC)}" == mutant.theorem:
            return goal
    raise ProofError(f"{mutant.file.name} has no goal {mutant.theorem}")


def _plan(goal: Element) -> str:
    """Return a plan of what proves a goal: its provers before and after each of its transformations."""
    if not is_proved(goal):
        raise ProofError(f"the true {goal.get('name')} is not proved either")
    keys = sorted({proof.get("prover", "") for proof in goal.iter("proof")})
    longest = max(float(result.get("time", "0")) for result in goal.iter("result"))
    tries = [f"{key}:{max(_SHORTEST, ceil(3 * longest))}" for key in keys]
    plan = list(tries)
    for transformation in dict.fromkeys(step(split) for split in goal.iter("transf")):
        plan += [transformation, *tries]
    return " ".join(plan)


if __name__ == "__main__":
    sys.exit(main())
