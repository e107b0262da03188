"""Read the functions over reals that a theory defines, and evaluate them in rationals."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from operator import add, mul, sub, truediv
from pathlib import Path
from typing import Any

THEORIES = Path(__file__).parents[2] / "proofs" / "theories"
_DEFINITION = re.compile(r"^  function (\w+) (\([^=]*\)) : \w+ =\s*(.*?)(?=\n *\n|\n  function|\Z)", re.DOTALL | re.M)
_TOKEN = re.compile(r"\s*(\d+\.\d+|\d+|[a-z]\w*(?:\.[a-z]\w*)?|[-+*/]\.|[()])")
_SUMS = {"+.": add, "-.": sub}
_PRODUCTS = {"*.": mul, "/.": truediv}
LIBRARY: Mapping[str, Callable[..., Any]] = {"abs": abs, "min": min, "max": max, "from_int": Fraction, "power": pow}


@dataclass(frozen=True)
class Format:
    """A format in the terms of the theories: the bits of its significand, and its smallest subnormal number."""

    precision: int
    smallest: Fraction


def formulas(*modules: str) -> dict[str, Callable[..., Fraction]]:
    """Return the functions of modules such as ``"accuracy.Propagated"``; later ones may use those of earlier ones."""
    known: dict[str, Callable[..., Any]] = dict(LIBRARY)
    for title in modules:
        theory, module = title.split(".")
        text = (THEORIES / f"{theory}.mlw").read_text(encoding="utf-8")
        definitions = text.partition(f"module {module}\n")[2].partition("\nend\n")[0]
        for name, parameters, body in _DEFINITION.findall(definitions):
            known[name] = _function(re.findall(r"(\w+)(?=[\w ]*:)", parameters), body, dict(known))
    return known


def _function(parameters: list[str], body: str, known: Mapping[str, Callable[..., Any]]) -> Callable[..., Fraction]:
    def value(*arguments: Any) -> Fraction:
        reader = _Reader(body, {**known, **dict(zip(parameters, arguments, strict=True))})
        return reader.whole()

    return value


class _Reader:
    """Evaluates an expression while it reads it: sums of products of applications."""

    def __init__(self, text: str, names: Mapping[str, Any]) -> None:
        self.tokens = _TOKEN.findall(text)
        if "".join(self.tokens) != "".join(text.split()):
            raise ValueError(f"{text!r} holds more than sums, products and applications")
        self.names = names
        self.tokens.reverse()

    def whole(self) -> Fraction:
        result = self.chain(_SUMS, lambda: self.chain(_PRODUCTS, self.application))
        if self.tokens:
            raise ValueError(f"{self.tokens[-1]!r} follows a whole expression")
        return Fraction(result)

    def chain(self, operators: Mapping[str, Callable[[Any, Any], Any]], part: Callable[[], Any]) -> Any:
        result = part()
        while self.tokens and self.tokens[-1] in operators:
            result = operators[self.tokens.pop()](result, part())
        return result

    def application(self) -> Any:
        head = self.atom()
        if not callable(head):
            return head
        arguments = []
        while self.tokens and self.tokens[-1] not in {*_SUMS, *_PRODUCTS, ")"}:
            arguments.append(self.atom())
        return head(*arguments)

    def atom(self) -> Any:
        token = self.tokens.pop()
        if token == "(":
            inner = self.chain(_SUMS, lambda: self.chain(_PRODUCTS, self.application))
            if self.tokens.pop() != ")":
                raise ValueError("a parenthesis is not closed")
            return inner
        if token[0].isdigit():
            return Fraction(token) if "." in token else int(token)
        name, _, field = token.partition(".")
        return getattr(self.names[name], field) if field else self.names[name]
