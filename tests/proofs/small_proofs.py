"""A folder of proofs that holds one small theory, its session and a false variant of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofs.checking import replay
from proofs.checking.prove import search
from proofs.checking.recorded import record
from proofs.checking.sessions import Session

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
    """Write the folder, and prove its theory."""
    for name in ("theories", "gappa", "mutants"):
        (folder / name).mkdir()
    (folder / "README.md").write_text("", encoding="utf-8")
    theory = folder / "theories" / "sums.mlw"
    theory.write_text(TRUE, encoding="utf-8")
    (folder / "mutants" / "sums.toml").write_text(VARIANT, encoding="utf-8")
    search(Session(theory, configuration), "z3:1")
    record(theory)


def change(proofs: Path, text: str) -> None:
    """Give the theory another text, recorded as if it were proved."""
    theory = proofs / "theories" / "sums.mlw"
    theory.write_text(text, encoding="utf-8")
    record(theory)


def told_by(proofs: Path, capsys: pytest.CaptureFixture[str], *names: str) -> tuple[int, str]:
    """Replay the theories named, or everything; return how many failed and what was printed."""
    working = proofs.parent / "working"
    working.mkdir()
    return replay.replay(proofs, working, names), capsys.readouterr().out
