"""Inner witnesses: the tensor farthest from a divisor, a simple value of which makes it zero and keeps its bounds."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, helper

from vinculum.analysis.findings import Witness
from vinculum.errors import VinculumError
from vinculum.models.engines.exposed import ExposedModel, onnxruntime_title
from vinculum.models.onnx.model import model_of
from vinculum.models.onnx.scopes import inputs_of

_MOST_CUTS = 32
_MOST_ELEMENTS = 1 << 22  # Of a tensor whose value is chosen.

Bounds = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
"""Lower and upper bounds of values and lower ones of magnitudes, which broadcast to the tensor."""


class Cutter:
    """Cuts a complete model at inner tensors."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._proto = ModelProto.FromString(content)
        self._producers = {name: node for node in self._proto.graph.node for name in node.output if name}
        self._constants = {tensor.name: tensor for tensor in self._proto.graph.initializer}

    def find(
        self, divisor: str, inputs: Mapping[str, Any], bounds: Mapping[str, Bounds], seconds: float
    ) -> Witness | None:
        """Return the farthest tensor, of those whose bounds are known, a simple value of which makes a divisor zero.

        The inputs are left out of the witness.

        - `inputs`: on which the model runs; other values stay as they are on these.
        - `bounds`: what each value keeps.
        - `seconds`: of processor time.
        """
        end, above = process_time() + seconds, list(self._above(divisor))
        known = {**inputs, **ExposedModel("reference", self._content).values([divisor, *above], inputs)}
        found: Witness | None = None
        cuts = [name for name in above if name in bounds and _can_be_chosen(known.get(name))][:_MOST_CUTS]
        for name in cuts:
            if process_time() > end:
                break
            found = self._with(name, divisor, known, bounds[name]) or found
        return found

    def _above(self, divisor: str) -> Iterator[str]:
        """Yield what a divisor is computed from, the nearest first, but for inputs and constants."""
        seen, waiting = {divisor}, deque([divisor])
        while waiting:
            node = self._producers.get(waiting.popleft())
            for name in () if node is None else inputs_of(node):
                if name not in seen and name in self._producers and self._producers[name].op_type != "Constant":
                    seen.add(name)
                    waiting.append(name)
                    yield name

    def _with(self, name: str, divisor: str, known: Mapping[str, Any], bounds: Bounds) -> Witness | None:
        nodes = self._between(name, divisor)
        model, given = self._part(nodes, name, divisor, known)
        for how, value in _values(known[name], bounds):
            values = {**given, name: value}
            try:
                result = model_of(deepcopy(model), Path("part")).run(values, zero_divisor="zero")[divisor]
            except VinculumError:
                return None
            if bool((result == 0).any()):
                by = ("vinculum", *_by_onnxruntime(model, divisor, values))
                return Witness("inner", {}, how, by, name, value)
        return None

    def _between(self, name: str, divisor: str) -> list[NodeProto]:
        """Return the nodes that compute a divisor from a tensor, in order."""
        changed, nodes = {name}, []
        for node in self._proto.graph.node:
            if name not in node.output and not changed.isdisjoint(inputs_of(node)):
                changed.update(node.output)
                nodes.append(node)
        needed, kept = {divisor}, []
        for node in reversed(nodes):
            if not needed.isdisjoint(node.output):
                needed.update(inputs_of(node))
                kept.append(node)
        return kept[::-1]

    def _part(
        self, nodes: Sequence[NodeProto], name: str, divisor: str, known: Mapping[str, Any]
    ) -> tuple[ModelProto, dict[str, Any]]:
        """Return a model of some nodes, and its inputs but for the tensor that is chosen."""
        part = ModelProto(ir_version=self._proto.ir_version, opset_import=self._proto.opset_import)
        part.functions.extend(self._proto.functions)
        part.graph.name = "part"
        part.graph.node.extend(nodes)
        part.graph.output.add(name=divisor)
        made = {output for node in nodes for output in node.output}
        given: dict[str, Any] = {}
        for read in dict.fromkeys(value for node in nodes for value in inputs_of(node)):
            if read in made:
                continue
            if read in self._constants and read not in known:
                part.graph.initializer.append(self._constants[read])
                continue
            producer = self._producers.get(read)
            if producer is not None and producer.op_type == "Constant" and read != name:
                part.graph.node.insert(0, producer)
                continue
            array = np.asarray(known[read])
            code = helper.np_dtype_to_tensor_dtype(array.dtype)
            part.graph.input.append(helper.make_tensor_value_info(read, code, array.shape))
            if read != name:
                given[read] = array
        return part, given


def _can_be_chosen(value: Any) -> bool:
    if not isinstance(value, np.ndarray) or not 0 < value.size <= _MOST_ELEMENTS:
        return False
    return bool(value.dtype.kind == "f" or value.dtype.name == "bfloat16")


def _values(like: NDArray[Any], bounds: Bounds) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield simple values of a tensor that its bounds hold."""
    for how, number in (("zeros", 0.0), ("1 everywhere", 1.0), ("-1 everywhere", -1.0)):
        low, high, mag = bounds
        if ((low <= number) & (number <= high) & (abs(number) >= mag)).all():
            yield how, np.full(like.shape, number).astype(like.dtype)


def _by_onnxruntime(model: ModelProto, divisor: str, values: Mapping[str, Any]) -> list[str]:
    title = onnxruntime_title()
    if not title:
        return []
    try:
        found = ExposedModel("onnxruntime", model.SerializeToString()).values([divisor], values)[divisor]
    except VinculumError:
        return []
    return [title] if bool((found == 0).any()) else []
