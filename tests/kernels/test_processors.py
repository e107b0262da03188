"""Kernels compiled for lesser processors: without AVX-512, without AVX2, without conversions of binary16."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import pytest

from tests.kernels.comparing import DTYPES
from tests.kernels.compiled_cache import own_cache
from tests.kernels.samples import Loops, digests
from tests.processes import LIMIT, output_of, python

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="names processors of the x86-64 family, whose code only they run"
)

# Those whose rules are chosen by what the processor has, and one that is not; each takes seconds to compile.
SOME = ("float16", "uint32", "int64")


@pytest.mark.clause("ieee-754")
@pytest.mark.clause("truncating-division")
class TestProcessors:
    """The quotients are the same bits on every processor."""

    def test_same_bits(self, tmp_path: Path) -> None:
        self.check("x86-64", "truncating flat", SOME, own_cache(tmp_path))

    @staticmethod
    def check(
        processor: str, loops: Loops, names: tuple[str, ...], cache: dict[str, str], limit: float = LIMIT
    ) -> None:
        """Compare with the quotients of a process whose kernels are compiled for another processor."""
        program = (
            f"import json; from tests.kernels.samples import digests; print(json.dumps(digests({names}, {loops!r})))"
        )
        other = cache | {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": ""}
        assert json.loads(output_of(python(program), env=other, limit=limit)) == digests(names, loops)

    @pytest.mark.parametrize("processor", ["x86-64", "nehalem", "ivybridge", "haswell"])
    @pytest.mark.exhaustive
    def test_same_bits_through_every_loop(self, processor: str, tmp_path: Path) -> None:
        self.check(processor, "every", tuple(DTYPES), own_cache(tmp_path), limit=1200)
