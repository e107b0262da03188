"""The provers, and the configuration by which Why3 calls them; nothing outside its folder is read or written.

Debian's Why3 knows its own CVC4 and Z3, not cvc5, whose driver is made from CVC4's. Each prover has up to three faces:
as installed, with its native theory of floating-point numbers; ``nofp``, which sees Why3's axioms of them instead; and
``nofpbv``, which has no native bit vectors either. The drivers are Why3's own text, cut here; no copy is kept.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

WHY3_VERSION = "1.5.1"
GAPPA_VERSION = "1.4.1"
DRIVERS = Path("/usr/share/why3/drivers")
LIBRARY = DRIVERS.with_name("stdlib")
_FLOATS = ("smt-libv2-floats.gen",)
_BIT_VECTORS = ("smt-libv2-bv.gen", "cvc4_bv.gen", "z3_bv.gen")
_WITHOUT = {"": (), "nofp": _FLOATS, "nofpbv": (*_FLOATS, *_BIT_VECTORS)}
_LIMIT = 60  # seconds in which a program says which version it is
# The variable that names a file. Of the provers with the same file one runs at a time, and the others wait for it. Were
# Why3 itself to keep attempts back, it would look at the clock without pause, and take a core from the provers.
TURN = "VINCULUM_PROOFS_TURN"
# If this one is set too, the first that does not prove its goal is the last that runs: the others say nothing, which
# Why3 calls a failure. One that is stopped when its time is over says nothing either; it is said to know nothing.
FIRST = "VINCULUM_PROOFS_FIRST"
_QUEUE = f"""#!/bin/sh
[ "${TURN}" ] || exec "$@"
[ "${FIRST}" ] || exec flock "${TURN}" "$@"
exec flock "${TURN}" sh -c '
    [ -s "$0" ] && exit
    said=$("$@")
    printf "%s\\n" "${{said:-unknown}}"
    case "$said" in *unsat*) ;; *) echo failed > "$0" ;; esac' "${TURN}" "$@"
"""
_WAITING = 1000  # more than a theory has attempts


class ProofError(Exception):
    """What keeps a proof from being replayed, in one line."""


@dataclass(frozen=True)
class Prover:
    """One prover as Why3 knows it; `driver` is the installed file that its driver is made from."""

    name: str
    version: str
    alternative: str
    command: str
    driver: str

    @property
    def key(self) -> str:
        """What the command lines and reports call it: ``"z3"``, ``"cvc5-nofp"``."""
        return "-".join(filter(None, (self.name.lower(), self.alternative)))

    @property
    def title(self) -> str:
        """Return name and version, and which face it is."""
        return " ".join(filter(None, (self.name, self.version, self.alternative)))


# None is told a limit of its own, which would be one of wall time, less of a prover the busier the machine: Why3's
# server limits the processor time.
_Z3 = "z3 -smt2 sat.random_seed=42 nlsat.randomize=false smt.random_seed=42 -st %f"
_CVC4 = "cvc4 --lang=smt2 %f"
_CVC5 = "cvc5 --lang=smt2 %f"

PROVERS = {
    prover.key: prover
    for prover in (
        *(Prover("Z3", "4.8.12", face, _Z3, "z3_471.drv") for face in _WITHOUT),
        # Debian's CVC4 aborts on floating-point literals, so that it has no native face.
        *(Prover("CVC4", "1.8", face, _CVC4, "cvc4_17.drv") for face in ("nofp", "nofpbv")),
        *(Prover("CVC5", "1.0.3", face, _CVC5, "cvc4_16.gen") for face in _WITHOUT),
    )
}

_PACKAGES = {
    "why3": WHY3_VERSION,
    **{prover.name.lower(): prover.version for prover in PROVERS.values()},
    "gappa": GAPPA_VERSION,
}


def require_installed() -> None:
    """Check that Why3 and every prover are there, in the versions that the sessions were made with.

    Raises
    ------
    ProofError
        Naming every package that is missing or of another version.
    """
    missing = [package for package in _PACKAGES if shutil.which(package) is None]
    if missing:
        raise ProofError(f"not installed: {', '.join(missing)}; on Debian 12: apt install {' '.join(_PACKAGES)}")
    for package, version in _PACKAGES.items():
        told = subprocess.run([package, "--version"], capture_output=True, text=True, check=False, timeout=_LIMIT)
        said, *_ = (told.stdout + told.stderr).strip().splitlines() or ["silent"]
        if version not in re.findall(r"\d[\d.]*\d", said):
            raise ProofError(
                f"{package} is {said!r}; the proofs were made with {version}, which Debian 12 packages: install that"
            )


def configure(folder: Path) -> Path:
    """Write Why3's configuration and the drivers into a folder, and return the configuration's path."""
    require_installed()
    folder.mkdir(parents=True, exist_ok=True)
    queue = folder / "queue"
    queue.write_text(_QUEUE, encoding="utf-8")
    queue.chmod(0o755)
    text = ["[main]", "magic = 14", "memlimit = 2000", f"running_provers_max = {_WAITING}", "timelimit = 5", ""]
    for prover in PROVERS.values():
        driver = folder / f"{prover.key}.drv"
        driver.write_text(_driver(prover), encoding="utf-8")
        text += ["[prover]", f'name = "{prover.name}"', f'version = "{prover.version}"']
        text += [
            f'alternative = "{prover.alternative}"',
            f'command = "{queue} {prover.command}"',
            f'driver = "{driver}"',
        ]
        text += ['editor = ""', "in_place = false", "interactive = false", ""]
    path = folder / "why3.conf"
    path.write_text("\n".join(text), encoding="utf-8")
    return path


def _driver(prover: Prover) -> str:
    without = _WITHOUT[prover.alternative]
    text = _inlined(prover.driver, without)
    if prover.name == "CVC5":
        text = 'prelude "(set-logic ALL)"\n' + text
    if _FLOATS[0] in without:  # what is left of the native theory speaks of types that are gone
        text = re.sub(r"^theory ieee_float\..*?^end", "", text, flags=re.DOTALL | re.MULTILINE)
    return text


def _inlined(name: str, without: tuple[str, ...]) -> str:
    """Return a driver's text with everything that it imports, except the files named."""
    lines = []
    for line in (DRIVERS / name).read_text(encoding="utf-8").splitlines():
        imported = re.match(r'import "(.*)"', line)
        if imported is None:
            lines.append(line)
        elif imported[1] not in without:
            lines.append(_inlined(imported[1], without))
    return "\n".join(lines)
