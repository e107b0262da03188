"""A model with its inner values exposed: a copy that has the requested values as outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from onnx import ModelProto, ValueInfoProto

from vinculum.errors import ModelError
from vinculum.models.execution import Observer, RunContext
from vinculum.ops.policies import Policies


def onnxruntime_title() -> str:
    """Return ONNX Runtime's name and version; empty if it is not installed."""
    return f"onnxruntime {version('onnxruntime')}" if find_spec("onnxruntime") is not None else ""


class ExposedModel:
    """Runs a model in one of two engines; meant for a child process.

    - `engine`: ``"reference"``, Vinculum's engine; or ``"onnxruntime"``, unmodified, with its own optimisations.
    - `observer`: called after every division of the reference engine.
    """

    def __init__(self, engine: str, content: bytes, observer: Observer | None = None) -> None:
        self._engine, self._observer = engine, observer
        self._proto = ModelProto.FromString(content)
        self._inputs = {value.name for value in self._proto.graph.input}
        self._made: tuple[tuple[str, ...], Any] | None = None

    def values(self, names: Sequence[str], inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return values of the main graph, by name; the prepared model is reused while the names stay the same.

        An integer divided by zero is 0 in the reference engine, and crashes ONNX Runtime.

        ModelError if the engine refuses the model or the inputs.
        """
        wanted = tuple(name for name in names if name not in self._inputs)
        if self._made is None or self._made[0] != wanted:
            self._made = (wanted, self._prepared(wanted))
        runnable = self._made[1]
        if self._engine == "reference":
            return dict(runnable.evaluate(inputs, RunContext(Policies("zero"), self._observer)))
        from vinculum.models.engines.onnxruntime.running import run

        with _refusals("cannot run"):
            return dict(zip(wanted, run(runnable, wanted, inputs), strict=True))

    def _prepared(self, names: Sequence[str]) -> Any:
        declared = {value.name: value for value in self._proto.graph.output}
        proto = deepcopy(self._proto)
        del proto.graph.output[:]
        proto.graph.output.extend(declared.get(name) or ValueInfoProto(name=name) for name in names)
        if self._engine == "reference":
            from vinculum.models.onnx.model import model_of

            return model_of(proto, Path("model"))
        from vinculum.models.engines.onnxruntime.session import new_session

        with _refusals("refuses"):
            return new_session(proto.SerializeToString(), threads=1)


@contextmanager
def _refusals(what: str) -> Iterator[None]:
    """Turn an error of ONNX Runtime into a ModelError; `what` is ``"refuses"`` or ``"cannot run"``."""
    from vinculum.models.engines.onnxruntime.session import reason_of

    try:
        yield
    except ModelError:
        raise
    except Exception as error:  # ONNX Runtime's exceptions have no common base.
        raise ModelError(f"ONNX Runtime {what} the model: {reason_of(error)}") from None
