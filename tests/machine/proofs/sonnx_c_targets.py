"""The compilers and processors on which the extracted C library is tested; all but x86 are emulated.

On Debian: ``apt install gcc-multilib clang gcc-arm-none-eabi gcc-riscv64-unknown-elf qemu-user-static``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from proofs.checking.extraction import FLAGS
from tests.optional import program_or_skip, skip_or_fail
from tests.processes import output_of, run

BARE = Path(__file__).with_name("bare")


@dataclass(frozen=True)
class Target:
    """A compiler, and a processor that runs the programs."""

    compiler: tuple[str, ...]  # of the library
    linker: tuple[str, ...]  # compiles and links what calls it: GCC, with its routines
    emulator: tuple[str, ...] = ()  # runs a program; if empty, it runs here, with the system's C library
    # The compiler's routines that the library may call, for divisions that the processor lacks.
    routines: frozenset[str] = frozenset()

    def require(self, request: pytest.FixtureRequest) -> None:
        """Skip a test if one of the programs is missing, or fail it under ``--require-all``."""
        for command in (self.compiler, self.linker, self.emulator or self.linker):
            program_or_skip(request, command[0])
        if not self.emulator:
            empty = run([*self.linker, "-x", "c", "-", "-o", "/dev/null"], input="int main(void) { return 0; }")
            if empty.returncode != 0:
                skip_or_fail(request, f"{' '.join(self.linker)} that links: apt install gcc-multilib")

    def library(self, sources: Sequence[Path], folder: Path, *flags: str) -> list[Path]:
        """Compile the library without a warning, and return its objects."""
        objects = [folder / f"{source.stem}.o" for source in sources]
        for source, made in zip(sources, objects, strict=True):
            output_of([*self.compiler, *FLAGS, *flags, "-c", source, "-o", made], cwd=folder)
        return objects

    def program(self, main: Path, headers: Path, objects: Sequence[Path]) -> Path:
        """Compile a program and link it with the library, for emulators without a C library; return its path."""
        made = main.with_suffix("")
        parts: list[str | Path] = [f"-I{headers}", main, *objects]
        if self.emulator:
            # RISC-V's global pointer, by which the linker would shorten addresses, is not set.
            flags = ("-ffreestanding", "-fno-tree-loop-distribute-patterns", "-nostdlib", "-static", "-Wl,--no-relax")
            parts = [*flags, f"-I{BARE}", *parts, BARE / "bare.c", "-lgcc"]
        output_of([*self.linker, "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O2", *parts, "-o", made])
        return made


def _arm(processor: str, *floats: str, compiler: tuple[str, ...] = (), routines: Sequence[str] = ()) -> Target:
    """Return a processor of ARM; for programs, qemu 7.2 emulates no Cortex-M, but `max` has all their instructions."""
    chosen = (f"-mcpu=cortex-{processor}", "-mthumb", *floats)
    names = frozenset(f"__aeabi_{name}" for name in ("ldivmod", "uldivmod", *routines))
    gcc = ("arm-none-eabi-gcc", *chosen)
    return Target((*compiler, *chosen) if compiler else gcc, gcc, ("qemu-arm-static", "-cpu", "max"), names)


def _risc_v(processor: str, abi: str, *floats: str) -> Target:
    gcc = ("riscv64-unknown-elf-gcc", f"-march={processor}", f"-mabi={abi}")
    names = frozenset(f"__{name}" for name in ("divdi3", "moddi3", "udivdi3", *floats))
    return Target(gcc, gcc, ("qemu-riscv32-static",), names)


_SINGLE, _DOUBLE = ("-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"), ("-mfloat-abi=hard", "-mfpu=fpv5-d16")
_CLANG_FOR_ARM = ("clang", "--target=arm-none-eabi")
# A Cortex-M0 divides nothing, and multiplies 32 bits only.
_OF_M0 = ("idiv", "uidiv", "idivmod", "uidivmod", "lmul", "fdiv", "ddiv")
# x87 computes in excess precision, which contract.h refuses.
_BITS_32 = ("gcc", "-m32", "-msse2", "-mfpmath=sse", "-fno-pic", "-no-pie")
MICROCONTROLLERS = {
    "Cortex-M0": _arm("m0", routines=_OF_M0),
    "Cortex-M3": _arm("m3", routines=("fdiv", "ddiv")),
    "Cortex-M4F": _arm("m4", *_SINGLE, routines=("ddiv",)),
    "Cortex-M7": _arm("m7", *_DOUBLE),
    "RV32IMAC": _risc_v("rv32imac", "ilp32", "divsf3", "divdf3"),
}
TARGETS = {
    "Clang": Target(("clang",), ("gcc",)),
    "32 bits": Target(
        _BITS_32, _BITS_32, routines=frozenset(f"__{name}" for name in ("divdi3", "moddi3", "udivdi3", "divmoddi4"))
    ),
    "Cortex-A9": _arm("a9", "-mfloat-abi=hard", "-mfpu=vfpv3", routines=("idiv", "uidiv", "idivmod", "uidivmod")),
    **MICROCONTROLLERS,
    "RV32IMAFC": _risc_v("rv32imafc", "ilp32f", "divdf3"),
    "Cortex-M0, Clang": _arm("m0", compiler=_CLANG_FOR_ARM, routines=_OF_M0),
    "Cortex-M4F, Clang": _arm("m4", *_SINGLE, compiler=_CLANG_FOR_ARM, routines=("ddiv",)),
}
