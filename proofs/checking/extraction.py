"""Extracts proved programs: ``python -m proofs.checking.extraction FOLDER`` makes the C library of SONNX Div there.

Why3's own extraction writes the functions in C; ``c/*.drv`` tells it how. By hand are the header, ``c/sonnx_div.h``,
and the conditions that the compiler must meet, ``c/contract.h``. The environment's CC and AR name another compiler.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from proofs.checking import children
from proofs.checking.ending import Arguments, ended
from proofs.checking.provers import WHY3_VERSION, ProofError

PROOFS = Path(__file__).parents[1]
LIBRARY = "libsonnx_div.a"
CONTRACT = "contract.h"
ROUTINES = "routines.h"
HEADER = "sonnx_div.h"
PACKAGE = "sonnx_div.pc"
# For pkg-config, which finds the library where this file lies.
_PACKAGE = """\
Name: sonnx_div
Description: Proved division of tensors, SONNX Div
Version: {version}
Cflags: -I${{pcfiledir}}
Libs: -L${{pcfiledir}} -lsonnx_div
"""
# Unless the environment names others as CC and AR, such as a cross compiler's.
COMPILER, ARCHIVER = "gcc", "ar"
_ORIGIN = "/* Extracted by Why3"
_COPIED = "/* Copied from Vinculum's proofs/c: change it there. */"
# Freestanding: the library is for targets without an operating system too.
FLAGS = (
    *("-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Wmissing-prototypes"),
    *("-Werror", "-pedantic", "-O2", "-ffreestanding"),
)
_WIDTH = 100  # of a comment
_LIMIT = 600  # seconds for one call of Why3, the compiler or the archiver


@dataclass(frozen=True)
class CFile:
    """A file in C, and the modules whose functions it holds; those that it calls come first.

    Attributes
    ----------
    name : str
        Of the file, without folder; a header's ends in ``.h``.
    modules : tuple of str
        ``"theory.Module"``, or ``"theory.Module.function"`` where not all functions of a module are wanted.
    driver : str
        How Why3 writes them, a file in ``proofs/c``.
    included : tuple of str, optional
        The headers by hand that it includes, files in ``proofs/c``.
    """

    name: str
    modules: tuple[str, ...]
    driver: str
    included: tuple[str, ...] = (CONTRACT,)


def _of_library(name: str, *modules: str, included: tuple[str, ...] = (HEADER,)) -> CFile:
    return CFile(name, modules, "sonnx_div.drv", included)


def _integers(module: str, sign: str) -> CFile:
    # None of them computes in floating point, so that no condition on it need be met.
    loops = (f"c_integer_loops_{sign}.{module}", f"c_broadcast_loops_{sign}.{module}")
    return _of_library(f"{module.lower()}.c", f"c_integer_quotients.{module}", *loops)


C_FILES = (
    *(_integers(f"Int{bits}", "signed") for bits in (8, 16, 32, 64)),
    *(_integers(f"UInt{bits}", "unsigned") for bits in (8, 16, 32, 64)),
    _of_library("float.c", "c_float_loops.Binary32", included=(ROUTINES, CONTRACT, HEADER)),
    _of_library("double.c", "c_float_loops.Binary64", included=(ROUTINES, CONTRACT, HEADER)),
)


def extract(folder: Path, files: Sequence[CFile] | None = None) -> list[Path]:
    """Write C files, and the headers that they include, into a folder, and return the paths of the C files.

    Parameters
    ----------
    folder : Path
        Where they come to lie; it is made if it is not there.
    files : sequence of CFile, optional
        Other files than the library's.

    Raises
    ------
    ProofError
        If Why3 is missing, is not the version of the proofs, or refuses a theory; or if a file of somebody else lies
        where one of ours comes to lie.
    """
    if shutil.which("why3") is None:
        raise ProofError("not installed: why3; on Debian 12: apt install why3")
    version = _run("why3", "--version")
    if WHY3_VERSION not in version:
        raise ProofError(f"{version.strip()!r} is installed; the proofs are made with {WHY3_VERSION}")
    folder.mkdir(parents=True, exist_ok=True)
    chosen = C_FILES if files is None else files
    for header in sorted({header for file in chosen for header in file.included}):
        text = (PROOFS / "c" / header).read_text(encoding="utf-8")
        _cleared(folder / header, _COPIED).write_text(f"{_COPIED}\n{text}", encoding="utf-8")
    return [_extract(file, folder) for file in chosen]


def _extract(file: CFile, folder: Path) -> Path:
    path = _cleared(folder / file.name, _ORIGIN)
    drivers = ("-D", "c", "-D", str(PROOFS / "c" / file.driver), "-L", str(PROOFS / "theories"))
    with tempfile.TemporaryDirectory() as working:
        made = Path(working) / file.name
        said = _run("why3", "extract", *drivers, *file.modules, "-o", str(made))
        if not made.exists():  # Why3's exit code is 0 after some errors
            raise ProofError(f"why3 did not extract {file.name}: {' '.join(said.split())}")
        text = made.read_text(encoding="utf-8").strip()
    origin = f"{_ORIGIN} {WHY3_VERSION} from {', '.join(file.modules)}: change it there. */"
    opening = textwrap.wrap(origin, _WIDTH, subsequent_indent="   ", break_on_hyphens=False)
    opening += ["#pragma once"] * (path.suffix == ".h") + [f'#include "{header}"' for header in file.included]
    path.write_text("\n".join([*opening, "", text, ""]), encoding="utf-8")
    return path


def _cleared(path: Path, opening: str) -> Path:
    """Remove the file of an earlier run, which opens like that, and return its path; a file of somebody else stays."""
    if path.exists():
        if not path.read_text(encoding="utf-8", errors="replace").startswith(opening):
            raise ProofError(f"{path} is not ours to overwrite; name another folder")
        path.unlink()
    return path


def build(folder: Path, sources: Sequence[Path], flags: Sequence[str] = ()) -> Path:
    """Compile the C files, and return the path of the static library.

    Parameters
    ----------
    folder : Path
        Where objects and library come to lie.
    sources : sequence of Path
        The C files, the headers beside them.
    flags : sequence of str, optional
        Further flags of the compiler, such as ``-m32``.

    Raises
    ------
    ProofError
        If the compiler is missing or not content.
    """
    compiler = _command("CC", COMPILER)
    archiver = _command("AR", ARCHIVER)
    library = folder / LIBRARY
    library.unlink(missing_ok=True)  # none is left that could pass for the new one
    objects = [folder / f"{source.stem}.o" for source in sources]
    for source, made in zip(sources, objects, strict=True):
        _run(*compiler, *FLAGS, *flags, "-c", str(source), "-o", str(made))
    _run(*archiver, "rcs", str(library), *map(str, objects))
    version = re.findall(r"VERSION_M\w+ (\d+)", (PROOFS / "c" / HEADER).read_text(encoding="utf-8"))
    (folder / PACKAGE).write_text(_PACKAGE.format(version=".".join(version)), encoding="utf-8")
    return library


def _command(variable: str, otherwise: str) -> list[str]:
    """Return the command that an environment variable names, in the words of a shell."""
    named = os.environ.get(variable, "")
    try:
        command = shlex.split(named) or [otherwise]
    except ValueError as error:
        raise ProofError(f"{variable}={named} is no command: {str(error).lower()}") from None
    if shutil.which(command[0]) is None:
        raise ProofError(f"not installed: {command[0]}; on Debian 12: apt install gcc, or name another as {variable}")
    return command


def _run(*command: str) -> str:
    told = children.told(command, _LIMIT)
    if told.returncode != 0:
        raise ProofError(f"{' '.join(command[:2])} failed: {' '.join((told.stderr or told.stdout).split())}")
    return told.stdout + told.stderr


def main(arguments: Sequence[str] | None = None) -> int:
    """Extract and compile into the folder that is named; return 2 if that fails."""
    parser = Arguments(prog="python -m proofs.checking.extraction", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the C files and the library come to lie")
    parser.add_argument(
        "--flag", action="append", default=[], metavar="FLAG", help="a further flag of the compiler: --flag=-m32"
    )
    given = parser.parse_args(arguments)

    def make() -> int:
        library = build(given.folder, extract(given.folder), given.flag)
        print(f"made {library}; to use it: gcc PROGRAM.c -I {given.folder} {library}, and include {HEADER}")
        return 0

    return ended(make)


if __name__ == "__main__":
    sys.exit(main())
