"""Extracts the rules of the core: ``python -m proofs.checking.rules`` writes the headers, ``--check`` compares them.

They are committed, so that nobody needs Why3 to compile the core. A family of rules is a row of `RULES`. By
``c/rules.sha256``, which has the digests of the headers and of what extracts them, an edit is seen without Why3.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from proofs.checking.ending import Arguments, ended
from proofs.checking.extraction import PROOFS, CFile, extract
from proofs.checking.provers import ProofError

FOLDER = PROOFS.parent / "src" / "vinculum" / "kernels" / "core" / "rules"
RECORD = PROOFS / "c" / "rules.sha256"
RULES = (
    CFile(
        "two_step.h",
        (
            "two_step_programs.Unsigned",
            "two_step_bits.SignBits",
            "two_step_bits.Magnitude",
            "two_step_signed.Signed",
            "two_step_kernels.Quotients",
        ),
        "two_step.drv",
    ),
    CFile(
        "direct.h",
        (
            "direct_division_programs.Through32",
            *(f"direct_division_programs.{module}" for module in ("Int8", "Int16", "UInt8", "UInt16")),
            "direct_division_programs.Through64",
            *(f"direct_division_programs.{module}" for module in ("Int32", "UInt32", "Int64", "UInt64")),
        ),
        "direct.drv",
    ),
    CFile(
        "invariant.h",
        (
            "multiply_high_preparation.Exponent",
            *(f"multiply_high_preparation.Preparation{bits}" for bits in (8, 16, 32, 64)),
            "multiply_high_programs.Product16",
            *(f"multiply_high_programs.Quotient{bits}" for bits in (8, 16, 32, 64)),
            *(f"multiply_high_signed.Signed{bits}" for bits in (8, 16, 32, 64)),
        ),
        "invariant.drv",
    ),
    # By the processor's own division, as in the C library, whose loops need more of these modules.
    CFile(
        "integer.h",
        (
            "c_integer_quotients.Int64.quotient_int64",
            "c_integer_quotients.Int64.floor_quotient_int64",
            "c_integer_quotients.UInt64.quotient_uint64",
        ),
        "sonnx_div.drv",
    ),
)


def outdated(folder: Path = FOLDER) -> list[str]:
    """Return the names of the headers in a folder that are not what the proofs extract to, byte for byte.

    Raises
    ------
    ProofError
        If Why3 is missing, is not the version of the proofs, or refuses a theory.
    """
    with tempfile.TemporaryDirectory() as working:
        extract(Path(working), RULES)
        new, old = _contents(Path(working)), _contents(folder)
    return sorted(name for name in {*new, *old} if new.get(name) != old.get(name))


def digests() -> str:
    """Return the SHA-256 of the headers and of all that extracts them but the theories, as `sha256sum` prints it."""
    names = sorted(path.relative_to(PROOFS.parent) for path in PROOFS.glob("c/*.[dh]*"))
    names += (Path("proofs", "checking", name) for name in ("extraction.py", "rules.py"))
    contents = {name.as_posix(): (PROOFS.parent / name).read_bytes() for name in names}
    contents |= {f"src/vinculum/kernels/core/rules/{name}": text for name, text in sorted(_contents(FOLDER).items())}
    return "".join(f"{hashlib.sha256(text).hexdigest()}  {name}\n" for name, text in contents.items())


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*")}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the headers and their digests, or compare them; return 2 if they are outdated."""
    parser = Arguments(prog="python -m proofs.checking.rules", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a header is not up to date")
    given = parser.parse_args(arguments)

    def make() -> int:
        if not given.check:
            extract(FOLDER, RULES)
        if names := outdated(FOLDER):
            raise ProofError(f"not what the proofs extract to: {', '.join(names)}; `make rules` extracts anew")
        if not given.check:
            RECORD.write_text(digests(), encoding="utf-8")
        if RECORD.read_text(encoding="utf-8") != digests():
            raise ProofError(f"{RECORD.name} is not up to date; `make rules` writes it")
        print(f"the {len(RULES)} families of rules are what the proofs extract to")
        return 0

    return ended(make)


if __name__ == "__main__":
    sys.exit(main())
