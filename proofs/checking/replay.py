"""Replays the proofs: ``python -m proofs.checking.replay [THEORY ...]``, exit code 0 if all hold.

The stored sessions are copied and replayed there, so that nothing under ``proofs/`` is written, and what Why3 finds of
each theory is judged: ``why3 replay`` itself is content with goals that nobody tried, and counts goals that are gone.
What ``recorded.txt`` shows to be unchanged since everything was replayed is not replayed again, unless ``--all`` asks;
that tries the false variants, too, and to prove ``false`` of the theories.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from proofs.checking import contradictions, gappa, mutants, recorded, statements
from proofs.checking.ending import Arguments, ended
from proofs.checking.jobs import Job, failures
from proofs.checking.provers import ProofError, configure
from proofs.checking.sessions import Session, Theorem, copied, stored_seconds
from proofs.checking.trusted import require_listed, require_read

PROOFS = Path(__file__).parents[1]
_TO_RECORD = "`make proofs-all RECORD=--record` replays everything and records it"


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
        If a goal is not proved or there is no goal at all.
    """
    with tempfile.TemporaryDirectory() as folder:
        session = Session(copied(theory, Path(folder)), configuration)
        session.read()
        session.prune()
        session.run()
    return _all_proved(theory, session.theorems())


def read_theory(theory: Path) -> str:
    """Return how many goals a stored session has, each with what proved it; nothing is replayed.

    Raises
    ------
    ProofError
        If the session cannot be read or lacks the proof of a goal, or there is no goal at all.
    """
    session = Session(theory, Path())
    session.read()
    return _all_proved(theory, session.theorems())


def _all_proved(theory: Path, theorems: Sequence[Theorem]) -> str:
    unproved = [theorem.title for theorem in theorems if not (theorem.proved and theorem.provers)]
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


def replay_named(proofs: Path, configuration: Path, names: Sequence[str]) -> int:
    """Replay the theories named, and return how many fail.

    Raises
    ------
    ProofError
        If no theory has the name, or the list of what is trusted is not right.
    """
    theories = {theory.stem: theory for theory in _theories(proofs)}
    missing = [name for name in names if name not in theories]
    if missing:
        raise ProofError(f"no theory is called {', '.join(missing)}; there are: {', '.join(theories)}")
    require_listed(proofs)
    return failures(_theory_jobs([theories[name] for name in names], configuration))


def replay(proofs: Path, configuration: Path, *, everything: bool = False, record: bool = False) -> int:
    """Replay every script, and every theory or those only that changed; return how many fail.

    It counts as a failure, too, if `recorded.txt` is not up to date. Scripts are replayed in any case: no proof of
    them is stored.

    Parameters
    ----------
    proofs : Path
        Where `theories`, `gappa`, `mutants`, `recorded.txt` and the README with the list of what is trusted are.
    configuration : Path
        Of Why3.
    everything : bool, optional
        Whether what did not change is replayed too, every false variant is tried, and to prove ``false``.
    record : bool, optional
        Whether what was replayed is recorded, provided that nothing failed; only together with `everything`.

    Raises
    ------
    ProofError
        If the list of what is trusted is not right, or `theories` holds anything but theories and their sessions.
    """
    require_listed(proofs)
    recorded.require_whole(proofs / "theories")
    digests = recorded.digests(proofs)
    changes = recorded.changes(proofs, digests)

    def unchanged(theory: Path) -> bool:
        return not any(name.startswith(recorded.rests_on(theory)) for name in changes)

    theories, variants = _theories(proofs), list(mutants.mutants(proofs))
    read = [] if everything else [theory for theory in theories if unchanged(theory)]
    jobs = _theory_jobs([theory for theory in theories if theory not in read], configuration)
    jobs += [Job("scripts", partial(_told, script, replay_gappa)) for script in sorted(proofs.glob("gappa/*.gappa"))]
    if everything:
        jobs += mutants.jobs(variants, configuration)
        jobs += [
            Job("contradictions", partial(_told, each, _tried(configuration)))
            for each in contradictions.unused(theories)
        ]
    if changes:
        print(f"changed since everything was replayed: {_some(changes)}")
    if read:
        print(f"known by digest, not replayed: theories {len(read)}; `make proofs-all` replays them", flush=True)
    if not everything:
        print(f"not tried: false variants {len(variants)}; `make proofs-all` tries them", flush=True)
    failed = _misread(read, [] if everything else variants) + failures(jobs)
    if record:
        return failed + _recorded(proofs, digests, failed)
    if changes:
        print(f"FAILED  {recorded.FILE} is not up to date: {_some(changes)}; {_TO_RECORD}")
    return failed + bool(changes)


