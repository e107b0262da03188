"""The extracted C library gives what `vinculum.reference` gives, and writes nothing else."""

from __future__ import annotations

import os
from hashlib import sha256
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from proofs.checking.extraction import C_FILES, COMPILER, PROOFS
from tests.cases import case
from tests.kernels.comparing import DTYPES, assert_same
from tests.machine.proofs.sonnx_c_library import C_NAMES, Guarded, SonnxC, require_compiler
from tests.machine.proofs.sonnx_c_operands import INTEGERS, NAMES, SHAPES, divisible, pairs
from tests.processes import output_of, run
from vinculum import reference
from vinculum.spec.element_types import by_numpy_name
from vinculum.spec.model import IntegerRounding

Array = npt.NDArray[Any]
ROUNDINGS = {"sonnx_div": IntegerRounding.TRUNCATING, "vinculum_floor_div": IntegerRounding.FLOOR}
SAME_SHAPE = [(function, name) for function in ROUNDINGS for name in NAMES if "floor" not in function or "int" in name]


@pytest.fixture(scope="session")
def sonnx_c(sources: list[Path], tmp_path_factory: pytest.TempPathFactory) -> SonnxC:
    """Return the library, built once."""
    return SonnxC(tmp_path_factory.mktemp("sonnx-c-native"), sources)


def exact(a: Array, b: Array, rounding: IntegerRounding = IntegerRounding.TRUNCATING) -> Array:
    return reference.divide(a, b, by_numpy_name(a.dtype.name), rounding=rounding)


class TestSameShape:
    """SONNX Div, [C1]: one position serves for both operands and the result."""

    @pytest.mark.parametrize(("function", "name"), SAME_SHAPE)
    def test_every_quotient_is_the_exact_one(self, sonnx_c: SonnxC, function: str, name: str) -> None:
        a, b = divisible(name)
        before = a.copy(), b.copy()
        c = Guarded(a.shape, a.dtype)
        sonnx_c(function, name, a, b, c.array, a.size)
        assert_same(c.array, exact(a, b, ROUNDINGS[function]))
        assert c.intact()
        for operand, copy in zip((a, b), before, strict=True):
            assert operand.tobytes() == copy.tobytes()

    @pytest.mark.parametrize("name", NAMES)
    def test_in_place(self, sonnx_c: SonnxC, name: str) -> None:
        a, b = divisible(name)
        quotients = Guarded(a.shape, a.dtype)
        quotients.array[:] = a
        sonnx_c("sonnx_div_in_place", name, quotients.array, b, a.size)
        assert_same(quotients.array, exact(a, b))
        assert quotients.intact()

    @pytest.mark.parametrize("name", NAMES)
    def test_only_n_elements_are_written(self, sonnx_c: SonnxC, name: str) -> None:
        a, b = (x[-10:] for x in divisible(name))
        for n in range(11):
            c = Guarded((10,), a.dtype)
            untouched = c.array[n:].tobytes()
            sonnx_c("sonnx_div", name, a, b, c.array, n)
            assert_same(c.array[:n], exact(a[:n], b[:n]))
            assert c.array[n:].tobytes() == untouched
            assert c.intact()


