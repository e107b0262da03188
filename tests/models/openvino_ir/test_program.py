"""How the layers of an IR file run."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np

from vinculum.models.engines.openvino.process import CutProgram
from vinculum.models.execution import RunContext
from vinculum.models.openvino_ir.program import ConvertStep, OpenvinoProgram, ParameterStep
from vinculum.ops.policies import Policies
from vinculum.spec.element_types import DOUBLE, FLOAT


class TestMemory:
    """A value is dropped after its last use: a long chain needs the memory of its largest link."""

    def test_a_chain(self) -> None:
        ports = [(str(number), "0") for number in range(21)]
        targets = [DOUBLE, FLOAT] * 10
        steps = [ConvertStep("convert", t, (a,), b) for t, a, b in zip(targets, ports[:-1], ports[1:], strict=True)]
        parameters = (ParameterStep("x", None, ports[0]),)
        other = CutProgram(b"", Path(), parameters, {}, {})
        program = OpenvinoProgram(parameters, {}, tuple(steps), {"y": ports[-1]}, other)
        array = np.ones(10**6, np.float32)
        tracemalloc.start()
        output = program.execute({"x": array}, RunContext(Policies()))["y"]
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert output.tolist() == array.tolist()
        assert peak < 6 * array.nbytes
