"""The tests on one Python, processor and target, and the record of what passed."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from building.cross.debian import CrossError, run
from building.cross.environment import AARCH64, BUILD, ROOT, X86_64, Environment, first_line, own_variables
from vinculum.conformance.run.installation import processor
from vinculum.kernels import VARIABLE

RECORDED = Path(__file__).with_name("recorded")
QUICK, LONG = 512, 32  # Of each enumeration, one part in so many.
_DIVIDING = ("tests/kernels", "tests/ops")
_OTHERS = "tests"
_HERE = Environment("targets", X86_64, "", "")  # of no suite: this Python, and the core that is installed in it
ENVIRONMENTS = {
    each.name: each
    for each in (
        _HERE,
        Environment("arm64", AARCH64, "bookworm", "3.11"),
        Environment("clang", X86_64, "bookworm", "3.11", clang=True),
        Environment("arm64-clang", AARCH64, "bookworm", "3.11", clang=True),
        Environment("python3.13", X86_64, "sid", "3.13"),
        Environment("python3.14", X86_64, "sid", "3.14"),
    )
}


@dataclass(frozen=True)
class Record:
    """What passed, and where.

    Attributes
    ----------
    environment : str
        Its name on the command line.
    processor, emulator : str
        The processor's family and, where it was emulated, by what.
    machine : str
        The model of the processor on which all ran.
    python, numpy, compiler : str
        Their versions.
    target : str
        The backend in force.
    date : str
        The day, in UTC.
    sources : str
        The digest of what divides; see `digest`.
    passed : dict of str to int
        The number of tests that passed: of the kernels, of the operators, of all others, and the enumerations.
    skipped : int
        The number of tests that skipped themselves.
    one_in : int
        Of the enumerations, one part in so many was run.
    seconds : int
        What it took.
    left_out : dict of str to str
        What was not run, and why: in earlier records only.
    """

    environment: str
    processor: str
    emulator: str
    machine: str
    python: str
    numpy: str
    compiler: str
    target: str
    date: str
    sources: str
    passed: dict[str, int]
    skipped: int
    one_in: int
    seconds: int
    left_out: dict[str, str] = field(default_factory=dict)

    def write(self) -> None:
        """Write it where `records` finds it."""
        RECORDED.mkdir(exist_ok=True)
        path = RECORDED / f"{self.environment}-{self.target}.json"
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")


def records() -> list[Record]:
    """Return every record, by name."""
    return [Record(**json.loads(path.read_text(encoding="utf-8"))) for path in sorted(RECORDED.glob("*.json"))]


def digest() -> str:
    """Return one SHA-256 of the files that divide and of how they are compiled."""
    files = [ROOT / "meson.build"]
    for kind in ("*.py", "*.cpp", "*.hpp", "*.h"):
        files += (ROOT / "src" / "vinculum" / "kernels").rglob(kind)
    whole = hashlib.sha256()
    for path in sorted(files):
        whole.update(f"{path.relative_to(ROOT).as_posix()} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return whole.hexdigest()


def run_all(environment: Environment, one_in: int) -> Iterator[Record]:
    """Run the tests on each target that can be chosen there, and yield a record of each; the first failure ends it."""
    if environment is not _HERE:
        environment.make()
    BUILD.mkdir(parents=True, exist_ok=True)
    python = Path(sys.executable) if environment is _HERE else environment.python
    for target in _facts(python)["targets"] if environment is _HERE else [None]:
        yield _run(environment, python, target, one_in)


def _run(environment: Environment, python: Path, target: str | None, one_in: int) -> Record:
    variables = own_variables() | ({VARIABLE: target} if target else {})
    facts = _facts(python, variables)
    machine = environment.machine
    print(f"== {machine.name}, Python {facts['python']}, target {facts['target']}", flush=True)
    results = BUILD / f"{environment.name}-{facts['target']}.xml"
    passed: Counter[str] = Counter()
    skipped = 0
    began = time.monotonic()
    pytest = [str(python), "-m", "pytest", "-q", "-n", "2", "--dist", "worksteal", "-p", "no:cacheprovider"]
    tests = () if environment.is_another_python else _DIVIDING
    enumerations = ["tests/exhaustive", "-m", "exhaustive", f"--one-in={one_in}"]
    for chosen in tests, enumerations:
        run([*pytest, f"--junit-xml={results}", *chosen], cwd=ROOT, env=variables)
        for case in ElementTree.parse(results).iter("testcase"):
            if case.find("skipped") is not None:
                skipped += 1
            else:
                folder = "/".join(case.attrib["classname"].split(".")[:2])
                passed[folder if folder in _DIVIDING or chosen is enumerations else _OTHERS] += 1
    return Record(
        environment=environment.name,
        processor=machine.name,
        emulator=first_line(machine.emulator) if machine.emulator else "",
        machine=processor(),
        python=facts["python"],
        numpy=facts["numpy"],
        compiler=first_line(environment.compiler),
        target=facts["target"],
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        sources=digest(),
        passed=dict(passed),
        skipped=skipped,
        one_in=one_in,
        seconds=round(time.monotonic() - began),
    )


def _facts(python: Path, variables: dict[str, str] | None = None) -> dict[str, Any]:
    program = """
import json, numpy, platform, sys
from vinculum.kernels import backend, backends
threads = ", free-threaded" if "t" in getattr(sys, "abiflags", "") else ""
facts = {"python": platform.python_version() + threads, "numpy": numpy.__version__, "target": backend().name}
print(json.dumps(facts | {"targets": [each.name for each in backends()]}))
"""
    command = [str(python), "-c", program]
    done = subprocess.run(
        command, cwd=BUILD, env=variables or own_variables(), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise CrossError(f"{python} does not divide: {(done.stderr.strip().splitlines() or ['it says nothing'])[-1]}")
    facts: dict[str, Any] = json.loads(done.stdout)
    return facts
