"""Extracts the rules of the core: ``python -m proofs.checking.rules`` writes the headers, ``--check`` compares them.

They are committed, so that nobody needs Why3 to compile the core. A family of rules is a row of `RULES`. The digests of
the C library are written too, ``c/extracted.sha256``. By ``c/extraction.sha256``, which has the digests of all that is
extracted and of all that it is extracted from and by, an edit of any of these is seen without Why3.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from proofs.checking.ending import Arguments, ended
from proofs.checking.extraction import C_FILES, PROOFS, CFile, extract
from proofs.checking.provers import ProofError
from proofs.checking.sessions import needed

FOLDER = PROOFS.parent / "src" / "vinculum" / "kernels" / "core" / "rules"
RECORD = PROOFS / "c" / "extraction.sha256"
LIBRARY_RECORD = PROOFS / "c" / "extracted.sha256"
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
    """Return the SHA-256 of what is extracted, and of the theories, drivers and programs that make it."""
    names = sorted(path.relative_to(PROOFS.parent) for path in [*PROOFS.glob("c/*.[dh]*"), LIBRARY_RECORD])
    names += (Path("proofs", "checking", name) for name in ("extraction.py", "rules.py"))
    names += (Path("proofs", "theories", name) for name in _theories())
    contents = {name.as_posix(): (PROOFS.parent / name).read_bytes() for name in names}
    contents |= {f"src/vinculum/kernels/core/rules/{name}": text for name, text in sorted(_contents(FOLDER).items())}
    return _listed(contents)


def library_digests() -> str:
    """Return the SHA-256 of each source of the C library, extracted anew.

    Raises
    ------
    ProofError
        As `outdated`.
    """
    with tempfile.TemporaryDirectory() as working:
        extract(Path(working))
        texts = _contents(Path(working))
    return _listed({name: texts[name] for name in sorted(texts, key=lambda name: (name.endswith(".h"), name))})


def _theories() -> list[str]:
    """Return the names of the theories that the extraction reads."""
    roots = {module.partition(".")[0] for file in (*RULES, *C_FILES) for module in file.modules}
    return sorted({path.name for root in roots for path in needed(PROOFS / "theories" / f"{root}.mlw")})


def _listed(contents: Mapping[str, bytes]) -> str:
    """Return digests as `sha256sum` prints them."""
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
        library = library_digests()
        if not given.check:
            if LIBRARY_RECORD.read_text(encoding="utf-8") != library:
                LIBRARY_RECORD.write_text(library, encoding="utf-8")
            RECORD.write_text(digests(), encoding="utf-8")
        if LIBRARY_RECORD.read_text(encoding="utf-8") != library:
            raise ProofError(
                f"{LIBRARY_RECORD.name} is not of the library that the proofs extract to; `make rules` writes it"
            )
        if RECORD.read_text(encoding="utf-8") != digests():
            raise ProofError(f"{RECORD.name} is not up to date; `make rules` writes it")
        print(f"the {len(RULES)} families of rules and the C library are what the proofs extract to")
        return 0

    return ended(make)


if __name__ == "__main__":
    sys.exit(main())
