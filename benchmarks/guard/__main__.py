"""Count the instructions of each cell under callgrind and compare them with what is expected.

A jump that a processor predicts wrongly counts as many: callgrind imitates the prediction too.

The backend is that of processors of 2013, which callgrind can imitate on any later one, so that the counts do not
depend on the machine. They do depend on the compiler, Python and NumPy, whose versions are kept with them.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parent
EXPECTED = HERE / "expected.json"
# More than the difference between two runs of the same code, which the addresses of arrays bring about.
TOLERANCE = 0.04

ENVIRONMENT = {"VINCULUM_BACKEND": "x86-64-v3", "PYTHONHASHSEED": "0"}
DUMP = re.compile(
    r"^desc: Trigger: Client Request: (?P<cell>.+)\|(?P<repeats>\d+)$.*?^events: (?P<events>.+?)$.*?"
    r"^totals: (?P<totals>[\d ]+)$",
    re.M | re.S,
)
# By callgrind's names, and how many instructions a processor could do in the time.
COSTS = {"Ir": 1, "Bcm": 20, "Bim": 20}


def versions() -> dict[str, str]:
    """Return the versions that the counts depend on."""
    return {
        "Python": sysconfig.get_python_version(),
        "NumPy": ".".join(np.__version__.split(".")[:2]),
        "gcc": run(["gcc", "-dumpversion"], stdout=subprocess.PIPE).strip(),
        "machine": platform.machine(),
    }


def count(folder: Path) -> dict[str, int]:
    """Return the instructions of one call of each cell, those lost to wrong predictions included."""
    marks, counts = folder / "marks.so", folder / "counts"
    counts.mkdir()
    run(["gcc", "-O1", "-shared", "-fPIC", "-o", str(marks), str(HERE / "marks.c")])
    program = [sys.executable, "-m", "benchmarks.guard.cells"]
    callgrind = ["valgrind", "--tool=callgrind", "--branch-sim=yes", "--quiet", "--instr-atstart=no"]
    run([*callgrind, f"--callgrind-out-file={counts}/%p", *program, str(marks)])
    found = (DUMP.search(file.read_text()) for file in counts.iterdir())
    return {dump["cell"]: round(cost(dump) / int(dump["repeats"])) for dump in found if dump}


def cost(dump: re.Match[str]) -> int:
    """Return the instructions that a dump of callgrind's stands for."""
    counted = zip(dump["events"].split(), dump["totals"].split(), strict=True)
    return sum(COSTS.get(event, 0) * int(total) for event, total in counted)


def run(command: list[str], stdout: int | None = None) -> str:
    """Run a program and return its output, if that is asked for; end with one line if it is missing or fails."""
    try:
        done = subprocess.run(
            command, check=True, env=os.environ | ENVIRONMENT, cwd=HERE.parents[1], stdout=stdout, text=True
        )
    except FileNotFoundError:
        sys.exit(f"{command[0]} is missing; on Debian: apt install valgrind gcc")
    except subprocess.CalledProcessError as error:
        sys.exit(f"{command[0]} ended with exit code {error.returncode}")
    return done.stdout or ""


def judge(counts: dict[str, int], expected: dict[str, int], console: Console) -> bool:
    """Print the cells that changed; return whether none takes more instructions than is expected."""
    table = Table("cell", "expected", "counted", "change", title="instructions a call")
    slower = False
    for cell in sorted({*counts, *expected}):
        before, now = expected.get(cell), counts.get(cell)
        change = None if before is None or now is None else now / before - 1
        if change is not None and abs(change) <= TOLERANCE:
            continue
        slower |= change is None or change > 0
        verdict = "not on both sides" if change is None else f"{change:+.1%}"
        table.add_row(cell, *("" if n is None else f"{n:,}" for n in (before, now)), verdict)
    if table.row_count:
        console.print(table)
    return not slower


def main(
    record: Annotated[bool, typer.Option("--record", help="Keep what is counted as what is expected.")] = False,
) -> None:
    """Count instructions; exit code 1 if a cell takes more of them than is expected, and the cell is named."""
    console = Console()
    with tempfile.TemporaryDirectory() as folder:
        counts = count(Path(folder))
    if record:
        EXPECTED.write_text(json.dumps({"versions": versions(), "instructions": counts}, indent=1) + "\n")
        console.print(f"{len(counts)} cells recorded")
        return
    kept = json.loads(EXPECTED.read_text())
    if kept["versions"] != versions():
        console.print(f"expected of {kept['versions']}; these are {versions()}: counts may differ for that alone")
    if not judge(counts, kept["instructions"], console):
        console.print("slower: mend it, or record what is expected from now on with `make bench-guard RECORD=--record`")
        raise typer.Exit(1)
    console.print(f"{len(counts)} cells, none slower than is expected")


if __name__ == "__main__":
    typer.run(main)
