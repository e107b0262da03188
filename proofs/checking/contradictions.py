"""Tries to prove ``false`` of the theories: if a prover does, they contradict each other, and prove anything.

What a theory uses is tried together with it, so that only those that none uses need be: each module is in one at least.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from xml.etree.ElementTree import SubElement

from proofs.checking.provers import ProofError
from proofs.checking.sessions import Session, copied, is_proved, needed, was_made
from proofs.checking.trusted import modules

# Each is given so many seconds of processor time. The two choose what to instantiate in ways of their own.
PROVERS = ("z3", "cvc5-nofp")
SECONDS = 3
_MODULE = "Contradiction"


def unused(theories: Sequence[Path]) -> list[Path]:
    """Return the theories that no other one uses."""
    used = {each for theory in theories for each in needed(theory)[1:]}
    return [theory for theory in theories if theory not in used]


def require_none(theory: Path, configuration: Path) -> str:
    """Try to prove ``false`` from all that a theory and those that it uses state together; return what was tried.

    Parameters
    ----------
    theory : Path
        The theory's text.
    configuration : Path
        Of Why3.

    Raises
    ------
    ProofError
        If a prover does, or was not asked.
    """
    names = [f"{each.stem}.{name}" for each in needed(theory) for name in modules(each) if name != "Top"]
    with tempfile.TemporaryDirectory() as folder:
        path = copied(theory, Path(folder), stored=False).with_name("contradiction.mlw")
        used = "".join(f"  use {name} as M{number}\n" for number, name in enumerate(names))
        path.write_text(f"module {_MODULE}\n{used}  goal contradiction: false\nend\n", encoding="utf-8")
        session = Session(path, configuration)
        goal = SubElement(SubElement(session.file, "theory", name=_MODULE), "goal", name="contradiction")
        for prover in PROVERS:
            SubElement(SubElement(goal, "proof", prover=prover, timelimit=str(SECONDS)), "undone")
        session.run()
        found = [goal for _, goal in session.goals()]
    if [sum(map(was_made, goal.iter("proof"))) for goal in found] != [len(PROVERS)]:
        raise ProofError(f"not every prover tried to prove false of {theory.name}")
    if any(map(is_proved, found)):
        raise ProofError(f"{theory.name}, with what it uses, contradicts itself: false is proved")
    return f"no false, {len(names)} modules"
