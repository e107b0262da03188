"""The mistakes that `make mutation` plants, and the list of mutants that no test can find."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.mutation.__main__ import (
    AROUND,
    POOL,
    PORTABLE,
    PYTHON,
    ROOMS,
    ROOT,
    RUNTIMES,
    catalogue,
    equivalents,
    is_equivalent,
    sources,
)
from tests.mutation.mutants import mutants_of
from tests.mutation.order import noted_as


def test_a_mutant_names_its_function_as_calls_are_noted(tmp_path: Path) -> None:
    """So the tests that call the function are found."""
    source = tmp_path / "vinculum" / "f.py"
    source.parent.mkdir()
    source.write_text("n = 1\nclass C:\n n = 2\n def m(self):\n  def inner(): return 3\n  return inner\n")
    assert [mutant.function for mutant in mutants_of(source, tmp_path)] == ["", "", "C.m"]
    names: dict[str, Any] = {}
    exec(compile(source.read_text(), source, "exec"), names)
    called = {one.__code__ for one in (names["C"].m, names["C"]().m())}
    assert {noted_as(code.co_filename, code.co_qualname) for code in called} == {"f.py:C.m"}


def test_the_planted_mistakes() -> None:
    """Each compiles, has its own name, and its tests exist; `catalogue` refuses a text that does not occur once."""
    of_kernels = (named for named, _ in (AROUND, POOL, PORTABLE, PYTHON))
    assert all((ROOT / tests).exists() for room in (*ROOMS.values(), *RUNTIMES.values(), *of_kernels) for tests in room)
    mistakes = catalogue()
    assert len(mistakes) >= 30
    assert len({mistake.name for mistake, _ in mistakes}) == len(mistakes)
    for mistake, tests in mistakes:
        compile(mistake.text, mistake.file, "exec")
        assert mistake.text != (ROOT / mistake.file).read_text(encoding="utf-8")
        assert tests
        assert all((ROOT / test).exists() for test in tests), mistake


@pytest.mark.parametrize("file", sorted({known["file"] for known in equivalents()}))
def test_equivalent_mutants_exist(file: str) -> None:
    """No entry of the list outlives its line."""
    (source,) = (path for path in sources() if path.as_posix().endswith(file))
    named = [known for known in equivalents() if known["file"] == file]
    mutants = mutants_of(source, ROOT, [known["line"] for known in named])
    for known in named:
        assert known["reason"].endswith(".")
        assert any(is_equivalent(mutant, [known]) for mutant in mutants), known
