"""What the theorems say: the statement of each, and a digest of it and of every definition that it may rest on.

A proof is worth what its theorem says. ``docs/traceability.md`` holds the statements, so that a contract that somebody
weakened shows there as a changed line, and a weakened definition as a changed digest. Only texts are read.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from proofs.checking.provers import ProofError
from proofs.checking.sessions import needed
from proofs.checking.trusted import modules

# What `vinculum spec --trace` prints from; it keeps the digest of each theorem that is linked to a clause.
TRACED = Path(__file__).parents[2] / "src" / "vinculum" / "spec" / "traceability.json"

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
_WORD = re.compile(r"[A-Za-z_][\w']*")
_OPENS, _CLOSES = "([{", ")]}"


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
    def names(self) -> set[str]:
        """Every name that it defines."""
        fields = _NAMES_OF_TYPE.findall(self.text) if self.word == "type" else []
        return {self.name, *(name.strip() for name in fields)} - {""}


@dataclass(frozen=True)
class Statement:
    """A theorem's words, and the SHA-256 of these and of every definition of ours that they may rest on."""

    text: str
    digest: str


@cache
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
            if head["word"] not in ("clone", "use", "meta") and (hidden := _HIDDEN.search(rest)):
                where = f"{theory.stem}.{module}.{head['name']}"
                raise ProofError(
                    f"{where}: {_short(rest[hidden.start() :])} is declared where it is hidden; indent it by two spaces"
                )
            found.append(Declaration(module, head["word"], head["name"], text_of_it))
    return tuple(found)


def _short(text: str) -> str:
    return repr(" ".join(text.split())[:40])


def statement(proofs: Path, title: str) -> Statement:
    """Return what a theorem says.

    Parameters
    ----------
    proofs : Path
        Where `theories` and `gappa` are.
    title : str
        ``"file.Module.name"``, or ``"gappa.name"`` of a script.

    Raises
    ------
    ProofError
        If there is no such theorem.
    """
    file, _, name = title.partition(".")
    if file == "gappa":
        return _of_script(proofs / "gappa" / f"{name}.gappa")
    module, _, own_name = name.partition(".")
    theory = proofs / "theories" / f"{file}.mlw"
    stated = [each for each in declarations(theory) if (each.module, each.name) == (module, own_name)]
    stated = [each for each in stated if each.word in ("let", "lemma", "goal")]
    if len(stated) != 1:
        raise ProofError(f"{title} is stated {len(stated)} times in {theory.name}; once is right")
    text = stated[0].statement
    lines = sorted({" ".join(each.split()) for each in _rests_on(theory, module, text)})
    digest = hashlib.sha256("\n".join([" ".join(text.split()), *lines]).encode()).hexdigest()
    return Statement(re.sub(r"^  ", "", text, flags=re.MULTILINE), digest)


def _of_script(script: Path) -> Statement:
    text = "\n".join(line.partition("#")[0].rstrip() for line in script.read_text(encoding="utf-8").splitlines())
    stated = text[text.index("{") : text.index("}") + 1]  # braces do not nest
    return Statement(stated, hashlib.sha256(" ".join(text.split()).encode()).hexdigest())


@cache
def _defining(theory: Path) -> dict[str, list[tuple[Path, Declaration]]]:
    """Return every declaration of a theory, and of those that it uses, that gives a name a meaning, by name."""
    found: dict[str, list[tuple[Path, Declaration]]] = {}
    for each in needed(theory):
        for declaration in declarations(each):
            for name in declaration.names if declaration.word not in ("lemma", "goal", "use", "clone", "meta") else ():
                found.setdefault(name.strip("()"), []).append((each, declaration))
    return found


def _rests_on(theory: Path, module: str, text: str) -> Iterable[str]:
    """Return the definitions whose names a text mentions, and whose names these mention, and so on.

    A name may have several in different modules; all of them count. So does what a module uses and clones.
    """
    defining = _defining(theory)
    places = {(theory, module)}
    texts = {text}
    waiting = [text, *_joined(theory, module)]
    while waiting:
        each = waiting.pop()
        texts.add(each)
        for name in set(_WORD.findall(each)):
            for file, declaration in defining.get(name, ()):
                # What a lemma function or a program does is none of the statement's business.
                is_logical = re.match(r"let\s+(rec\s+|ghost\s+)*(function|predicate|constant)", declaration.text)
                meaning = declaration.text if declaration.word != "let" or is_logical else ""
                if meaning not in texts:
                    waiting.append(meaning)
                if meaning and (file, declaration.module) not in places:
                    places.add((file, declaration.module))
                    waiting += [joined for joined in _joined(file, declaration.module) if joined not in texts]
    return texts - {text, ""}


def _joined(theory: Path, module: str) -> list[str]:
    return [
        each.text for each in declarations(theory) if each.module == module and each.word in ("use", "clone", "meta")
    ]


def require_traced(proofs: Path, traced: Path = TRACED) -> None:
    """Check that the theorems which are linked to clauses say what ``docs/traceability.md`` has them say.

    Raises
    ------
    ProofError
        Naming those that do not.
    """
    stored = json.loads(traced.read_text(encoding="utf-8"))["theorems"]
    changed = [name for name in sorted(stored) if statement(proofs, name).digest != stored[name].get("statement")]
    if changed:
        raise ProofError(
            f"these theorems, or definitions that they rest on, do not say what docs/traceability.md has them say: "
            f"{', '.join(changed[:3])}{f' and {len(changed) - 3} more' if len(changed) > 3 else ''}; if they should, "
            "`make traceability` writes it anew"
        )
