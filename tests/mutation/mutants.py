"""Small mistakes in a source: in C++ by patterns, in Python by its syntax tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True)
class Mutant:
    """A source with one change."""

    file: str  # from the root of the repository on
    number: int  # of the line
    line: str
    changed: str  # the changed line; both are stripped
    text: str  # the whole source, changed
    name: str = ""  # a description of the mistake; empty if it is drawn
    function: str = ""  # the outermost Python function that is changed; empty outside of functions

    def __str__(self) -> str:
        place = f"{self.file}:{self.number}: "
        return place + (self.name or f"{self.line}  ->  {self.changed}")


def mutants_of(path: Path, root: Path, lines: Collection[str] = ()) -> list[Mutant]:
    """Return all mutants of a source; with `lines`, at least those of these lines."""
    text, file = path.read_text(encoding="utf-8"), path.relative_to(root).as_posix()
    if path.suffix == ".py":
        return list(_mutants_of_python(file, text, lines))
    return [_by_lines(file, text, text[:start] + new + text[end:]) for start, end, new in _changes_of_cpp(text)]


def replaced(path: Path, root: Path, old: str, new: str) -> Mutant:
    """Return the mutant in which a text, which must occur once, is replaced."""
    text = path.read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise ValueError(f"{path} has {old!r} {text.count(old)} times; give what occurs once")
    return _by_lines(path.relative_to(root).as_posix(), text, text.replace(old, new))


def _by_lines(file: str, text: str, changed: str) -> Mutant:
    before, after = text.splitlines(), changed.splitlines()
    first = next((i for i, (x, y) in enumerate(zip(before, after, strict=False)) if x != y), 0)
    return Mutant(file, first + 1, before[first].strip(), after[first].strip(), changed)


# Operators between spaces, as clang-format writes binary ones; without spaces they belong to templates or pointers.
_OPERATORS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
    "+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "<<": ">>", ">>": "<<", "&": "|", "|": "&", "^": "|",
    "+=": "-=", "-=": "+=", "*=": "+=", "/=": "*=", "|=": "=", "&=": "=",
}  # fmt: skip
_NOT_CODE = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*"
    r"|^ *(?:template|using|namespace|typedef)\b[^\n]*|\bstd::memory_order_\w+",
    re.DOTALL | re.MULTILINE,
)
_SIMPLE = r"[\w.]+(?:\[\w+\])?"
_PATTERNS = (
    (
        re.compile(rf"(?<= )({'|'.join(map(re.escape, sorted(_OPERATORS, key=len, reverse=True)))})(?= )"),
        _OPERATORS.get,
    ),
    (re.compile(r"(?<![\w.'])(?:0x[0-9A-Fa-f]+|\d[\d']*)(?=[uUlL]*\b)(?!\.)"), lambda n: _one_more(n)),
    (re.compile(r"(?<=\dp)-?\d+\b|(?<=[0-9a-f]p)-?\d+\b"), lambda n: str(int(n) + 1)),
    (re.compile(r"\+\+|--"), {"++": "--", "--": "++"}.get),
    (re.compile(r"[!~](?=[\w(])|(?<=[(= ])-(?=\w)"), lambda _: ""),
    (re.compile(r"\b(?:true|false)\b"), {"true": "false", "false": "true"}.get),
    (re.compile(r"(?<=if \()[\w.>-]+(?:\(\))?(?=\))"), lambda condition: f"!{condition}"),
    (re.compile(rf"{_SIMPLE} [-/%] {_SIMPLE}(?![\w(\[])"), lambda pair: " ".join(reversed(pair.split(" ")))),
    (
        re.compile(rf"(?<=[(,] ){_SIMPLE}, {_SIMPLE}(?=\))|(?<=\(){_SIMPLE}, {_SIMPLE}(?=\))"),
        lambda pair: _swapped(pair),
    ),
    (
        re.compile(r"(?<=^)(?<=\n)[ ]+(?!return|else|case|public|private)[\w(*+][^;{}\n]*;(?=$)", re.MULTILINE),
        lambda _: ";",
    ),
)


def _one_more(number: str) -> str:
    return hex(int(number, 16) + 1) if number.startswith("0x") else str(int(number.replace("'", "")) + 1)


def _swapped(pair: str) -> str:
    return ", ".join(reversed(pair.split(", ")))


def _changes_of_cpp(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start, the end and the replacement of each change."""
    code = _NOT_CODE.sub(lambda found: re.sub(r"[^\n]", "\0", found[0]), text)
    for pattern, changed in _PATTERNS:
        for found in pattern.finditer(code):
            new = changed(found[0])
            if new is not None and new != found[0]:
                yield found.start(), found.end(), new


