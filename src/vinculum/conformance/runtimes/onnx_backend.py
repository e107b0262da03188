"""Any implementation of the standard ONNX backend interface, called with a model of one node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.runtimes.programs.reproducer import onnx_program
from vinculum.errors import ModelError
from vinculum.sandbox import UnsupportedError
from vinculum.text import listed, one_line

_UNSUPPORTED = ("NotImplementedError", "BackendIsNotSupposedToImplementIt")  # onnx defines the second for backends.


class OnnxBackend:
    """A backend of ONNX's interface: an object with `prepare`, or at least `run_model`.

    Parameters
    ----------
    backend : object
        A class, an instance or a module.
    options : Mapping of str to str
        Keyword arguments of `prepare` and `run_model`, as text; `device` is one of them.
    """

    def __init__(self, backend: Any, options: Mapping[str, str]) -> None:
        self._backend = backend
        self._options = dict(options)

    def answer(self, operation: Operation) -> NDArray[Any]:
        """Return the backend's quotient; "not implemented" errors become UnsupportedError."""
        from vinculum.conformance.runtimes.programs.models import onnx_model

        quotient: NDArray[Any] = self._outputs(onnx_model(operation), operation.inputs)[0]
        return quotient

    def run_model(self, file: Path, inputs: Mapping[str, Any]) -> list[Any]:
        """Return all outputs of the model in a file; the backend takes the inputs in the model's order."""
        import onnx

        model = onnx.load(file)
        names = [value.name for value in model.graph.input if value.name in inputs]
        return self._outputs(model, {name: inputs[name] for name in names})

    def _outputs(self, model: Any, inputs: Mapping[str, Any]) -> list[Any]:
        arrays = list(inputs.values())
        try:
            if hasattr(self._backend, "prepare"):
                # Kept alive until the outputs are copied, as they may be in its memory.
                prepared = self._backend.prepare(model, **self._options)
                given = prepared.run(arrays)
            else:
                given = self._backend.run_model(model, arrays, **self._options)
            return _copied(given, [output.name for output in model.graph.output])
        except Exception as error:
            if any(kind.__name__ in _UNSUPPORTED for kind in type(error).__mro__):
                raise UnsupportedError(one_line(error)) from None
            raise


def reproducer(operation: Operation, source: str, options: Mapping[str, str], *, prepares: bool, module: str) -> str:
    """Return Python source that makes the model with onnx's helper and runs it in a backend.

    Parameters
    ----------
    operation : Operation
        The operation.
    source : str
        The expression that names the backend.
    options : Mapping of str to str
        The options of the backend.
    prepares : bool
        Whether it has `prepare`, which is then called.
    module : str
        The module to import for the expression.
    """
    written = "".join(f", {name}={value!r}" for name, value in options.items())
    inputs = "[*inputs.values()]"
    call = f"prepare(model{written}).run({inputs})" if prepares else f"run_model(model, {inputs}{written})"
    lines = [f"import {module}", f"outputs = {source}.{call}"]
    return onnx_program(operation, *lines, result="outputs[0] if isinstance(outputs, (list, tuple)) else outputs")


def _copied(given: Any, names: Sequence[str]) -> list[Any]:
    """Return copies of a backend's outputs, given as a sequence of arrays, a mapping, or a single array.

    Raises
    ------
    ModelError
        If there are fewer outputs than the model has.
    """
    if isinstance(given, Mapping):
        if len(names) == len(given) == 1:  # A single output may have any name.
            given = dict(zip(names, given.values(), strict=True))
        missing = [name for name in names if name not in given]
        if missing:
            raise ModelError(f"the backend gave no output {listed(missing)}; it gave: {listed([*map(str, given)])}")
        given = [given[name] for name in names]
    outputs = given if isinstance(given, (list, tuple)) else [given]
    if len(outputs) < len(names):
        raise ModelError(f"the backend gave {len(outputs)} outputs, and the model has {len(names)}: {listed(names)}")
    return [output if isinstance(output, list) else np.array(output) for output in outputs]
