"""The standard ONNX backend interface, for any tool that accepts an ``onnx.backend`` module."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
from onnx import IR_VERSION, GraphProto, ModelProto, NodeProto, TensorProto, TypeProto, ValueInfoProto, helper
from onnx.backend.base import Backend, BackendRep, namedtupledict
from onnx.defs import get_all_schemas, onnx_opset_version

from vinculum.errors import AttributeValueError, ElementTypeError, ModelError, VinculumError
from vinculum.models.execution import RunContext
from vinculum.models.model import Model
from vinculum.models.onnx.scopes import all_nodes, title
from vinculum.models.source import source_of
from vinculum.ops.policies import Policies
from vinculum.tensors.storage import as_operand
from vinculum.text import kind_of, listed, quoted

_POLICIES = ("zero_divisor", "overflow")
_IGNORED = ("rtol", "atol")  # ONNX's test runner passes its tolerances to every backend.


class VinculumBackendRep(BackendRep):
    """A prepared model. It runs any number of times, in any thread, and can be pickled."""

    def __init__(self, model: Model, policies: Policies) -> None:
        self._model = model
        self._policies = policies
        self._outputs: Callable[..., tuple[Any, ...]] = namedtupledict("Outputs", [t.name for t in model.outputs])

    def __reduce__(self) -> tuple[type[VinculumBackendRep], tuple[Model, Policies]]:
        """Pickle the model and the policies: the type of the outputs is made at run time, and pickle cannot find it."""
        return type(self), (self._model, self._policies)

    @property
    def model(self) -> Model:
        """The model, as `vinculum.load` returns it."""
        return self._model

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Return the model's outputs in its order, accessible by name too.

        Parameters
        ----------
        inputs : Mapping, list, tuple or array
            By name; by position, either all inputs or only those without a default value; or the only input itself.
            A sequence is a list, an empty optional is None.

        Returns
        -------
        named tuple
            A sequence is a list, an empty optional is None, a map is a dict.

        Raises
        ------
        VinculumError
            As `vinculum.models.Model.run` raises it.
        """
        _refuse_others(kwargs, ())
        outputs = self._model.evaluate(self._by_name(inputs), RunContext(self._policies))
        return self._outputs(*(outputs[tensor.name] for tensor in self._model.outputs))

    def _by_name(self, inputs: Any) -> Mapping[str, Any]:
        if isinstance(inputs, Mapping):
            return inputs
        values = inputs if isinstance(inputs, list | tuple) else [inputs]
        names, needed = ([t.name for t in self._model.inputs if not (t.optional and few)] for few in (False, True))
        for expected in (names, needed):
            if len(values) == len(expected):
                return dict(zip(expected, values, strict=True))
        counts = f"{len(needed)} or {len(names)}" if len(needed) < len(names) else f"{len(names)}"
        raise ModelError(f"{len(values)} values given by position; the model takes {counts} inputs: {listed(names)}")


class VinculumBackend(Backend):
    """Runs the divisions of ONNX models with this package's engine, the rest with ONNX's reference evaluator.

    Every method takes the integer policies of `vinculum.div`, `zero_divisor` and `overflow`, with the same defaults:
    x/0 raises, and MIN/-1 is MIN, as in two's complement.
    """

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Return True for the CPU alone."""
        return device in ("CPU", "CPU:0")

    @classmethod
    def is_compatible(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        """Return whether `prepare` accepts the model: it is valid, and every operator in it is implemented."""
        _policies(kwargs)
        try:
            cls.prepare(model, device, **kwargs)
        except VinculumError:
            return False
        return True

    @classmethod
    def prepare(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> VinculumBackendRep:
        """Return the prepared model; the message itself is not modified.

        Parameters
        ----------
        model : ModelProto
            External data is looked up in the working directory, since a message has no folder.
        device : str
            ``"CPU"``.
        **kwargs
            `zero_divisor` and `overflow`.

        Raises
        ------
        VinculumError
            As `vinculum.load` raises it; and a ModelError if a node's operator is not implemented.
        AttributeValueError
            If the device or an option is not supported.
        """
        policies = _policies(kwargs)
        if not cls.supports_device(device):
            raise AttributeValueError(f"device is {device!r}; allowed: 'CPU'")
        ready = replace(source_of(model).model(use_up=True), source=model)
        ready.read_data()
        ready.prepare()
        return VinculumBackendRep(ready, policies)

    @classmethod
    def run_model(cls, model: ModelProto, inputs: Any, device: str = "CPU", **kwargs: Any) -> tuple[Any, ...]:
        """Return a model's outputs for inputs, as `prepare` and then `VinculumBackendRep.run` give them."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: NodeProto,
        inputs: Any,
        device: str = "CPU",
        outputs_info: Sequence[tuple[Any, tuple[int, ...]]] | None = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """Return the outputs of one node, by the rules of the given operator set.

        Parameters
        ----------
        node : NodeProto
            Any node that a model could hold, except a call of a model's own function.
        inputs : Mapping, list, tuple or array
            As `VinculumBackendRep.run` takes them, by the node's names; None for an omitted input. Values that a
            subgraph takes from the enclosing graph can be given by name.
        device : str
            ``"CPU"``.
        outputs_info : sequence, optional
            Ignored: the inputs determine the outputs.
        **kwargs
            `opset_version`, by default the newest that the onnx package supports; `zero_divisor` and `overflow`.

        Raises
        ------
        VinculumError
            As for a model that consists of the node.
        """
        options = dict(kwargs)
        model, named = model_of_node(node, inputs, options.pop("opset_version", None))
        return cls.prepare(model, device, **options).run(named)


