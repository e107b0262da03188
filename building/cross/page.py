"""The page of platforms: ``python -m building.cross --record`` writes docs/reference/platforms.md from the records."""

from __future__ import annotations

from collections.abc import Iterable

from building.cross.environment import ROOT
from building.cross.running import Record, records

PAGE = ROOT / "docs" / "reference" / "platforms.md"
_PAGE = """\
# Platforms

<!-- Written by `make cross RECORD=--record` from building/cross/recorded. -->

Each row is one run of the tests of the kernels and of the operators, on other Pythons of all others too, and of a part
of the [enumerations](../explanation/proofs.md#what-is-tested-exhaustively). All passed. *Target* is the one in force;
tests of the kernels also try every other one that the processor has.

| processor | compiler | target | Python | NumPy | kernels | operators | others | enumerations | skipped | date | core |
|---|---|---|---|---|--:|--:|--:|---|--:|---|---|
{rows}

- *core* is the beginning of the SHA-256 of the sources that divide, `src/vinculum/kernels` and `meson.build`;
  `python -m building.cross --digest` prints that of a checkout.
- *skipped* counts tests that need PyTorch, or what this target does not promise.
{notes}

## What was not run

| what | what is known |
|---|---|
| Python 3.12 | Debian has none |
| free-threaded Python | Debian has none; the core needs no global lock, says so, and compiles with `Py_GIL_DISABLED` |
| AArch64 processors | only emulated |
| macOS, Windows | wheels are configured; clang is macOS's compiler too |
| MSVC | never compiled by it |
| musl | nothing; the onnx package has no wheels there |
| big-endian processors | never compiled |
| CUDA devices | the kernels' source is tested on the processor; CUDA's compiler takes it; no device has run it |
| models, checks, conformance and commands | run on x86-64 only, by `make test` and on other Pythons |

## How

`make cross` runs every target that the processor has, what clang compiles, AArch64 and the newest Python; `make
cross-all` runs more Pythons, and more of the enumerations. On Debian: `apt install qemu-user-static
g++-aarch64-linux-gnu clang`. Other Pythons are unpacked in `build/cross`; nothing is installed. `RECORD=--record`
writes this page again.
"""


def text(known: Iterable[Record]) -> str:
    """Return the page of these records."""
    known = list(known)
    notes = [f"- Run on {machine}." for machine in sorted({each.machine for each in known})]
    notes += [f"- Built by {compiler}." for compiler in sorted({each.compiler for each in known})]
    notes += [f"- Emulated by {emulator}." for emulator in sorted({each.emulator for each in known} - {""})]
    left_out = {(each.processor, path, why) for each in known for path, why in each.left_out.items()}
    notes += [f"- Left out on {processor}: `{path}`, which {why}." for processor, path, why in sorted(left_out)]
    return _PAGE.format(rows="\n".join(map(_row, known)), notes="\n".join(notes))


def write() -> None:
    """Write the page of what is recorded."""
    PAGE.write_text(text(records()), encoding="utf-8")


def _row(record: Record) -> str:
    cells = (
        f"{record.processor}, emulated" if record.emulator else record.processor,
        "clang" if "clang" in record.compiler else "GCC",
        f"`{record.target}`",
        record.python,
        record.numpy,
        f"{record.passed['tests/kernels']:,}",
        f"{record.passed['tests/ops']:,}",
        f"{record.passed.get('tests', 0):,}",
        f"{record.passed['tests/exhaustive']}, 1 part in {record.one_in}",
        str(record.skipped),
        record.date,
        f"`{record.sources[:12]}`",
    )
    return f"| {' | '.join(cells)} |"
