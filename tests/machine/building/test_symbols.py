"""No function that is compiled for one target can be taken for another's."""

from __future__ import annotations

import shutil
from itertools import combinations
from pathlib import Path

import pytest

from tests.machine.building.environment import BUILT, BUILT_LIBRARY
from tests.processes import output_of

GLOBAL = "TDBRVWu"  # of nm: functions and data, and weak and unique ones, of which the linker keeps one


@pytest.fixture(scope="module")
def defined() -> dict[str, set[str]]:
    """Return the global symbols of each part: one for each target, and the module and the library, which choose."""
    parts = {library.stem: [library] for library in BUILT.glob("libkernels_*.a")}
    if not parts or shutil.which("nm") is None:
        pytest.skip("no core has been built by `make test` here, or there is no nm: apt install binutils")
    parts["the module"] = list(BUILT.glob("_core.*.p/*.o"))
    parts["the library"] = list(BUILT_LIBRARY.glob("*.p/operators.cpp.o"))
    return {name: {symbol for file in files for symbol in symbols_of(file)} for name, files in parts.items()}


def symbols_of(file: Path) -> set[str]:
    """Return the global symbols that an object file or a library defines."""
    lines = (line.split() for line in output_of(["nm", "--defined-only", "--format=posix", file]).splitlines())
    return {words[0] for words in lines if len(words) > 1 and words[1] in GLOBAL}


def test_no_symbol_is_defined_twice(defined: dict[str, set[str]]) -> None:
    """Of two definitions the linker keeps one, which another processor may not be able to run.

    Functions and templates of headers are such, unless they are inlined, static or in a namespace of the target.
    """
    two = (pair for pair in combinations(defined, 2) if pair != ("the module", "the library"))  # never linked together
    both = {(one, other): defined[one] & defined[other] for one, other in two}
    assert {pair: sorted(symbols) for pair, symbols in both.items() if symbols} == {}


def test_each_part_defines_something(defined: dict[str, set[str]]) -> None:
    assert [name for name, symbols in defined.items() if not symbols] == []
