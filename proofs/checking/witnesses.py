"""Computes that a false variant is false: its statement is evaluated at operands that refute it, its witness.

Why3's own evaluation does it, ``compute_in_goal``, by the definitions of the changed theory. It calls no prover, and it
uses no lemma, so that what the variant makes false elsewhere cannot help. It computes with integers, with lists, with
sums and products of reals, and with quantifiers between bounds. It does not divide reals, does not know machine words
and floats, and does not find what exists; nor is there a value for what a program does to memory.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree.ElementTree import SubElement

from proofs.checking.provers import ProofError
from proofs.checking.sessions import Session, copied, is_proved
from proofs.checking.statements import Declaration, declarations
from proofs.checking.trusted import without_comments

_PARAMETERS = re.compile(r"\((?:ghost\s+)?(?P<names>[\w'\s]+):(?P<type>[^()]*(?:\([^()]*\)[^()]*)*)\)")
_CONTRACT = re.compile(r"\b(requires|ensures)\s*\{")
_FOR_ALL = re.compile(r"[^:]*:\s*forall\s+(?P<groups>[^.]*)\.(?P<body>.*)", re.DOTALL)
_VALUE = re.compile(r"(?P<name>[\w']+)\s*=\s*(?P<value>[^,]+)")
_GOAL = "witness"


def refutes(theory: Path, text: str, theorem: str, witness: str, configuration: Path) -> bool:
    """Tell whether a witness refutes a variant of a theorem.

    Parameters
    ----------
    theory : Path
        The true theory's file.
    text : str
        The theory with the variant in it.
    theorem : str
        Module and name.
    witness : str
        Gives a value to every variable of the statement, ``"a = -7, b = 2"``, and to constants that the module leaves
        open, if it is about them.
    configuration : Path
        Of Why3.

    Raises
    ------
    ProofError
        If the theorem is not there, or a variable has no value.
    """
    values = {match["name"]: match["value"].strip() for match in _VALUE.finditer(witness)}
    module, _, name = theorem.partition(".")
    with tempfile.TemporaryDirectory() as folder:
        path = copied(theory, Path(folder), stored=False)
        path.write_text(without_comments(text), encoding="utf-8")
        declared = [each for each in declarations(path) if each.module == module]
        stated = next((each for each in declared if each.name == name), None)
        if stated is None:
            raise ProofError(f"{theory.name} has no theorem {theorem}")
        before = declared[: declared.index(stated)]
        constants = {each.name: each.text for each in before if each.word == "constant" and "=" not in each.text}
        constants = {name: constants[name] for name in constants if name in values}
        axioms = [each.text for each in before if each.word == "axiom" and constants]
        goal = f"  goal {_GOAL}: {_refutation(stated, axioms, values, set(constants))}\n"
        changed = _ending_with(goal, path.read_text(encoding="utf-8"), stated)
        for constant, declaration in constants.items():
            changed = changed.replace(declaration, f"{declaration} = {values[constant]}", 1)
        for axiom in axioms:  # Why3 allows none about what is defined
            changed = changed.replace(axiom, axiom.replace("axiom", "lemma", 1), 1)
        path.write_text(changed, encoding="utf-8")
        session = Session(path, configuration)
        parent = SubElement(session.file, "theory", name=module)
        SubElement(SubElement(parent, "goal", name=_GOAL), "transf", name="compute_in_goal")
        session.run()
        return any(is_proved(goal) for of, goal in session.goals() if (of, goal.get("name")) == (module, _GOAL))


def _refutation(stated: Declaration, axioms: Sequence[str], values: Mapping[str, str], constants: set[str]) -> str:
    """Return, as a formula, that axioms hold and what is stated does not."""
    variables, formula = statement_of(stated)
    if values.keys() != variables.keys() | constants:
        raise ProofError(f"a witness of {stated.name} has values of {', '.join(variables)}, not of {', '.join(values)}")
    bound = "".join(f"let {name} = ({values[name]}: {of}) in " for name, of in variables.items())
    return " /\\ ".join([*(f"({axiom.partition(':')[2]})" for axiom in axioms), f"({bound}not ({formula}))"])


def statement_of(stated: Declaration) -> tuple[dict[str, str], str]:
    """Return the variables of a statement with their types, and the formula that it says to hold of them.

    Raises
    ------
    ProofError
        If it is about what a program gives.
    """
    text = stated.statement
    if stated.word != "let":
        match = _FOR_ALL.fullmatch(text)
        if match is None:
            return {}, text.partition(":")[2]
        return _variables([f"({group})" for group in match["groups"].split(",")]), match["body"]
    contract = _CONTRACT.search(text)
    parts: dict[str, list[str]] = {"requires": [], "ensures": []}
    for found in _CONTRACT.finditer(text):
        depth, end = 1, found.end()
        while depth:
            depth += (text[end] == "{") - (text[end] == "}")
            end += 1
        parts[found[1]].append(f"({text[found.end() : end - 1]})")
    if re.search(r"\b(result|old)\b", " ".join(parts["ensures"])):
        raise ProofError(f"{stated.name} is about what a program gives; a witness is of a formula")
    needed, given = (" /\\ ".join(parts[kind] or ["true"]) for kind in ("requires", "ensures"))
    return _variables([text[: contract.start() if contract else len(text)]]), f"({needed}) -> ({given})"


def _variables(groups: Sequence[str]) -> dict[str, str]:
    matches = [match for group in groups for match in _PARAMETERS.finditer(group)]
    return {name: match["type"].strip() for match in matches for name in match["names"].split() if name != "_"}


def _ending_with(goal: str, text: str, stated: Declaration) -> str:
    """Return a theory's text up to a declaration, of which nothing is known there, and a goal instead of the rest."""
    begin = re.search(rf"\b(?:module|theory)\s+{stated.module}\b", text)
    place = text.index(f"\n  {stated.text.splitlines()[0]}", begin.end() if begin else 0) + 1
    return f"{text[:place]}  use list.List\n{goal}end\n"  # in which witnesses are written
