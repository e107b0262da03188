"""Parts of an ONNX graph in OpenVINO, by its own reader of ONNX."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, helper, numpy_helper

from vinculum.errors import ModelError
from vinculum.models.engines import EngineRefusalError
from vinculum.models.engines.openvino.process import OpenVinoProcess, check_installed
from vinculum.models.execution import RunContext, settled_sizes
from vinculum.models.onnx.scopes import title
from vinculum.text import one_line, quoted

if TYPE_CHECKING:
    from vinculum.models.engines.openvino.partitioned import Piece

_MAKER = "vinculum.models.engines.openvino.children:Compiled"


@contextmanager
def refusals(nodes: Iterable[NodeProto]) -> Iterator[None]:
    """Turn an error about nodes into a ModelError."""
    try:
        yield
    except Exception as error:
        raise ModelError(f"{_titles(list(nodes))} cannot be run by OpenVINO: {one_line(error)}") from None


class OpenVino:
    """OpenVINO as the engine of a partitioned model; ModelError if it is not installed."""

    def __init__(self) -> None:
        check_installed("the engine 'openvino'")
        self._process = OpenVinoProcess(_MAKER)
        self._numbers = count()

    def part(self, piece: Piece) -> _PartInOpenVino:
        """Return the runnable part for a piece."""
        return _PartInOpenVino(next(self._numbers), piece, self._process)


class _PartInOpenVino:
    """A part, sent to OpenVINO as soon as the ranks and types of its inputs are known."""

    def __init__(self, number: int, piece: Piece, process: OpenVinoProcess) -> None:
        self._number, self._piece, self._process = number, piece, process

    def run(self, values: dict[str, Any], execution: RunContext) -> None:
        """Add the part's outputs to the values of a run."""
        inputs = {name: values[name] for name in self._piece.part.inputs}
        for name, value in inputs.items():
            if not isinstance(value, np.ndarray) or value.dtype == object:
                raise EngineRefusalError(f"value {quoted(name)} is not a tensor of numbers, which OpenVINO requires")
        key = (self._number, *((array.dtype.name, self._sizes(name, array)) for name, array in inputs.items()))
        results = self._process.call("run", key, inputs)
        if results is None:
            results = self._process.call("compile_and_run", key, self._declared(inputs), inputs)
        if isinstance(results, str):
            raise EngineRefusalError(f"{_titles(list(self._piece.part.nodes))} cannot be run by OpenVINO: {results}")
        values.update(zip(self._piece.part.outputs, results, strict=True))

    def _declared(self, inputs: Mapping[str, NDArray[Any]]) -> bytes:
        """Return the part as a model."""
        types = {
            name: helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(array.dtype), self._sizes(name, array))
            for name, array in inputs.items()
        }
        proto = self._piece.model(types)
        constants = self._piece.constants.items()
        proto.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in constants)
        return bytes(proto.SerializeToString())

    def _sizes(self, name: str, array: NDArray[Any]) -> tuple[int | None, ...]:
        return settled_sizes(array.shape, self._piece.shapes.get(name))


def _titles(nodes: list[NodeProto]) -> str:
    titles = [title(node) for node in nodes] or ["the model"]
    return titles[0] if len(titles) == 1 else f"the part from {titles[0]} to {titles[-1]}"
