"""Compiler options that break IEEE 754 are refused, or switched off where the compiler does not reveal them."""

from __future__ import annotations

import json
import os
import platform
import re
import shlex
import sys
from pathlib import Path

import pytest

from tests.machine.building.test_objects import BUILT, ROOT
from tests.optional import program_or_skip
from tests.processes import output_of, run

pytestmark = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="the options are those of compilers for x86-64"
)

PROGRAMS = Path(sys.executable).parent
COMPILERS = ("c++", "g++", "clang++", "icpx", "nvc++", "cl")
CONTRACT = ROOT / "src" / "vinculum" / "kernels" / "core" / "rules" / "contract.h"
EVERYWHERE: tuple[str, ...] = (
    *("-ffast-math", "-Ofast", "-funsafe-math-optimizations", "-fassociative-math", "-freciprocal-math"),
    *("-fno-signed-zeros", "-ffinite-math-only", "-ffp-contract=fast", "-mrecip"),
)
ASSOCIATIVE = "-fassociative-math -fno-signed-zeros -fno-trapping-math"  # it has no effect alone
BY_MACRO = {
    "g++": (
        *("-ffast-math", "-Ofast", "-funsafe-math-optimizations", ASSOCIATIVE, "-freciprocal-math"),
        *("-fno-signed-zeros", "-ffinite-math-only", "-fsingle-precision-constant", "-mfpmath=387"),
    ),
    "clang++": ("-ffast-math", "-Ofast", "-ffinite-math-only", "-ffp-model=fast"),
}
BY_PRAGMA = (
    *("-funsafe-math-optimizations", ASSOCIATIVE, "-freciprocal-math", "-fno-signed-zeros"),
    *("-fno-honor-nans", "-fno-honor-infinities", "-fapprox-func"),
)
OPERATIONS = """
float divide(float x, float y) { return x / y; }
float add(float x, float y) { return x + y; }
float fuse(float x, float y, float z) { return x * y + z; }
int is_nan(float x) { return x != x; }
"""


def said(compiler: str, options: str) -> str:
    """Return the messages of a compiler about contract.h with some options."""
    return str(
        run([compiler, "-x", "c++", "-Wall", "-Wextra", *options.split(), "-fsyntax-only", str(CONTRACT)]).stderr
    )


@pytest.mark.parametrize(
    ("compiler", "option"), [(compiler, option) for compiler, options in BY_MACRO.items() for option in options]
)
def test_the_contract_refuses(request: pytest.FixtureRequest, compiler: str, option: str) -> None:
    program_or_skip(request, compiler)
    assert re.search("#error.*(IEEE 754|excess precision)", said(compiler, option))
    assert said(compiler, "") == ""


@pytest.mark.parametrize("option", BY_PRAGMA)
def test_the_contract_switches_off_what_clang_does_not_reveal(request: pytest.FixtureRequest, option: str) -> None:
    compiler = program_or_skip(request, "clang++")
    command = [compiler, "-x", "c++", "-O1", *option.split(), "-S", "-emit-llvm", "-o", "-", "-"]
    relaxed = r"= f(add|sub|mul|div|cmp) (?!float|uno float)"
    assert re.search(relaxed, output_of(command, input=OPERATIONS))
    assert not re.search(relaxed, output_of([*command, "-include", str(CONTRACT)], input=OPERATIONS))


def test_a_build_is_refused_with_one_line_that_names_them(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    program_or_skip(request, *COMPILERS)
    environment = os.environ | {"CXXFLAGS": f"-O2 {' '.join(EVERYWHERE)}", "LDFLAGS": "-Ofast"}
    environment["PATH"] = os.pathsep.join([str(PROGRAMS), environment["PATH"]])
    ended = run(["meson", "setup", tmp_path / "build", ROOT], env=environment)
    (line,) = (line for line in ended.stdout.splitlines() if "ERROR" in line)
    assert ended.returncode
    assert f"only without {', '.join(EVERYWHERE)}: take that out of CXXFLAGS" in line


def test_options_that_a_compiler_has_from_elsewhere_are_overridden() -> None:
    """A configuration file or a wrapper script may add them: they come before the options of the build."""
    commands = json.loads((ROOT / "build" / "editable" / "compile_commands.json").read_text()) if BUILT.exists() else []
    kernels = [shlex.split(one["command"]) for one in commands if one["file"].endswith("kernels.cpp")]
    if not kernels:
        pytest.skip("no core has been built by `make test` here")
    for compiler, *options in kernels:
        kept = [option for option in options if option.startswith(("-std", "-O", "-f", "-m")) and option != "-o"]
        assert "IEEE 754" in said(compiler, " ".join(EVERYWHERE))
        assert said(compiler, " ".join([*EVERYWHERE, *kept])) == ""
