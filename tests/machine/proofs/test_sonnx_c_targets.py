"""The extracted C library on processors of 32 bits, emulated: the same quotients without a system below them.

On Debian: ``apt install gcc-arm-linux-gnueabihf gcc-riscv64-unknown-elf qemu-user-static``. The first takes
gcc-multilib away, which other tests need, so that CI has none of the three.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from proofs.checking.extraction import FLAGS
from tests.machine.proofs.sonnx_c_library import extracted
from tests.machine.proofs.sonnx_c_program import program
from tests.processes import output_of, run

BARE = Path(__file__).with_name("bare")
EXAMPLE = Path(__file__).parents[3] / "examples" / "microcontroller" / "main.c"


@dataclass(frozen=True)
class Target:
    """A processor: its compiler, the flags that choose it, and its emulator; both under any of several names.

    Attributes
    ----------
    compilers, emulators : tuple of str
        Their names, of which the first that is installed counts.
    flags : tuple of str
        What chooses the processor.
    routines : frozenset of str
        What the compiler may call beside the library: division of integers or floats that the processor lacks.
    """

    compilers: tuple[str, ...]
    flags: tuple[str, ...]
    emulators: tuple[str, ...]
    routines: frozenset[str]


_ARM = frozenset(f"__aeabi_{name}" for name in ("idiv", "uidiv", "idivmod", "uidivmod", "ldivmod", "uldivmod"))
_RISC_V = frozenset(f"__{name}" for name in ("divdi3", "moddi3", "udivdi3", "divsf3", "divdf3"))
TARGETS = {
    "ARMv7": Target(
        ("arm-linux-gnueabihf-gcc", "arm-linux-gnueabihf-gcc-12"),
        ("-march=armv7-a+vfpv3", "-mfloat-abi=hard"),
        ("qemu-arm-static", "qemu-arm"),
        _ARM,
    ),
    "RV32 without floats": Target(
        ("riscv64-unknown-elf-gcc",),
        ("-march=rv32imac", "-mabi=ilp32"),
        ("qemu-riscv32-static", "qemu-riscv32"),
        _RISC_V,
    ),
}


def first_of(names: tuple[str, ...]) -> str:
    """Return the path of the first program that is installed, or skip the test."""
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip(f"optional everywhere: {names[0]} is not installed")
    return found


@pytest.mark.usefixtures("provers_or_skip")
@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
class TestTargets:
    """Compiled without a warning, linked without a library of C, run in an emulator."""

    def test_the_same_quotients(self, target: Target, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
        compiler, emulator = first_of(target.compilers), first_of(target.emulators)
        sources = extracted(tmp_path_factory)
        objects = self._compiled(compiler, target, sources, tmp_path)
        (tmp_path / "main.c").write_text(program(), encoding="utf-8")
        for main in (tmp_path / "main.c", EXAMPLE):
            made = tmp_path / "program"
            # Nobody sets RISC-V's global pointer, by which a linker would shorten addresses.
            flags = [
                "-O2",
                "-ffreestanding",
                "-fno-tree-loop-distribute-patterns",
                "-nostdlib",
                "-static",
                "-Wl,--no-relax",
            ]
            headers = [f"-I{folder}" for folder in (BARE, sources[0].parent)]
            output_of([compiler, *target.flags, *flags, *headers, main, BARE / "bare.c", *objects, "-lgcc", "-o", made])
            assert run([emulator, str(made)]).returncode == 0

    def test_nothing_but_division_is_called(
        self, target: Target, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        compiler = first_of(target.compilers)
        made = self._compiled(compiler, target, extracted(tmp_path_factory), tmp_path)
        told = output_of([compiler.rpartition("gcc")[0] + "nm", "-u", *made])
        called = {line.split()[1] for line in told.splitlines() if line.split()[:1] == ["U"]}
        assert called <= target.routines

    @staticmethod
    def _compiled(compiler: str, target: Target, sources: list[Path], folder: Path) -> list[Path]:
        objects = [folder / f"{source.stem}.o" for source in sources]
        for source, made in zip(sources, objects, strict=True):
            output_of([compiler, *target.flags, *FLAGS, "-c", source, "-o", made])
        return objects
