"""The compiled core: its instructions round as the proofs assume, and no two targets define the same symbol."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from tests.machine.building.disassembly import Instruction, computing, instructions, not_exact, objdump_or_skip
from tests.optional import program_or_skip, skip_or_fail
from tests.processes import output_of

ROOT = Path(__file__).parents[3]
# Where `make test` builds the core, and the library for ONNX Runtime.
BUILT = ROOT / "build" / "editable" / "src" / "vinculum" / "kernels" / "core"
BUILT_LIBRARY = BUILT.parents[1] / "onnxruntime" / "library"
# An instruction of each kind that must not occur, in the assembler's syntax, and some that may.
WRONG = (
    "vfmadd231ps %ymm1, %ymm2, %ymm3", "vfnmsub132sd %xmm1, %xmm2, %xmm3", "v4fmaddps (%rax), %zmm8, %zmm1",
    "rcpps %xmm1, %xmm2", "vrcpss %xmm1, %xmm2, %xmm3", "vrcp14pd %zmm1, %zmm2", "vrcp28ps %zmm1, %zmm2",
    "vrcpph %zmm1, %zmm2", "rsqrtss %xmm1, %xmm2", "vrsqrt14ps %zmm1, %zmm2", "vsqrtpd %ymm1, %ymm2",
    "vdivph %zmm1, %zmm2, %zmm3", "vdpbf16ps %zmm1, %zmm2, %zmm3", "vcvtneps2bf16 %zmm1, %ymm2",
    "cvtps2dq %xmm1, %xmm2", "fdivrp %st, %st(1)", "fldl (%rax)", "fmuls (%rax)",
)  # fmt: skip
RIGHT = (
    "divps %xmm1, %xmm2", "vdivsd (%rax), %xmm1, %xmm2", "vcvtuqq2pd %zmm1, %zmm2", "vcvtsi2sdl (%rax), %xmm1, %xmm2",
)  # fmt: skip
MOVING = (
    "vmovups (%rax), %zmm1", "push %rax", "vpabsd %zmm1, %zmm2", "vpermt2pd %zmm1, %zmm2, %zmm3", "xorps %xmm1, %xmm1",
)  # fmt: skip


@pytest.fixture(scope="module")
def kernels(request: pytest.FixtureRequest) -> dict[str, list[Instruction]]:
    """Return the instructions of the kernels, by target."""
    objdump_or_skip(request)
    found = {library.stem: instructions(library) for library in sorted(BUILT.glob("libkernels_*.a"))}
    if not found:
        skip_or_fail(request, "the compiled core: `make test` builds it where there is a compiler")
    return found


@pytest.fixture(scope="module")
def others(kernels: dict[str, list[Instruction]]) -> dict[str, list[Instruction]]:
    """Return the instructions of the other parts of the core."""
    found = {file.name: instructions(file) for file in BUILT.glob("_core.*.p/*.o")}
    assert len(found) >= len(("module", "pool", "targets"))
    return found


@pytest.fixture(scope="module", params=["core", "library"])
def core(request: pytest.FixtureRequest, kernels: dict[str, list[Instruction]]) -> list[Instruction]:
    """Return the instructions of the library that Python or ONNX Runtime loads, with those that the linker adds."""
    (library,) = BUILT.glob("_core.*.so") if request.param == "core" else BUILT_LIBRARY.glob("operators.*[lo]")
    return instructions(library)


class TestInstructions:
    """No fused multiply-add, no estimates, no x87."""

    def test_all_round_as_ieee_754_says(self, core: list[Instruction]) -> None:
        assert not_exact(core) == {}

    def test_each_target_divides_by_the_processor(self, kernels: dict[str, list[Instruction]]) -> None:
        """Otherwise nothing would have been checked."""
        for target, found in kernels.items():
            assert not_exact(found) == {}, target
            there = {mnemonic.removeprefix("v") for mnemonic in computing(found)}
            assert {"divss", "divps", "divsd", "divpd"} <= there, target

    def test_each_kind_is_recognised(self, request: pytest.FixtureRequest, tmp_path: Path) -> None:
        objdump_or_skip(request)
        program_or_skip(request, "as")
        given = (*WRONG, *RIGHT, *MOVING)
        (tmp_path / "all.s").write_text("".join(f"{text}\n" for text in given))
        output_of(["as", "-o", tmp_path / "all.o", tmp_path / "all.s"])
        for text, found in zip(given, instructions(tmp_path / "all.o"), strict=True):
            assert text.startswith(found.mnemonic)
            assert bool(computing([found])) == (text not in MOVING), text
            assert bool(not_exact([found])) == (text in WRONG), text


class TestEnvironment:
    """Compilers do not know that MXCSR changes results: they must move no computation across the switch."""

    def test_only_one_call_by_a_pointer_lies_between_the_switches(self, core: list[Instruction]) -> None:
        switches = [place for place, one in enumerate(core) if one.mnemonic.endswith("ldmxcsr")]
        assert switches
        assert len(switches) % 2 == 0
        for enters, restores in zip(switches[::2], switches[1::2], strict=True):
            between = core[enters + 1 : restores]
            calls = [one.operands for one in between if one.mnemonic.startswith("call")]
            assert len(calls) == 1
            assert calls[0].startswith("*")
            assert {one.mnemonic for one in between} <= {"call", "mov", "movl", "movq", "lea"}

    def test_the_kernels_switch_nothing(self, kernels: dict[str, list[Instruction]]) -> None:
        assert {target: [one for one in found if "mxcsr" in one.mnemonic] for target, found in kernels.items()} == {
            target: [] for target in kernels
        }

    def test_nothing_else_computes(self, others: dict[str, list[Instruction]]) -> None:
        assert {name: computing(found) for name, found in others.items()} == {name: {} for name in others}

    def test_kernels_are_reached_by_pointers_only(self, kernels: dict[str, list[Instruction]]) -> None:
        """The one named function returns a pointer and computes nothing; nothing runs when the core is loaded."""
        for target in kernels:
            library = BUILT / f"{target}.a"
            symbols = [
                line.split() for line in output_of(["nm", "--defined-only", "--format=posix", library]).splitlines()
            ]
            (name,) = (words[0] for words in symbols if len(words) > 1 and words[1] in "TW")
            assert target.removeprefix("lib") in name
            assert computing(instructions(library, name)) == {}
            assert ".init_array" not in output_of(["objdump", "--section-headers", library])


GLOBAL = "TDBRVWu"  # nm's letters for functions and data, and for weak and unique ones, of which one is kept


@pytest.fixture(scope="module")
def defined(request: pytest.FixtureRequest) -> dict[str, set[str]]:
    """Return the global symbols of each part: the kernels of each target, the module, and the library."""
    parts = {library.stem: [library] for library in BUILT.glob("libkernels_*.a")}
    program_or_skip(request, "nm")
    if not parts:
        pytest.skip("no core has been built by `make test` here")
    parts["the module"] = list(BUILT.glob("_core.*.p/*.o"))
    parts["the library"] = list(BUILT_LIBRARY.glob("*.p/operators.cpp.o"))
    return {name: {symbol for file in files for symbol in symbols_of(file)} for name, files in parts.items()}


def symbols_of(file: Path) -> set[str]:
    """Return the global symbols that an object file or a library defines."""
    lines = (line.split() for line in output_of(["nm", "--defined-only", "--format=posix", file]).splitlines())
    return {words[0] for words in lines if len(words) > 1 and words[1] in GLOBAL}


def test_no_symbol_is_defined_twice(defined: dict[str, set[str]]) -> None:
    """Of two definitions the linker keeps one, which may be compiled for another processor.

    This happens to functions and templates in headers that are not inlined, static or in the target's namespace.
    """
    assert all(defined.values())
    two = (pair for pair in combinations(defined, 2) if pair != ("the module", "the library"))  # never linked together
    both = {(one, other): defined[one] & defined[other] for one, other in two}
    assert {pair: sorted(symbols) for pair, symbols in both.items() if symbols} == {}
