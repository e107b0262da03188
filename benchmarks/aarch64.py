"""How many instructions a quotient takes on AArch64: ``python -m benchmarks.aarch64`` counts them under an emulator.

On Debian: apt install qemu-user-static g++-aarch64-linux-gnu.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

CORE = Path(__file__).parents[1] / "src" / "vinculum" / "kernels" / "core"
# As meson.build has them.
OPTIONS = ["-std=c++20", "-O3", "-ffp-contract=off", "-fno-trapping-math", "-fno-math-errno", "-static"]
COMPILER, EMULATOR = "aarch64-linux-gnu-g++", "qemu-aarch64-static"
# Elements that are counted: the difference between one division of twice as many and one of so many.
COUNTED = 1024

# Divides each element type, truncating, by as many divisors and by one. What is divided first warms nothing: each call
# takes the same instructions.
DRIVER = """
#include <cstdio>
#include "nest.hpp"
using namespace vinculum;
alignas(64) static unsigned char A[1 << 16], B[1 << 16], C[1 << 16];
extern "C" __attribute__((noinline)) void mark() { __asm__ volatile(""); }
template <class T> void fill(T smallest, T step) {
    for (int i = 0; i < 2048; i++) ((T*)A)[i] = smallest + T(i % 512) * step, ((T*)B)[i] = smallest + T(i % 64) * step;
}
int main() {
    int count;
    const Target* target = targets(count);
    const struct { const char* name; Element element; int size; } TYPES[] = {
        {"int8", Element::int8, 1}, {"uint8", Element::uint8, 1}, {"int16", Element::int16, 2},
        {"uint16", Element::uint16, 2}, {"int32", Element::int32, 4}, {"uint32", Element::uint32, 4},
        {"int64", Element::int64, 8}, {"uint64", Element::uint64, 8}, {"float16", Element::float16, 2},
        {"bfloat16", Element::bfloat16, 2}, {"float32", Element::float32, 4}, {"float64", Element::float64, 8}};
    for (const auto& type : TYPES) {
        const bool is_plain = type.element == Element::float32 || type.element == Element::float64;
        for (unsigned i = 0, x = 1; i < sizeof A; i++) x = x * 1664525u + 1013904223u, A[i] = x >> 24, B[i] = x >> 16;
        for (unsigned i = 0; i < sizeof B; i += type.size) B[i] |= 1;
        if (type.element == Element::float16) fill<unsigned short>(0x3C00, 1);
        if (type.element == Element::bfloat16) fill<unsigned short>(0x3F80, 1);
        if (type.element == Element::float32) fill<float>(1, 1);
        if (type.element == Element::float64) fill<double>(1, 1);
        for (const int step : {type.size, 0}) {
            for (const std::int64_t n : {COUNTED, 2 * COUNTED}) {
                Task task = {};
                task.kernel = target->kernel(type.element, Operation::truncating);
                task.a = (char*)A, task.b = (char*)B, task.c = (char*)C;
                task.depth = 1, task.nest[0] = {n, type.size, step, type.size};
                task.settled = ZERO_DIVISORS;
                cut_into_blocks(task, type.size, Memory::given, !is_plain);
                task.claims.offer(0, task.blocks, 1);
                mark();
                task.kernel(task);
                mark();
            }
        }
        std::puts(type.name);
    }
}
"""


def main() -> None:
    """Print a row for each element type."""
    table = Table("element type", "equal shapes", "by one divisor", title="instructions an element, AArch64")
    try:
        with tempfile.TemporaryDirectory() as folder:
            for name, equal, repeated in _counted(Path(folder)):
                table.add_row(name, f"{equal:.1f}", f"{repeated:.1f}")
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"{error}: on Debian, apt install qemu-user-static g++-aarch64-linux-gnu")
    Console().print(table)


def _counted(folder: Path) -> Iterator[tuple[str, float, float]]:
    driver, program, log = folder / "driver.cpp", folder / "program", folder / "log"
    driver.write_text(DRIVER.replace("COUNTED", f"std::int64_t({COUNTED})"), encoding="ascii")
    defined = ["-DVINCULUM_HAS_baseline", "-DVINCULUM_KERNELS=kernels_baseline", f"-I{CORE}"]
    sources = [CORE / "kernels.cpp", CORE / "targets.cpp", driver]
    subprocess.run([COMPILER, *OPTIONS, *defined, *sources, "-o", program], check=True)
    names = _output([EMULATOR, "-singlestep", "-d", "exec,nochain", "-D", log, program]).split()
    (symbol,) = (line.split()[0] for line in _output(["nm", program]).splitlines() if line.endswith(" mark"))
    with log.open(encoding="ascii") as lines:
        counts = per_element(lines, symbol)
    yield from zip(names, counts[::2], counts[1::2], strict=True)


def per_element(log: Iterable[str], mark: str) -> list[float]:
    """Return how many more instructions each division of twice as many elements takes than the one before, an element.

    Parameters
    ----------
    log : iterable of str
        The emulator's: a line for each instruction, whose address stands after the first stroke.
    mark : str
        The address of what is called before and after each division.
    """
    marks = [i for i, line in enumerate(log) if line.split("/", 2)[1:2] == [mark]]
    calls = [end - start for start, end in zip(marks[::2], marks[1::2], strict=True)]
    return [(twice - once) / COUNTED for once, twice in zip(calls[::2], calls[1::2], strict=True)]


def _output(command: list[str | Path]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
