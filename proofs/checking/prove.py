"""Searches proofs: ``python -m proofs.checking.prove THEORY ...`` makes or completes the sessions of theories.

A plan is a row of steps. ``z3:5`` lets a prover try every open goal for 5 seconds, ``z3:5+cvc5:5`` two of them side by
side; any other name is one of Why3's transformations, its arguments after colons: ``split_vc``, ``destruct_term:s``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

from proofs.checking.ending import Arguments, ended
from proofs.checking.provers import PROVERS, configure
from proofs.checking.sessions import Session, drop_failures, is_proved, open_leaves

THEORIES = Path(__file__).parents[1] / "theories"
PLAN = (
    "z3:1 cvc5-nofp:1 cvc4-nofp:1 split_vc z3:1 cvc5-nofp:1 cvc4-nofp:1 cvc5:2 z3-nofp:2 "
    "z3:5 cvc5-nofp:5 cvc4-nofp:5 cvc5:5 z3-nofp:5"
)
Tell = Callable[[str], None]


def search(session: Session, plan: str, tell: Tell = lambda line: None) -> None:
    """Try the steps of a plan on what is open in a session, and keep what proves a goal.

    Parameters
    ----------
    session : Session
        Of a theory that type-checks; its goals are filled in.
    plan : str
        The steps.
    tell : callable, optional
        Is told each step and how many goals it leaves open.
    """
    session.prune()
    session.run()
    goals = [goal for _, goal in session.goals()]
    for goal in goals:
        drop_failures(goal)
    for step in plan.split():
        left = [leaf for _, goal in session.goals() for leaf in open_leaves(goal)]
        if not left:
            return
        attempt(session, left, step)
        still = sum(len(open_leaves(goal)) for _, goal in session.goals())
        tell(f"{step:12} {len(left):4} tried, {still} open in the theory")


def attempt(session: Session, goals: Sequence[Element], step: str) -> None:
    """Try one step of a plan on goals of a session, or parts of them, and keep what proves one."""
    for goal in goals:
        for name, *arguments in (each.split(":") for each in step.split("+")):
            if name in PROVERS:
                SubElement(SubElement(goal, "proof", prover=name, timelimit=(*arguments, "1")[0]), "undone")
            else:
                SubElement(goal, "transf", {"name": name} | {f"arg{i}": word for i, word in enumerate(arguments, 1)})
    session.run()
    for _, goal in session.goals():
        drop_failures(goal)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prove the theories named, or all; return 1 if a goal stays open."""
    parser = Arguments(prog="python -m proofs.checking.prove", description=__doc__)
    parser.add_argument("theories", nargs="*", metavar="THEORY", help="names of theories; none: all")
    parser.add_argument("--plan", default=PLAN, help=f"the steps; provers: {', '.join(PROVERS)}; default: {PLAN}")
    parser.add_argument("--fresh", action="store_true", help="forget the stored session first")
    given = parser.parse_args(arguments)
    known = {path.stem: path for path in sorted(THEORIES.glob("*.mlw"))}
    unknown = [name for name in given.theories if name not in known]
    if unknown:
        parser.error(f"no theory is called {unknown[0]!r}; there are: {', '.join(known)}")

    def prove_all() -> int:
        with tempfile.TemporaryDirectory() as folder:
            configuration = configure(Path(folder))
            proved = [_prove(known[name], configuration, given) for name in given.theories or known]
        return 0 if all(proved) else 1

    return ended(prove_all)


def _prove(theory: Path, configuration: Path, given: argparse.Namespace) -> bool:
    began = time.perf_counter()
    session = Session(theory, configuration)
    if given.fresh:
        session.erase()
    elif session.path.exists():
        session.read()
    print(theory.stem)
    search(session, given.plan, lambda line: print(f"  {line}", flush=True))
    session.run()
    still = [f"{module}.{goal.get('name')}" for module, goal in session.goals() if not is_proved(goal)]
    for title in still:
        print(f"  OPEN {title}")
    proved = len(list(session.goals())) - len(still)
    print(f"  {proved} goals proved, {len(still)} open, {time.perf_counter() - began:.1f} s")
    return not still


if __name__ == "__main__":
    sys.exit(main())
