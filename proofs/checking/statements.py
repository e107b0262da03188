"""What the theorems say: the statement of each, and a digest of it and of every definition that it may rest on.

A proof is worth what its theorem says. ``proofs/statements.txt`` holds the statements, so that a contract that somebody
weakened shows there as a changed line, and a weakened definition as a changed digest. Only texts are read.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from proofs.checking.provers import ProofError
from proofs.checking.sessions import needed
from proofs.checking.trusted import modules

# The digest of each theorem that is linked to a clause, of the contract of each function that is extracted, and of each
# axiom and contract that is taken on trust.
TRACED = "statements.txt"

_DECLARES = "axiom clone coinductive constant exception function goal inductive lemma let meta predicate type use val"
_BEGINS = re.compile(rf"^  (?=(?:{_DECLARES.replace(' ', '|')})\b)", re.MULTILINE)
_HEAD = re.compile(
    r"(?P<word>\w+)(?:\s+(?:rec|ghost|function|predicate|constant|lemma|partial))*\s+(?:\[@[^\]]*\]\s*)*"
    r"(?P<name>\([^)\s]+\)|[\w']+)"
)
# What would declare something where nobody looks for it; a `let lemma` in a proof is a part of that.
_HIDDEN = re.compile(
    rf"\b(?:{_DECLARES.replace(' let', '').replace(' lemma', '').replace(' ', '|')}|module|theory|scope|import)\b"
    r"|(?<!let )(?<!ghost )(?<!rec )\blemma\b"
)
_NAMES_OF_TYPE = re.compile(r"[\w']+(?=\s*:)|(?<=\|)\s*[\w']+")
_WITH = re.compile(r"\bwith\s+([\w']+)")  # what is defined together
_WORD = re.compile(r"[A-Za-z_][\w']*")
_OPENS, _CLOSES = "([{", ")]}"
_JOINS = ("use", "clone", "meta")
_TRUSTED = ("axiom", "val")


@dataclass(frozen=True)
class Declaration:
    """A declaration of a module: its first word, ``"let"``, its name, if it has one, and its text without comments."""

    module: str
    word: str
    name: str
    text: str

    @property
    def statement(self) -> str:
        """What is stated: all of it, but without what a program does, or how a lemma is proved."""
        depth = 0
        for place, char in enumerate(self.text if self.word == "let" else ""):
            depth += (char in _OPENS) - (char in _CLOSES)
            if not depth and char == "=":
                return self.text[:place].rstrip()
        return self.text

    @property
    def is_program(self) -> bool:
        """Whether it is a function that computes, and not one of logic or a lemma."""
        return (
            self.word == "let"
            and re.match(r"let\s+(rec\s+)?(lemma|ghost|function|predicate|constant)\b", self.text) is None
        )

    @property
    def defines(self) -> set[str]:
        """Every name to which it gives a meaning that statements may rest on."""
        is_lemma = re.match(r"let\s+(rec\s+|ghost\s+)*lemma\b", self.text) is not None
        if self.is_program or is_lemma or self.word in ("lemma", "goal", *_JOINS):
            return set()
        fields = _NAMES_OF_TYPE.findall(self.text) if self.word == "type" else []
        return {self.name, *(name.strip() for name in fields), *_WITH.findall(self.text)}


def declarations(theory: Path) -> tuple[Declaration, ...]:
    """Return what a theory declares, in its order.

    Raises
    ------
    ProofError
        If something is declared anywhere but at the beginning of a line that is indented by two spaces, where it would
        pass for a part of what stands before it.
    """
    found = []
    for module, text in modules(theory).items():
        outside, *parts = _BEGINS.split("\n".join(line.rstrip() for line in text.splitlines()))
        if module != "Top":
            outside = outside.replace(module, "", 1).replace("module", "", 1).replace("theory", "", 1)
        if outside.strip():
            raise ProofError(f"{theory.stem}.{module}: {_short(outside)} stands outside of the declarations")
        for part in parts:
            text_of_it = re.sub(r"\n\s*(?=\n)", "", re.sub(r"\nend\s*\Z", "", part)).rstrip()
            head = _HEAD.match(text_of_it)
            assert head is not None  # each begins with a word
            rest = text_of_it[head.end() :]
            if head["word"] not in _JOINS and (hidden := _HIDDEN.search(rest)):
                where = f"{theory.stem}.{module}.{head['name']}"
                raise ProofError(
                    f"{where}: {_short(rest[hidden.start() :])} is declared where it is hidden; indent it by two spaces"
                )
            found.append(Declaration(module, head["word"], head["name"], text_of_it))
    return tuple(found)


def _short(text: str) -> str:
    return repr(" ".join(text.split())[:40])


class Statements:
    """What the theorems of a folder say, as its files are when they are first asked for.

    Parameters
    ----------
    proofs : Path
        Where `theories` and `gappa` are.
    """

    def __init__(self, proofs: Path) -> None:
        self._proofs = proofs
        self._declarations = cache(declarations)
        self._defining = cache(self._definitions)

    def words(self, title: str) -> str:
        """Return what a theorem says: ``"file.Module.name"``, or ``"gappa.name"`` of a script.

        Raises
        ------
        ProofError
            If there is no such theorem.
        """
        _, module, text = self._stated(title)
        return text if module else text[text.index("{") : text.index("}") + 1]  # braces do not nest

    def digest(self, title: str) -> str:
        """Return the SHA-256 of a theorem's words and of every definition of ours that they may rest on.

        Raises
        ------
        ProofError
            If there is no such theorem.
        """
        file, module, text = self._stated(title)
        rests_on = self._rests_on(self._theory(file), module, text) if module else ()
        lines = [" ".join(text.split()), *sorted({" ".join(each.split()) for each in rests_on})]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    def _stated(self, title: str) -> tuple[str, str, str]:
        """Return file and module of a theorem and what it states, or of a script no module and all of it."""
        file, _, name = title.partition(".")
        if file == "gappa":
            lines = (self._proofs / "gappa" / f"{name}.gappa").read_text(encoding="utf-8").splitlines()
            return file, "", "\n".join(line.partition("#")[0].rstrip() for line in lines)
        module, _, own_name = name.partition(".")
        declared = [each for each in self._declarations(self._theory(file)) if each.module == module]
        stated = [e for e in declared if e.name == own_name and e.word in ("let", "lemma", "goal", *_TRUSTED)]
        if len(stated) != 1:
            raise ProofError(f"{title} is stated {len(stated)} times in {file}.mlw; once is right")
        return file, module, stated[0].statement

    def programs(self, module: str) -> list[str]:
        """Return the functions that a module, ``"theory.Module"``, has extracted; the contract of each is a theorem."""
        file, _, own_name = module.partition(".")
        declared = self._declarations(self._theory(file))
        return [f"{module}.{each.name}" for each in declared if each.module == own_name and each.is_program]

    def trusted(self) -> list[str]:
        """Return the axioms and the contracts without a body, which are believed, and must not come to say more."""
        theories = sorted((self._proofs / "theories").glob("*.mlw"))
        declared = [(theory, each) for theory in theories for each in self._declarations(theory)]
        return [f"{theory.stem}.{each.module}.{each.name}" for theory, each in declared if each.word in _TRUSTED]

    def _theory(self, name: str) -> Path:
        return self._proofs / "theories" / f"{name}.mlw"

    def _definitions(self, theory: Path) -> dict[str, list[tuple[Path, Declaration]]]:
        """Return the declarations of a theory, and of those that it uses, that give a name a meaning, by name."""
        found: dict[str, list[tuple[Path, Declaration]]] = {}
        for each in needed(theory):
            for declaration in self._declarations(each):
                for name in declaration.defines:
                    found.setdefault(name, []).append((each, declaration))
        return found

    def _rests_on(self, theory: Path, module: str, text: str) -> set[str]:
        """Return the definitions whose names a text mentions, and whose names these mention, and so on.

        A name may have several in different modules; all of them count. So does what a module uses and clones, and the
        operators that it defines.
        """
        defining = self._defining(theory)
        places = {(theory, module)}
        texts: set[str] = set()
        waiting = [text, *self._joined(theory, module)]
        while waiting:
            each = waiting.pop()
            if each in texts:
                continue
            texts.add(each)
            for name in set(_WORD.findall(each)):
                for file, declaration in defining.get(name, ()):
                    waiting.append(declaration.text)
                    if (file, declaration.module) not in places:
                        places.add((file, declaration.module))
                        waiting += self._joined(file, declaration.module)
        return texts - {text}

    def _joined(self, theory: Path, module: str) -> list[str]:
        declared = self._declarations(theory)
        joined = [each for each in declared if each.module == module]
        return [each.text for each in joined if each.word in _JOINS or each.name.startswith("(")]


def as_text(digests: Mapping[str, str]) -> str:
    """Return the text of the file that keeps the digests."""
    return "".join(f"{digest}  {name}\n" for name, digest in digests.items())


def require_traced(proofs: Path) -> None:
    """Check that the theorems that matter say what ``proofs/statements.txt`` has them say.

    Raises
    ------
    ProofError
        Naming those that do not.
    """
    lines = (proofs / TRACED).read_text(encoding="utf-8").splitlines()
    statements = Statements(proofs)
    kept = (line.partition("  ") for line in lines)
    changed = [name for digest, _, name in kept if statements.digest(name) != digest]
    if changed:
        raise ProofError(
            "these theorems, or definitions that they rest on, do not say what proofs/statements.txt has them say: "
            f"{', '.join(changed[:3])}{f' and {len(changed) - 3} more' if len(changed) > 3 else ''}; if they should, "
            "`make traceability` writes it anew"
        )