def _policies(options: Mapping[str, Any]) -> Policies:
    _refuse_others(options, (*_POLICIES, *_IGNORED))
    return Policies(**{name: options[name] for name in _POLICIES if name in options})


def _refuse_others(options: Mapping[str, Any], allowed: Sequence[str]) -> None:
    surplus = [name for name in options if name not in allowed]
    if surplus:
        own = [name for name in allowed if name not in _IGNORED]
        raise AttributeValueError(f"there is no option {listed(surplus)}; allowed: {listed(own)}")


def model_of_node(node: NodeProto, inputs: Any, opset: int | None) -> tuple[ModelProto, dict[str, Any]]:
    """Return a model that holds one node, and its inputs by name.

    - `inputs`: by name; by position, as many as the node names; or the only input itself. None for an omitted input.
    - `opset`: of ONNX's own domain, None for the newest; other domains get their newest.

    ModelError or ElementTypeError if `node` is not a node, an input is missing or surplus, or an input's type is not
    an element type of ONNX.
    """
    if not isinstance(node, NodeProto):
        raise ModelError(f"the node is {kind_of(node)}, not an onnx.NodeProto")
    newest = onnx_opset_version()
    version = newest if opset is None else opset
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= newest:
        raise ModelError(f"opset_version is {opset!r}; allowed: 1 to {newest}")
    named = {name: value for name, value in _by_name(node, inputs).items() if value is not None}
    alone = deepcopy(node)
    for place, name in enumerate(node.input):
        alone.input[place] = name if name in named else ""
    graph = GraphProto(name="node", node=[alone], output=[ValueInfoProto(name=name) for name in node.output if name])
    for name, value in named.items():
        graph.input.add(name=name, type=_type_of(value, f"input {quoted(name)}"))
    model = ModelProto(ir_version=IR_VERSION, graph=graph)
    for domain in sorted({n.domain or "ai.onnx" for n in all_nodes([node])} | {"ai.onnx"}):
        known = (schema.since_version for schema in get_all_schemas() if schema.domain == domain)
        model.opset_import.add(domain=domain, version=version if domain == "ai.onnx" else max(known, default=1))
    return model, named


def _by_name(node: NodeProto, inputs: Any) -> Mapping[str, Any]:
    if isinstance(inputs, Mapping):
        for name in inputs:
            if not isinstance(name, str):
                raise ModelError(f"{title(node)}: inputs are given by name; {name!r} is not a string")
        return inputs
    values = inputs if isinstance(inputs, list | tuple) else [inputs]
    distinct = list(dict.fromkeys(filter(None, node.input)))
    if len(values) == len(distinct):
        return dict(zip(distinct, values, strict=True))
    if len(values) != len(node.input):
        raise ModelError(f"{title(node)} has {len(distinct)} inputs; {len(values)} values are given")
    named: dict[str, Any] = {}
    for name, value in zip(node.input, values, strict=True):
        if not name and value is None:
            continue
        if not name or named.setdefault(name, value) is not value:
            raise ModelError(f"{title(node)}: input {quoted(name)} is given a value that it cannot take")
    return named


def _type_of(value: Any, owner: str, *, sized: bool = True) -> TypeProto:
    if isinstance(value, list | tuple):
        # An empty list can be a sequence of any type.
        first = value[0] if value else np.float32(0)
        return helper.make_sequence_type_proto(_type_of(first, owner, sized=False))
    array = as_operand(value, owner)
    code: int = TensorProto.STRING
    if array.dtype.kind not in "OUST":
        try:
            code = helper.np_dtype_to_tensor_dtype(array.dtype.newbyteorder("="))
        except (KeyError, ValueError):
            raise ElementTypeError(f"{owner} has NumPy type {array.dtype}, not an element type of ONNX") from None
    return helper.make_tensor_type_proto(code, array.shape if sized else None)
