"""A small theory with its session and a false variant, and the list of manipulations that must be noticed."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

from proofs.checking.prove import search
from proofs.checking.recorded import digests, record
from proofs.checking.sessions import Session

# Replays the theories named, or everything; returns how many failed and the output.
ToldBy = Callable[..., tuple[int, str]]

Row = dict[str, str]
# By the check that notices them; the file explains the keys of a row.
MANIPULATIONS: dict[str, list[Row]] = tomllib.loads(
    Path(__file__).with_name("manipulations.toml").read_text(encoding="utf-8")
)

PROVERS = ("cvc4-nofpbv", "cvc5-nofpbv")
TRUE = """module Sums
  use int.Int
  let lemma doubled (a: int)
    requires { a > 1 }
    ensures { a + a = 2 * a }
  = ()
  lemma halved: 1 + 1 = 2
end
"""
VARIANT = """[[mutant]]
theorem = "Sums.doubled"
replace = "ensures { a + a = 2 * a }"
by = "ensures { a + a = 3 * a }"
false_because = "2 is not 3"
"""


def fill(folder: Path, configuration: Path) -> None:
    """Fill the folder, prove its theory, and record it."""
    for name in ("theories", "gappa", "mutants"):
        (folder / name).mkdir()
    (folder / "README.md").write_text("", encoding="utf-8")
    theory = folder / "theories" / "sums.mlw"
    theory.write_text(TRUE, encoding="utf-8")
    (folder / "mutants" / "sums.toml").write_text(VARIANT, encoding="utf-8")
    search(Session(theory, configuration), f"{PROVERS[0]}:1")
    record(folder, digests(folder))


def change(proofs: Path, text: str) -> None:
    """Replace the text of the theory."""
    (proofs / "theories" / "sums.mlw").write_text(text, encoding="utf-8")
