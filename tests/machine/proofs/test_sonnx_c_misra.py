"""The safety manual explains what cppcheck, with its add-on for MISRA C:2012, says of the extracted C library."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

from proofs.checking.extraction import PROOFS
from tests.machine.proofs.sonnx_c_targets import require_compiler
from tests.processes import output_of, run

MANUAL = PROOFS.parent / "docs" / "reference" / "safety-manual.md"
VERSION = "Cppcheck 2.10"
CHECKS = ("--enable=warning,style,performance,portability", "--addon=misra", "--inconclusive", "--quiet")
READING = ("--std=c11", "--platform=unix32", "--template={id} {file}")
# Of <float.h>, which cppcheck does not read.
FLOATS = (
    *("FLT_EVAL_METHOD=0", "FLT_RADIX=2", "FLT_MANT_DIG=24", "FLT_MIN_EXP=-125", "FLT_MAX_EXP=128"),
    *("DBL_MANT_DIG=53", "DBL_MIN_EXP=-1021", "DBL_MAX_EXP=1024"),
)


def test_each_deviation_is_explained(request: pytest.FixtureRequest, sources: list[Path]) -> None:
    require_compiler(request, "cppcheck")
    if output_of(["cppcheck", "--version"]).strip() != VERSION:
        pytest.skip(f"optional everywhere: the manual has what {VERSION} says")
    defined = (f"-D{macro}" for macro in FLOATS)
    names = (path.name for path in sources)
    told = run(["cppcheck", *CHECKS, *READING, *defined, *names], cwd=sources[0].parent)
    said = {tuple(line.split()) for line in told.stderr.splitlines()}
    rows = re.findall(r"^\| `([\w.-]+)` \| `([\w.*]+)` \| .{30}", MANUAL.read_text("utf-8"), re.MULTILINE)
    explained = {(rule, file): {(r, f) for r, f in said if r == rule and fnmatch(f, file)} for rule, file in rows}
    assert all(explained.values()), "explained, but not said"
    assert said == set().union(*explained.values()), "said, but not explained"
