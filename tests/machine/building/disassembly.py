"""The instructions of compiled files, as objdump shows them, and which of them compute with floats."""

from __future__ import annotations

import platform
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.optional import program_or_skip
from tests.processes import output_of

# Instructions on binary32, binary64 and narrower formats, by how their names begin or end; those on packed integers,
# whose names begin with p, are excluded.
_FLOATING = re.compile(r"f.*|v?cvt.*|v?4fn?m.*|(?!push$|v?p)\w+[sp][sdh]|v?p\w+p[sdh]")
_MOVING = re.compile(
    r"v?(mov\w*|and|andn|or|xor|shuf|unpck[hl]|perm\w*|broadcast|p?blend[mv]?|gather[dq]|scatter[dq])[sp][sd]"
)
# Instructions that round once, as IEEE 754 says, or not at all. Not among them: fused multiply-add, estimates of
# reciprocals and roots, conversions to bfloat16, which flush subnormals, and the x87, whose results are wider.
_EXACT = re.compile(
    r"v?(add|sub|mul|div|round|rndscale|u?comi|cmp\w*|fpclass)[sp][sd]"
    r"|v?cvt(u?si2s[sd]|ts[sd]2u?si)[lq]?|v?cvt(u?[dq]q2p[sd]|tp[sd]2u?[dq]q)[xyz]?|vcvtp[sh]2p[sh]|v?cvts[sd]2s[sd]"
)


class Instruction(NamedTuple):
    """One instruction, without prefixes such as ``lock``."""

    mnemonic: str
    operands: str


def objdump_or_skip(request: pytest.FixtureRequest) -> None:
    """Skip a test where code cannot be disassembled, or fail it under ``--require-all``."""
    if platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("only the instructions of x86-64 are known here")
    program_or_skip(request, "objdump")


def instructions(file: Path, function: str | None = None) -> list[Instruction]:
    """Return the instructions of an object file or a library, or of one function in it, in the order of addresses."""
    which = "--disassemble" if function is None else f"--disassemble={function}"
    lines = output_of(["objdump", which, "--no-show-raw-insn", file]).splitlines()
    words = (line.split("\t")[1].split(maxsplit=1) for line in lines if line.count("\t"))
    return [Instruction(*found, *[""] * (2 - len(found))) for found in words if found]


def computing(found: list[Instruction]) -> dict[str, int]:
    """Return the number of each floating-point instruction that does more than move data."""
    counts = Counter(one.mnemonic for one in found)
    return {name: n for name, n in counts.items() if _FLOATING.fullmatch(name) and not _MOVING.fullmatch(name)}


def not_exact(found: list[Instruction]) -> dict[str, int]:
    """Return those whose results may differ from IEEE 754's."""
    return {mnemonic: count for mnemonic, count in computing(found).items() if not _EXACT.fullmatch(mnemonic)}
