"""The cost of a division on microcontrollers: ``python -m tests.machine.proofs.sonnx_c_costs build/sonnx-c``.

The table, which is in docs/reference/safety-manual.md, has the instructions that an emulator executes for one more
element, including the compiler's routines, over all pairs of some operands; and the bytes of code and of stack.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from tests.kernels.comparing import DTYPES, FLOATS, encodings
from tests.machine.proofs.sonnx_c_program import C_NAMES, NAMES
from tests.machine.proofs.sonnx_c_targets import MICROCONTROLLERS, Target
from tests.processes import output_of

# The compiler of the table in the manual.
COMPILER_VERSION = "12.2"
# The element type and the call for n elements, by the name in the table.
CALLS = {
    **{name: (name, f"sonnx_div_{C_NAMES.get(name, name)}(x, y, z, n)") for name in NAMES},
    "int32, checked": ("int32", "(void)sonnx_div_checked_int32(x, y, z, n)"),
    "int32, broadcast": ("int32", "vinculum_div_broadcast_int32(x, y, z, 1, n, shape, step, step, coordinates)"),
}
_HEAD = """\
#include <string.h>
#include "sonnx_div.h"
static const int64_t step[] = {1};
static int64_t shape[1], coordinates[1];
__attribute__((noinline)) void mark(void) { __asm__ volatile(""); }
"""
# Each pair is divided once and then twice, between marks, by a call that the compiler cannot optimise.
_MEASURED = """
static void call_{i}(const {type} *x, const {type} *y, {type} *z, int64_t n) {{ shape[0] = n; {call}; }}
static void measure_{i}(void) {{
  static const {word} values[] = {{{values}}};
  void (*volatile divide)(const {type} *, const {type} *, {type} *, int64_t) = call_{i};
  {type} x[2], y[2], z[2];
  for (unsigned i = 0; i < {count}; i++)
    for (unsigned k = 0; k < {count}; k++) {{
      for (unsigned p = 0; p < 2; p++) memcpy(&x[p], &values[i], sizeof *x), memcpy(&y[p], &values[k], sizeof *y);
      mark(); divide(x, y, z, 1); mark(); divide(x, y, z, 2); mark();
    }}
}}
"""


def table(sources: Sequence[Path], folder: Path) -> str:
    """Return the costs on each microcontroller as a table in Markdown; compile in the folder."""
    columns = [_costs(target, sources, folder) for target in MICROCONTROLLERS.values()]
    rows = [["", *MICROCONTROLLERS], ["---"] * (1 + len(columns))]
    rows += ([name, *(column[name] for column in columns)] for name in columns[0])
    return "".join(f"| {' | '.join(row)} |\n".replace("|  |", "| |") for row in rows)


def _costs(target: Target, sources: Sequence[Path], folder: Path) -> dict[str, str]:
    objects = target.library(sources, folder, "-fstack-usage")
    sizes = output_of(["size", *objects]).splitlines()[1:]
    costs = {
        "code of all types, bytes": str(sum(int(line.split()[0]) for line in sizes)),
        "stack, bytes": str(max(_stack(made.with_suffix(".su")) for made in objects)),
    }
    main = folder / "costs.c"
    parts = (_measured(i, *call) for i, call in enumerate(CALLS.values()))
    calls = "".join(f"measure_{i}();" for i in range(len(CALLS)))
    main.write_text(f"{_HEAD}{''.join(parts)}int main(void) {{ {calls} return 0; }}\n", encoding="utf-8")
    made = target.program(main, sources[0].parent, objects)
    counts = _between_marks(target, made)
    for name, (element_type, _) in CALLS.items():
        pairs = list(itertools.islice(counts, _values(element_type).size ** 2))
        more = [twice - once for once, twice in pairs]
        costs[name] = f"{min(more)} to {max(more)}" if min(more) < max(more) else str(min(more))
    assert next(counts, None) is None
    return costs


def _stack(usage: Path) -> int:
    """Return an upper bound for a chain of calls: the largest public function and all private ones."""
    sizes: dict[bool, list[int]] = {True: [0], False: [0]}
    for place, size, kind in (line.split("\t") for line in usage.read_text("utf-8").splitlines()):
        assert kind == "static"
        sizes[place.rpartition(":")[2].startswith(("sonnx_", "vinculum_"))].append(int(size))
    return max(sizes[True]) + sum(sizes[False])


def _measured(i: int, element_type: str, call: str) -> str:
    values = encodings(_values(element_type)).tolist()
    return _MEASURED.format(
        i=i,
        call=call,
        type=C_NAMES.get(element_type, f"{element_type}_t"),
        word=f"uint{8 * DTYPES[element_type].itemsize}_t",
        values=", ".join(f"UINT64_C({bits:#x})" if bits >> 32 else hex(bits) for bits in values),
        count=len(values),
    )


def _values(element_type: str) -> np.ndarray:
    """Return operands of a type; without 0 and MIN of integers, so that each pair has a quotient."""
    dtype = DTYPES[element_type]
    if element_type in FLOATS:
        limits = np.finfo(dtype)
        small = (limits.smallest_subnormal, limits.smallest_normal - limits.smallest_subnormal, limits.smallest_normal)
        return np.array([0, *small, dtype.type(1) / 3, 1, 10, limits.max, np.inf, np.nan], dtype)
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    signed = (least + 1, -1) if least else ()
    return np.array([1, 3, 10, (1 << dtype.itemsize * 4) + 1, most // 3, most, *signed], dtype)


def _between_marks(target: Target, made: Path) -> Iterator[tuple[int, int]]:
    """Run the program, and yield for each pair the number of instructions of one division, and of two."""
    (symbol,) = [line.split()[0] for line in output_of(["nm", made]).splitlines() if line.split()[-1] == "mark"]
    mark = f"{int(symbol, 16) & ~1:08x}"  # an odd address means Thumb
    log = made.with_suffix(".log")
    output_of([*target.emulator, "-singlestep", "-d", "exec,nochain", "-D", log, made])
    # The log has a line for each instruction, with its address after the first slash.
    with log.open(encoding="ascii") as lines:
        marks = [i for i, line in enumerate(lines) if line.split("/", 2)[1] == mark]
    log.unlink()
    yield from (
        (once - start, twice - once) for start, once, twice in zip(*(marks[k::3] for k in range(3)), strict=True)
    )


def main() -> None:
    """Print the table for the sources in the given folder."""
    with tempfile.TemporaryDirectory() as folder:
        print(table(sorted(Path(sys.argv[1]).resolve().glob("*.c")), Path(folder)), end="")


if __name__ == "__main__":
    main()