def _theories(proofs: Path) -> list[Path]:
    return sorted(proofs.glob("theories/*.mlw"))


def _theory_jobs(theories: Sequence[Path], configuration: Path) -> list[Job]:
    """Return the work of replaying each theory, the longest first."""
    seconds = {theory: sum(stored_seconds([theory]).values()) for theory in theories}
    ordered = sorted(theories, key=seconds.__getitem__, reverse=True)
    return [Job("theories", partial(_told, each, lambda it: replay_theory(it, configuration))) for each in ordered]


def _tried(configuration: Path) -> Callable[[Path], str]:
    return lambda theory: contradictions.require_none(theory, configuration)


def _told(subject: Path, prove: Callable[[Path], str]) -> tuple[bool, str]:
    """Prove a theory or script, and return whether it holds and a line of what became of it."""
    began = time.perf_counter()
    try:
        what = prove(subject)
    except ProofError as error:
        return False, f"FAILED  {subject.stem:28} {error}"
    return True, f"proved  {subject.stem:28} {what:>12} {time.perf_counter() - began:6.1f} s"


def _misread(theories: Sequence[Path], variants: Sequence[mutants.Mutant]) -> int:
    """Look at what is not replayed, print what is wrong with it, and return how many are not as they must be."""
    lines = [_told(theory, read_theory) for theory in theories]
    lines += [mutants.read(mutant) for mutant in variants]
    wrong = [line for well, line in lines if not well]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return len(wrong)


def _recorded(proofs: Path, digests: dict[str, str], failed: int) -> int:
    """Record what was replayed if all of it holds, and is what is there now; return 1 if not."""
    if failed:
        print("nothing is recorded, since not everything holds")
        return 0  # those count already
    if recorded.digests(proofs) != digests:
        print("FAILED  nothing is recorded: files changed during the replay")
        return 1
    recorded.record(proofs, digests)
    return 0


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def main(arguments: Sequence[str] | None = None) -> int:
    """Replay the theories named, or what changed, or everything; return 1 if anything fails."""
    parser = Arguments(prog="python -m proofs.checking.replay", description=__doc__)
    parser.add_argument(
        "theories", nargs="*", metavar="THEORY", help="names of theories; none: everything that changed"
    )
    parser.add_argument("--all", action="store_true", help="replay what did not change, too")
    parser.add_argument("--record", action="store_true", help=f"write {recorded.FILE} if all of that holds")
    given = parser.parse_args(arguments)
    if given.all and given.theories:
        parser.error("--all replays everything: name no theory beside it")
    if given.record and not given.all:
        parser.error("--record needs --all: only what was replayed is recorded")

    def replay_all() -> int:
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            configuration = configure(Path(folder))
            if given.theories:
                failed = replay_named(PROOFS, configuration, given.theories)
            else:
                require_read(PROOFS)
                statements.require_traced(PROOFS)
                failed = replay(PROOFS, configuration, everything=given.all, record=given.record)
        seconds = time.perf_counter() - began
        print(f"{failed or 'no'} failure{'' if failed == 1 else 's'}, {seconds:.0f} s")
        return 1 if failed else 0

    return ended(replay_all)


if __name__ == "__main__":
    sys.exit(main())