class TestDomain:
    """SONNX Div (int), [C3] and [V1]: the first violation is found, and where there is none, that is said."""

    @pytest.mark.parametrize("name", INTEGERS)
    def test_of_each_pair(self, sonnx_c: SonnxC, name: str) -> None:
        limits = np.iinfo(DTYPES[name])
        a, b = pairs(name)
        last = (limits.min, -1 if limits.min else 0)
        # A neighbour of one sort: the pair itself, followed by one that violates.
        for dividend, divisor in (*zip(a[::37].tolist(), b[::37].tolist(), strict=True), last):
            outside = divisor == 0 or (limits.min < 0 and (dividend, divisor) == (limits.min, -1))
            x, y = np.array([1, dividend, 1], a.dtype), np.array([1, divisor, 0], a.dtype)
            assert self._first(sonnx_c, name, x, y, 3) == (1 if outside else 2)
            assert self._first(sonnx_c, name, x, y, 2) == (1 if outside else 2)
            assert self._first(sonnx_c, name, x, y, 1) == 1
            assert self._first(sonnx_c, name, x, y, 0) == 0

    @pytest.mark.parametrize("name", INTEGERS)
    def test_a_checked_division_stops_there(self, sonnx_c: SonnxC, name: str) -> None:
        """What comes before is divided, nothing is written from there on, and nothing traps."""
        a, b = divisible(name)
        least = np.iinfo(DTYPES[name]).min
        inside = np.flatnonzero(~((a == least) & (b == -1))) if least < 0 else np.arange(a.size)
        a, b = a[inside], b[inside]
        for first in (0, 1, 7, a.size - 1, a.size):
            for outside in ((1, 0), (0, 0), (least, -1))[: 3 if least < 0 else 2]:
                x, y = a.copy(), b.copy()
                x[first : first + 1], y[first : first + 1] = outside
                y[first + 5 :: 11] = 0
                c = Guarded(a.shape, a.dtype)
                untouched = c.array[first:].tobytes()
                assert sonnx_c("sonnx_div_checked", name, x, y, c.array, a.size) == first
                assert_same(c.array[:first], exact(a[:first], b[:first]))
                assert c.array[first:].tobytes() == untouched
                assert c.intact()

    @staticmethod
    def _first(sonnx_c: SonnxC, name: str, a: Array, b: Array, n: int) -> int:
        operands = (b,) if name.startswith("u") else (a, b)
        return sonnx_c("sonnx_div_first_violation", name, *operands, n)


