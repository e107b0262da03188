"""Any implementation of the standard ONNX backend interface, by the name of its module and attribute."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, reduce
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.programs.model_source import inputs_source, onnx_model_lines
from vinculum.conformance.programs.reproducer import operand_lines, print_quotient, python_program
from vinculum.conformance.question import Question
from vinculum.conformance.runtimes.packages import check_elsewhere, versions_of
from vinculum.errors import ModelError
from vinculum.sandbox import UnsupportedError
from vinculum.spec.model import Dialect
from vinculum.text import one_line, quoted

_UNSUPPORTED = ("NotImplementedError", "BackendIsNotSupposedToImplementIt")  # The second is onnx's, for backends.


class OnnxBackend:
    """A backend of ONNX's interface: what has `prepare`, or at least `run_model`.

    Parameters
    ----------
    target : str
        ``"package.module:attribute"``; the working folder is searched last for the module. The attribute may be a
        class, an instance or a module.
    options : Mapping of str to str
        Keyword arguments of `prepare` and `run_model`, as text; `device` is one of them.
    """

    def __init__(self, target: str, options: Mapping[str, str]) -> None:
        self.title = target
        self._target = target
        self._options = dict(options)

    def check(self) -> None:
        """Refuse to go on if the module cannot be imported, or what is there is no backend."""
        check_elsewhere(f"{__name__}:OnnxBackend", self._target, self._options)

    def start(self) -> None:
        """Import the backend.

        Raises
        ------
        ModelError
            If it cannot be had.
        """
        _found(self._target)

    def versions(self) -> Mapping[str, str]:
        """Return the versions of onnx, and of the package that the module belongs to if it is an installed one."""
        package = self._target.partition(":")[0].partition(".")[0]
        found = versions_of(package, "onnx")
        return {name: version for name, version in found.items() if version != "not installed"}

    def covers(self, question: Question) -> bool:
        """Tell whether it is a question about an ONNX operator."""
        return question.spec.dialect is Dialect.ONNX

    def answer(self, question: Question) -> NDArray[Any]:
        """Return the quotient that the backend gives; what it does not implement, as it says, is not supported."""
        from vinculum.conformance.programs.onnx_model import onnx_program

        program = onnx_program(question)
        quotient: NDArray[Any] = self._outputs(program.model, list(program.inputs.values()))[0]
        return quotient

    def run_model(self, file: Path, inputs: Mapping[str, Any]) -> list[Any]:
        """Return all outputs of the model in a file; the backend takes the inputs in the model's order."""
        import onnx

        model = onnx.load(file)
        return self._outputs(model, [inputs[value.name] for value in model.graph.input if value.name in inputs])

    def _outputs(self, model: Any, inputs: list[Any]) -> list[Any]:
        backend = _found(self._target)
        try:
            if hasattr(backend, "prepare"):
                prepared = backend.prepare(model, **self._options)
                outputs = prepared.run(inputs)
            else:
                outputs = backend.run_model(model, inputs, **self._options)
            # Copied while the backend lives, in whose memory an output may lie.
            return [output if isinstance(output, list) else np.array(output) for output in outputs]
        except Exception as error:
            if any(kind.__name__ in _UNSUPPORTED for kind in type(error).__mro__):
                raise UnsupportedError(one_line(error)) from None
            raise

    def reproducer(self, question: Question) -> str:
        """Return Python source that makes the model with onnx's helper and runs it in the backend."""
        module, _, attribute = self._target.partition(":")
        options = "".join(f", {name}={value!r}" for name, value in self._options.items())
        return python_program(
            *operand_lines(question),
            *onnx_model_lines(question),
            f"outputs = {module}.{attribute}.run_model(model, list({inputs_source(question)}.values()){options})",
            print_quotient("outputs[0]"),
            imports=[module],
        )


@cache
def _found(target: str) -> Any:
    """Return what a target names."""
    with suppress(FileNotFoundError):  # The working folder may have been removed.
        folder = str(Path.cwd())
        if folder not in sys.path:
            sys.path.append(folder)  # Behind all else: no file there must stand for an installed package.
    name, _, attribute = target.partition(":")
    try:
        module = import_module(name)
    except Exception as error:  # To import is to run what is not ours.
        raise ModelError(f"{quoted(target)} cannot be imported: {type(error).__name__}: {one_line(error)}") from None
    try:
        backend = reduce(getattr, attribute.split("."), module)
    except AttributeError as error:
        raise ModelError(f"{quoted(target)} is not there: {one_line(error)}") from None
    if not (hasattr(backend, "prepare") or hasattr(backend, "run_model")):
        raise ModelError(f"{quoted(target)} is no ONNX backend: it has neither prepare nor run_model")
    return backend
