"""Replays every proof: ``python -m proofs.checking.replay [THEORY ...]``, exit code 0 if all hold.

The stored sessions are copied and replayed there, so that nothing under ``proofs/`` is written, and what Why3 finds of
each theory is judged: ``why3 replay`` itself is content with goals that nobody tried, and counts goals that are gone.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from proofs.checking import gappa, mutants
from proofs.checking.ending import ended
from proofs.checking.provers import ProofError, configure
from proofs.checking.recorded import require_unchanged, require_whole
from proofs.checking.sessions import AT_ONCE, Session, copied
from proofs.checking.trusted import require_listed

PROOFS = Path(__file__).parents[1]


def replay_theory(theory: Path, configuration: Path) -> str:
    """Replay the session of one theory in a copy, and return how many goals it has, all of them proved.

    Parameters
    ----------
    theory : Path
        The theory's text; its session lies beside it.
    configuration : Path
        Of Why3.

    Raises
    ------
    ProofError
        If the text changed, a goal is not proved or there is no goal at all.
    """
    require_unchanged(theory)
    with tempfile.TemporaryDirectory() as folder:
        session = Session(copied(theory, Path(folder)), configuration)
        session.read()
        session.prune()
        session.run()
    theorems = session.theorems()
    unproved = [theorem.title for theorem in theorems if not theorem.proved]
    if unproved:
        raise ProofError(f"not proved: {', '.join(unproved)}")
    if not theorems:
        raise ProofError(f"{theory.name} has no goal at all; a theory without one proves nothing")
    return f"{len(theorems)} goals"


def replay_gappa(script: Path) -> str:
    """Let Gappa prove one script, and return that it did.

    Raises
    ------
    ProofError
        If it does not.
    """
    if not gappa.proves(script):
        raise ProofError(f"not proved: {script.name}")
    return "by Gappa"


def main(arguments: Sequence[str] | None = None) -> int:
    """Replay the theories named, or everything; return 1 if anything fails."""
    parser = argparse.ArgumentParser(prog="python -m proofs.checking.replay", description=__doc__)
    parser.add_argument("theories", nargs="*", metavar="THEORY", help="names of theories; none: everything")
    given = parser.parse_args(arguments)

    def replay_all() -> int:
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            failures = replay(PROOFS, Path(folder), given.theories)
        seconds = time.perf_counter() - began
        print(f"{failures or 'no'} failure{'' if failures == 1 else 's'}, {seconds:.0f} s")
        return 1 if failures else 0

    return ended(replay_all)


def replay(proofs: Path, folder: Path, names: Sequence[str] = ()) -> int:
    """Replay the theories named, or every theory, script and false variant; return how many fail.

    Parameters
    ----------
    proofs : Path
        Where `theories`, `gappa`, `mutants` and the README with the list of what is trusted are.
    folder : Path
        Where Why3's configuration is written.
    names : sequence of str, optional
        Of theories.

    Raises
    ------
    ProofError
        If Why3 or a prover is not there, no theory has the name, the list of what is trusted is not right, or, where
        everything is replayed, `theories` holds more or less than what is recorded.
    """
    theories = {theory.stem: theory for theory in sorted((proofs / "theories").glob("*.mlw"))}
    missing = [name for name in names if name not in theories]
    if missing:
        raise ProofError(f"no theory is called {', '.join(missing)}; there are: {', '.join(theories)}")
    configuration = configure(folder)
    require_listed(proofs)
    if not names:
        require_whole(proofs / "theories")
    chosen = [theories[name] for name in names or theories]
    failures = _failures(chosen, lambda theory: replay_theory(theory, configuration))
    if names:
        return failures
    failures += _failures(sorted((proofs / "gappa").glob("*.gappa")), replay_gappa)
    return failures + mutants.check_all(proofs, configuration)


def _failures(subjects: Sequence[Path], prove: Callable[[Path], str]) -> int:
    """Prove each theory or script, print a line of what became of it, and return how many failed."""

    def told(subject: Path) -> tuple[bool, str]:
        began = time.perf_counter()
        try:
            what = prove(subject)
        except ProofError as error:
            return False, f"FAILED  {subject.stem:28} {error}"
        return True, f"proved  {subject.stem:28} {what:>12} {time.perf_counter() - began:6.1f} s"

    failures = 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for proved, line in pool.map(told, subjects):
            failures += not proved
            print(line, flush=True)
    return failures


if __name__ == "__main__":
    sys.exit(main())
