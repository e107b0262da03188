"""Kernels compiled for lesser processors: without AVX-512, without AVX2, without conversions of binary16."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import pytest

from tests.kernels.comparing import DTYPES
from tests.kernels.processes import environment, run
from tests.kernels.samples import Loops, digests

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="names processors of the x86-64 family, whose code only they run"
)

# Those whose rules are chosen by what the processor has, and one of each other kind of rule.
SOME = ("float16", "bfloat16", "int16", "uint32", "int64")


@pytest.mark.clause("ieee-754")
@pytest.mark.clause("truncating-division")
class TestProcessors:
    """The quotients are the same bits on every processor."""

    @pytest.mark.parametrize(
        ("processor", "loops", "names"),
        [("x86-64", "truncating flat", SOME), ("haswell", "truncating flat", ("int64",))],
    )
    def test_same_bits(self, processor: str, loops: Loops, names: tuple[str, ...], tmp_path: Path) -> None:
        other = environment(tmp_path, NUMBA_CPU_NAME=processor, NUMBA_CPU_FEATURES="")
        assert json.loads(run(["-m", "tests.kernels.samples", loops, *names], other)) == digests(names, loops)

    @pytest.mark.parametrize("processor", ["x86-64", "nehalem", "ivybridge", "haswell"])
    @pytest.mark.exhaustive
    def test_same_bits_through_every_loop(self, processor: str, tmp_path: Path) -> None:
        self.test_same_bits(processor, "every", tuple(DTYPES), tmp_path)