_OF_PYTHON: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip


def _mutants_of_python(file: str, text: str, lines: Collection[str]) -> Iterator[Mutant]:
    """Yield the mutants, written by `ast.unparse`, which is slow, one statement of the module at a time."""
    tree = ast.parse(text)
    skipped = {id(child) for node in ast.walk(tree) for part in _said_not_done(node) for child in ast.walk(part)}
    functions = {id(part): name for name, node in _functions(tree) for part in ast.walk(node)}
    written = [f"{ast.unparse(statement)}\n" for statement in tree.body]
    for place, statement in enumerate(tree.body):
        if lines and not any(line in written[place] for line in lines):
            continue
        before, after = "".join(written[:place]), "".join(written[place + 1 :])
        for node in ast.walk(statement):
            if id(node) in skipped:
                continue
            for parent, name, index, new in _replacements(node):
                held = getattr(parent, name)
                old = held if index is None else held[index]
                _put(parent, name, index, new)
                changed = _by_lines(file, written[place], ast.unparse(statement))
                _put(parent, name, index, old)
                number: int = getattr(old, "lineno", 0) or getattr(node, "lineno", 0)
                text = f"{before}{changed.text}\n{after}"
                yield replace(changed, number=number, text=text, function=functions.get(id(node), ""))


def _put(parent: ast.AST, name: str, index: int | None, new: object) -> None:
    if index is None:
        setattr(parent, name, new)
    else:
        getattr(parent, name)[index] = new


def _functions(scope: ast.Module | ast.ClassDef, within: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Yield the outermost functions, with their qualified names."""
    for node in scope.body:
        if isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{within}{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            yield within + node.name, node


def _said_not_done(node: ast.AST) -> Iterator[ast.AST]:
    """Yield parts without effect in tests: annotations, decorators, class keywords, ``strict=``, and sizes of -1."""
    match node:
        case ast.AnnAssign(annotation=ast.Name("TypeAlias")):
            yield from (node.annotation, node.value or node.annotation)
        case ast.AnnAssign() | ast.arg():
            yield from filter(None, [node.annotation])
        case ast.FunctionDef():
            yield from filter(None, [*node.decorator_list, node.returns])
        case ast.ClassDef():
            yield from (*node.decorator_list, *node.keywords)
        case ast.keyword(arg="strict"):
            yield node.value
        case ast.Call(func=ast.Attribute(attr="reshape")):  # NumPy takes every negative size for -1.
            yield from (size for size in node.args if isinstance(size, ast.UnaryOp))


# Functions whose first two arguments may be swapped, and a cast, which is for type checkers only.
_EITHER_WAY = {
    *("min", "max", "minimum", "maximum", "fmin", "fmax", "equal", "array_equal", "gcd", "logical_and", "logical_or"),
    *("bitwise_and", "bitwise_or", "bitwise_xor", "shares_memory", "may_share_memory", "cast", "plus", "times"),
    *("sum_of", "broadcast", "clip", "rest_on", "tokenize", "_equal"),
}
_Replacement = tuple[ast.AST, str, int | None, ast.AST | object]


def _replacements(node: ast.AST) -> Iterator[_Replacement]:
    """Yield replacements: a node, the name of its attribute, the index if that is a list, and the new value."""
    match node:
        case ast.Compare():
            for index, operator in enumerate(node.ops):
                yield node, "ops", index, _OF_PYTHON[type(operator)]()
        case ast.BinOp() | ast.BoolOp() | ast.AugAssign() if type(node.op) in _OF_PYTHON:
            yield node, "op", None, _OF_PYTHON[type(node.op)]()
            if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Sub, ast.FloorDiv, ast.LShift)):
                yield node, "left", None, node.right
        case ast.UnaryOp(op=ast.Not()):
            yield node, "op", None, ast.UAdd()
        case ast.IfExp():
            yield node, "test", None, ast.UnaryOp(ast.Not(), node.test)
        case ast.Constant(value=bool()):
            yield node, "value", None, not node.value
        case ast.Constant(value=int(value)):
            yield node, "value", None, value + 1
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in _EITHER_WAY:
            return
        case ast.Call(args=[first, second, *_]) if ast.dump(first) != ast.dump(second):
            yield node, "args", None, [second, first, *node.args[2:]]
        case ast.FunctionDef() | ast.If() | ast.For() | ast.With() | ast.Try():
            for index, statement in enumerate(node.body):
                is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
                if isinstance(statement, (ast.Expr, ast.Assign, ast.AugAssign, ast.Raise)) and not is_text:
                    yield node, "body", index, ast.Pass()
        case _:
            return
