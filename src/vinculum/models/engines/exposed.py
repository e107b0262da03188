"""A model whose inner values are handed out: a copy of it, with those that are asked for as its outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from onnx import ModelProto

from vinculum.errors import ModelError
from vinculum.models.execution import Observer, RunContext
from vinculum.ops.policies import Policies


class ExposedModel:
    """Runs a model in one of two engines; made to live in a process of its own.

    - `engine`: ``"reference"``, our engine; or ``"onnxruntime"``, ONNX Runtime as it is, with its own optimisations.
    - `content`: the model, complete.
    - `observer`: called after every division that our engine computes.
    """

    def __init__(self, engine: str, content: bytes, observer: Observer | None = None) -> None:
        self._engine, self._observer = engine, observer
        self._proto = ModelProto.FromString(content)
        self._inputs = {value.name for value in self._proto.graph.input}
        self._made: tuple[tuple[str, ...], Any] | None = None

    def values(self, names: Sequence[str], inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return values of the main graph, by name; what is made ready for them is kept for the same names.

        An integer divided by zero is 0 in our engine; ONNX Runtime dies of it.

        ModelError as the engine refuses the model or the inputs.
        """
        wanted = tuple(name for name in names if name not in self._inputs)
        if self._made is None or self._made[0] != wanted:
            self._made = (wanted, self._prepared(wanted))
        runnable = self._made[1]
        if self._engine == "reference":
            return dict(runnable.evaluate(inputs, RunContext(Policies("zero"), self._observer)))
        return _run(runnable, wanted, inputs)

    def _prepared(self, names: Sequence[str]) -> Any:
        declared = {value.name: value for value in self._proto.graph.output}
        proto = ModelProto()
        proto.CopyFrom(self._proto)
        del proto.graph.output[:]
        for name in names:
            if name in declared:
                proto.graph.output.append(declared[name])
            else:
                proto.graph.output.add(name=name)
        if self._engine == "reference":
            from vinculum.models.onnx.model import model_of

            return model_of(proto, Path("model"))
        return _session(proto)


def _session(proto: ModelProto) -> Any:
    from vinculum.models.engines.onnxruntime.session import new_session, reason_of

    try:
        return new_session(proto.SerializeToString(), threads=1)
    except Exception as error:  # Its exceptions have no base in common.
        raise ModelError(f"ONNX Runtime refuses the model: {reason_of(error)}") from None


def _run(session: Any, names: Sequence[str], inputs: Mapping[str, Any]) -> dict[str, Any]:
    from vinculum.models.engines.onnxruntime.session import reason_of
    from vinculum.models.engines.onnxruntime.values import to_python, to_runtime

    try:
        given = {name: to_runtime(name, array) for name, array in inputs.items()}
        results = session.run_with_ort_values(list(names), given)
        # Copied while the inputs live, on whose memory an output may lie.
        return {name: deepcopy(to_python(name, value)) for name, value in zip(names, results, strict=True)}
    except ModelError:
        raise
    except Exception as error:  # Its exceptions have no base in common.
        raise ModelError(f"ONNX Runtime cannot run the model: {reason_of(error)}") from None
