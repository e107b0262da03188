"""The standard ONNX backend interface, so that any tool that takes an ``onnx.backend`` module takes ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from onnx import ModelProto, NodeProto
from onnx.backend.base import Backend, BackendRep, namedtupledict

from vinculum.errors import AttributeValueError, ModelError, VinculumError
from vinculum.models.execution import RunContext
from vinculum.models.model import Model
from vinculum.models.onnx.node import model_of_node
from vinculum.models.source import source_of
from vinculum.ops.policies import Policies
from vinculum.text import listed

_DEVICES = ("CPU", "CPU:0")
_POLICIES = ("zero_divisor", "overflow")
_IGNORED = ("rtol", "atol")  # ONNX's test runner hands its tolerances to every backend.


class VinculumBackendRep(BackendRep):
    """A model made ready to run, any number of times, in any thread, and pickled in any process."""

    def __init__(self, model: Model, policies: Policies) -> None:
        self._model = model
        self._policies = policies
        self._outputs: Callable[..., tuple[Any, ...]] = namedtupledict("Outputs", [t.name for t in model.outputs])

    def __reduce__(self) -> tuple[type[VinculumBackendRep], tuple[Model, Policies]]:
        """Pickle what it was made of: the type of its outputs is its own, and has no name to be found by."""
        return type(self), (self._model, self._policies)

    @property
    def model(self) -> Model:
        """The model, as `vinculum.load` would give it."""
        return self._model

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Return the model's outputs in its order, each by its name too.

        Parameters
        ----------
        inputs : Mapping, list, tuple or array
            By name; or by place, those that the model has values for all given or all left out; or the only one.
            A sequence is a list, an optional that holds nothing is None.

        Returns
        -------
        named tuple
            A sequence is a list, an optional that holds nothing is None, a map is a dict.

        Raises
        ------
        VinculumError
            As `vinculum.models.Model.run` says.
        """
        _refuse_others(kwargs, ())
        outputs = self._model.evaluate(self._by_name(inputs), RunContext(self._policies))
        return self._outputs(*(outputs[tensor.name] for tensor in self._model.outputs))

    def _by_name(self, inputs: Any) -> Mapping[str, Any]:
        if isinstance(inputs, Mapping):
            return inputs
        values = inputs if isinstance(inputs, list | tuple) else [inputs]
        names = [tensor.name for tensor in self._model.inputs]
        needed = [tensor.name for tensor in self._model.inputs if not tensor.optional]
        for expected in (names, needed):
            if len(values) == len(expected):
                return dict(zip(expected, values, strict=True))
        counts = f"{len(needed)} or {len(names)}" if len(needed) < len(names) else f"{len(names)}"
        raise ModelError(f"{len(values)} values given by position; the model takes {counts} inputs: {listed(names)}")


class VinculumBackend(Backend):
    """Runs ONNX models with every division by this package's engine, the rest by ONNX's reference evaluator.

    Every method takes the policies for integers, `zero_divisor` and `overflow`, as `vinculum.div` does and with its
    defaults: no number stands for x/0, so it raises; MIN/-1 is MIN, as the two's complement has it.
    """

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Return True for the CPU alone."""
        return device in _DEVICES

    @classmethod
    def is_compatible(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        """Return whether `prepare` takes the model: it is legal, and every operator in it can be run."""
        _policies(kwargs)
        try:
            cls.prepare(model, device, **kwargs)
        except VinculumError:
            return False
        return True

    @classmethod
    def prepare(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> VinculumBackendRep:
        """Return the model made ready to run; the message itself is not modified.

        Parameters
        ----------
        model : ModelProto
            External data stands in the working directory, since a message has no folder.
        device : str
            ``"CPU"``.
        **kwargs
            `zero_divisor` and `overflow`.

        Raises
        ------
        VinculumError
            As `vinculum.load` says; and a ModelError if a node's operator is not implemented.
        AttributeValueError
            If the device or an option is none of ours.
        """
        policies = _policies(kwargs)
        if not cls.supports_device(device):
            raise AttributeValueError(f"device is {device!r}; allowed: 'CPU'")
        ready = source_of(model).model()
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
        """Return the outputs of one node, by the rules of the operator set that it is to stand in.

        Parameters
        ----------
        node : NodeProto
            Any node that a model could hold, functions of the model's own excepted.
        inputs : Mapping, list, tuple or array
            As `VinculumBackendRep.run` takes them, by the node's names; None for one that is left out. What a
            subgraph uses of the graph around it can be given by name.
        device : str
            ``"CPU"``.
        outputs_info : sequence, optional
            Not needed: the inputs decide what the outputs are.
        **kwargs
            `opset_version`, by default the newest that the onnx package knows; `zero_divisor` and `overflow`.

        Raises
        ------
        VinculumError
            As of a model that holds the node alone.
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