class TestBroadcast:
    """Each operand is walked by its strides."""

    @staticmethod
    def _check(sonnx_c: SonnxC, function: str, a: Array, b: Array, a_walk: Array, b_walk: Array) -> None:
        """Divide operands that are walked as the two views of them are."""
        c = Guarded(a_walk.shape, a.dtype)
        shape = np.array(a_walk.shape, np.int64)
        strides = [np.array(walk.strides, np.int64) // walk.itemsize for walk in (a_walk, b_walk)]
        name = f"{function}_broadcast".replace("sonnx", "vinculum")
        coordinates = Guarded((max(0, shape.size - 1),), np.dtype(np.int64))
        sizes = shape.size, prod(a_walk.shape)
        sonnx_c(name, a.dtype.name, a, b, c.array, *sizes, shape, *strides, coordinates.array)
        assert coordinates.intact()
        assert_same(c.array, exact(a_walk.copy(), b_walk.copy(), ROUNDINGS[function]))
        assert c.intact()

    @pytest.mark.parametrize(("function", "name"), SAME_SHAPE)
    def test_shapes(self, sonnx_c: SonnxC, function: str, name: str) -> None:
        for shapes in SHAPES:
            with case(shapes):
                a, b = (x[::41].copy() for x in divisible(name))
                a, b = (np.resize(x, shape) for x, shape in zip((a, b), shapes, strict=True))
                output = np.broadcast_shapes(*shapes)
                self._check(sonnx_c, function, a, b, np.broadcast_to(a, output), np.broadcast_to(b, output))

    @pytest.mark.parametrize("name", NAMES)
    def test_equal_strides_walk_along_diagonals(self, sonnx_c: SonnxC, name: str) -> None:
        a, b = (x[:6] for x in divisible(name))
        walks = [np.lib.stride_tricks.sliding_window_view(x, 4) for x in (a, b)]
        assert walks[0].strides[0] == walks[0].strides[1]
        self._check(sonnx_c, "sonnx_div", a.copy(), b.copy(), *walks)


class TestLibrary:
    """What the header promises of the library itself."""

    def test_it_needs_no_other_library(self, sonnx_c: SonnxC) -> None:
        told = output_of(["nm", str(sonnx_c.static)])
        symbols = [line.split()[-2:] for line in told.splitlines() if line.strip() and not line.endswith(":")]
        kinds = {kind for kind, _ in symbols}
        assert kinds <= {"T", "t"}, "undefined symbols, or memory of its own"
        exported = {name for kind, name in symbols if kind == "T"}
        families = {"sonnx_div": 10, "sonnx_div_in_place": 10, "sonnx_div_first_violation": 8, "vinculum_first_zero": 8}
        families |= {"sonnx_div_checked": 8}
        families |= {"vinculum_floor_div": 8, "vinculum_div_broadcast": 10, "vinculum_floor_div_broadcast": 8}
        types = [C_NAMES.get(name, name) for name in NAMES]
        assert exported == {f"{family}_{name}" for family, count in families.items() for name in types[:count]}

    def test_no_function_calls_itself_or_allocates(self, sources: list[Path]) -> None:
        # In the extracted text every function is defined before its callers.
        for source in sources:
            text = source.read_text()
            assert "alloc" not in text
            assert [line for line in text.splitlines() if line.endswith(");") and line.startswith("static")] == []
        assert len(sources) == len(C_FILES)

    def test_it_is_the_one_whose_digests_are_stored(self, sources: list[Path]) -> None:
        """After a change: make rules."""
        stored = (PROOFS / "c" / "extracted.sha256").read_text("utf-8").split()
        made = {path.name: sha256(path.read_bytes()).hexdigest() for path in sources[0].parent.glob("*.[ch]")}
        assert dict(zip(stored[1::2], stored[::2], strict=True)) == made

    @pytest.mark.parametrize("flag", ["-ffast-math", "-ffinite-math-only", "-freciprocal-math", "-fno-signed-zeros"])
    def test_it_refuses_fast_math(self, sonnx_c: SonnxC, flag: str) -> None:
        assert "IEEE 754" in self._compiled('#include "contract.h"\n', "c", flag)
        assert self._compiled('#include "contract.h"\n', "c") == ""

    def test_excess_precision_is_refused_where_there_are_floats(self, sources: list[Path]) -> None:
        flags = ["-m32", "-mno-sse", "-mfpmath=387", "-std=c11", "-fsyntax-only", "-ffreestanding"]
        for source in sources:
            told = run([COMPILER, *flags, str(source)])
            floats = source.stem in ("float", "double")
            assert ("no excess precision" in told.stderr) == floats
            assert (told.returncode != 0) == floats

    def test_operations_of_float16_are_accepted_and_change_nothing(self, sources: list[Path]) -> None:
        """GCC's dialects call the same evaluation 16 then, where ``-std=c11`` calls it 0."""
        command = [COMPILER, "-march=sapphirerapids", "-ffreestanding", "-O2"]
        method = run([*command, "-std=gnu11", "-E", "-"], input="#include <float.h>\nFLT_EVAL_METHOD").stdout
        assert method.split()[-1] == "16"
        for source in sources:
            dialect, standard = (
                output_of([*command, f"-std={name}", "-S", "-o", "-", source]) for name in ("gnu11", "c11")
            )
            assert dialect == standard

    def test_pkg_config_finds_it(self, request: pytest.FixtureRequest, sonnx_c: SonnxC) -> None:
        require_compiler(request, "pkg-config")
        folder = str(sonnx_c.static.parent)
        ask = ["pkg-config", "sonnx_div"]
        environment = {**os.environ, "PKG_CONFIG_PATH": folder}
        flags = output_of([*ask, "--cflags", "--libs"], env=environment)
        assert flags.split() == [f"-I{folder}", f"-L{folder}", "-lsonnx_div"]
        assert output_of([*ask, "--modversion"], env=environment).strip() == "2.0"

    def test_cpp_takes_the_header(self, sonnx_c: SonnxC) -> None:
        assert self._compiled('#include "sonnx_div.h"\n#include "sonnx_div.h"\n', "c++") == ""

    @staticmethod
    def _compiled(text: str, language: str, *flags: str) -> str:
        command = ["gcc", "-x", language, "-Wall", "-Wextra", "-Werror", "-pedantic", *flags, "-I", str(PROOFS / "c")]
        standard = "-std=c11" if language == "c" else "-std=c++11"
        told = run([*command, standard, "-fsyntax-only", "-"], input=text)
        assert (told.returncode == 0) == (told.stderr == "")
        return str(told.stderr)
