"""An OpenVINO IR, which OpenVINO reads and runs in a process of its own, except its divisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from vinculum.errors import BroadcastError, ModelError
from vinculum.models.engines.openvino.process import CutProcess, check_installed
from vinculum.models.engines.openvino.reading import Described
from vinculum.models.execution import RunContext
from vinculum.models.model import Model
from vinculum.ops.openvino import divide
from vinculum.text import quoted


def read_openvino_ir(content: bytes, file: Path) -> Model:
    """Return the model of an IR file, given its XML; its data is beside it, in a ``.bin`` of the same name.

    Errors are as in `vinculum.load`.
    """
    check_installed("an OpenVINO IR")
    program = CutProgram(content, file.with_suffix(".bin"))
    read = program.described
    return Model(read.inputs, read.outputs, read.divisions, program, read.inner_divisions)


class CutProgram:
    """An IR in OpenVINO.

    - `content`: of the ``.xml``.
    - `data`: the path of the ``.bin``.
    """

    def __init__(self, content: bytes, data: Path) -> None:
        self._arguments = content, data.absolute()
        self._process = CutProcess(*self._arguments)
        self.described: Described = self._process.call("described")

    def execute(self, arrays: Mapping[str, Any], execution: RunContext) -> dict[str, Any]:
        """Return the outputs for validated inputs."""

        def quotient(number: int, dividend: NDArray[Any], divisor: NDArray[Any]) -> NDArray[Any]:
            options: dict[str, Any] = {**self.described.attributes[number], **asdict(execution.policies)}
            division = self.described.divisions[number]
            return execution.divide(division, dividend, divisor, lambda a, b: divide(a, b, **options))

        self._check_bounds(arrays)
        results = self._process.run(arrays, quotient)
        return {output.name: array for output, array in zip(self.described.outputs, results, strict=True)}

    def prepare(self) -> None:
        """Let OpenVINO compile the model."""
        self._process.call("prepare")

    def read_data(self) -> None:
        """Do nothing: OpenVINO maps the ``.bin`` for as long as its process lives."""

    def in_engine(self, engine: str) -> CutProgram:
        """Return the program itself; refuse ONNX Runtime, which reads no IR."""
        if engine == "onnxruntime":
            raise ModelError(
                "the engine 'onnxruntime' runs ONNX models only; run the OpenVINO model with the engine 'reference' or "
                "'openvino'"
            )
        return self

    def _check_bounds(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Refuse an array whose shape is outside of the bounds that the model declares."""
        for tensor, bounds in zip(self.described.inputs, self.described.bounds, strict=True):
            shape = arrays[tensor.name].shape
            for axis, ((low, high), size) in enumerate(zip(bounds or (), shape, strict=False)):
                if size < low or (high is not None and size > high):
                    declared = f"{low} to {'any' if high is None else high}"
                    raise BroadcastError(
                        f"input {quoted(tensor.name)} has shape {shape}; dimension {axis} must be {declared}"
                    )

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without OpenVINO's process."""
        return {name: value for name, value in vars(self).items() if name != "_process"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickle; OpenVINO's process starts at the next run."""
        vars(self).update(state, _process=CutProcess(*state["_arguments"]))
