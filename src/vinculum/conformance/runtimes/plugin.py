"""Runtimes given by module and attribute: ONNX backends, and dividers with Vinculum's own protocol."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.runtimes.onnx_loaders import RunsOnnx, copied
from vinculum.conformance.runtimes.protocol import asked_elsewhere, versions_of
from vinculum.conformance.runtimes.reproducer import (
    onnx_program,
    operand_lines,
    operand_names,
    print_quotient,
    python_program,
)
from vinculum.errors import AttributeValueError, ModelError
from vinculum.sandbox import UnsupportedError
from vinculum.spec.model import Dialect
from vinculum.text import did_you_mean, listed, one_line, quoted

_INTERFACES = ("answer", "prepare", "run_model")


class Plugin:
    """The object named ``package.module:attribute``; the working folder is searched last for the module.

    An object with ``answer`` is a `vinculum.testing.Divider`, which runs the cases of all standards; one with
    ``prepare`` or ``run_model`` is a backend of ONNX's interface. ``module:`` names the module itself.

    - `target`: ``"package.module:attribute"``.
    - `options`: Keyword arguments of an ONNX backend's methods, or the argument of a divider's class.
    - `title`: The name in sentences: that of the package's entry point, else the target.
    """

    def __init__(self, target: str, options: Mapping[str, str], title: str = "") -> None:
        self.title = title or target
        self._target = target
        self._options = dict(options)
        self._made: Any = None
        self._description: dict[str, Any] | None = None

    def check(self) -> None:
        """Raise ModelError if the module cannot be imported, or the object is not a runtime."""
        self._told()

    def versions(self) -> Mapping[str, str]:
        """Return the versions that it reports itself, and the version of its package if that is installed."""
        package = self._target.partition(":")[0].partition(".")[0]
        found = versions_of(package) if self._told()["native"] else versions_of(package, "onnx")
        told: dict[str, str] = self._told()["versions"]
        return {name: version for name, version in found.items() if version != "not installed"} | told

    def covers(self, operation: Operation) -> bool:
        """Tell whether it can execute this: an ONNX backend only ONNX operators, a divider all operators."""
        return bool(self._told()["native"]) or operation.spec.dialect is Dialect.ONNX

    def start(self) -> None:
        """Import it, make an instance if it is a divider's class, and start it."""
        self._divider()

    def answer(self, operation: Operation) -> NDArray[Any]:
        """Return its quotient.

        UnsupportedError if a divider does not cover the operation. ModelError if it changed an operand.
        """
        divider = self._divider()
        if hasattr(divider, "covers") and not divider.covers(operation):
            raise UnsupportedError(f"{self.title} does not cover it")
        before = [operand.tobytes() for operand in operation.operands]
        try:
            quotient = divider.answer(operation)
        except NotImplementedError as error:
            raise UnsupportedError(one_line(error)) from None
        for named, operand, content in zip(operation.spec.inputs, operation.operands, before, strict=True):
            if operand.tobytes() != content:
                raise ModelError(f"the operand {named.name} was changed in place")
        # NumPy's operators make scalars of arrays without dimensions.
        return np.asarray(quotient) if isinstance(quotient, np.generic) else quotient

    def run_model(self, file: Path, inputs: Mapping[str, Any]) -> list[Any]:
        """Return all outputs of the model in a file.

        ModelError if it is a divider that cannot run models.
        """
        divider = self._divider()
        if not hasattr(divider, "run_model"):
            raise ModelError(f"{quoted(self.title)} cannot run models: it is a divider, not an ONNX backend")
        return divider.run_model(file, inputs)  # type: ignore[no-any-return]  # results of any type are judged

    def reproducer(self, operation: Operation) -> str:
        """Return Python source that imports it and executes the operation."""
        module, _, attribute = self._target.partition(":")
        source = f"{module}.{attribute}" if attribute else module
        if not self._told()["native"]:
            options = "".join(f", {name}={value!r}" for name, value in self._options.items())
            lines = [f"outputs = {source}.run_model(model, [*inputs.values()]{options})"]
            if self._told()["prepares"]:  # Kept alive, as the outputs may be in its memory.
                lines = [f"prepared = {source}.prepare(model{options})", "outputs = prepared.run([*inputs.values()])"]
            result = "outputs[0] if isinstance(outputs, (list, tuple)) else outputs"
            return onnx_program(operation, f"import {module}", *lines, result=result)
        if self._told()["options"] is not None:
            source = f"{source}({self._options if self._told()['options'] else ''})"
        names = ", ".join(operand_names(operation))
        variant = f", variant={operation.spec.variant!r}" if operation.spec.variant else ""
        opset = f", opset={operation.spec.since_version}" if operation.spec.dialect is Dialect.ONNX else ""
        dialect = operation.spec.dialect.value
        return python_program(
            f"import {module}",
            "from vinculum.spec.rows import find",
            "from vinculum.testing import Operation",
            *operand_lines(operation),
            f'spec = find("{operation.spec.name}", dialect="{dialect}"{opset}{variant})',
            f"operation = Operation(spec, {dict(operation.attributes)}, ({names},), {operation.constant})",
            f"divider = {source}",
            *(["divider.start()"] if self._told()["starts"] else ()),
            print_quotient("divider.answer(operation)"),
        )

    def tell(self) -> dict[str, Any]:
        """Return its description, from the process in which it is imported."""
        divider, found = self._divider(), _found(self._target)
        native = not isinstance(divider, OnnxBackend)
        versions = dict(divider.versions()) if hasattr(divider, "versions") else {}
        return {
            "native": native,
            "prepares": hasattr(found, "prepare"),
            "starts": hasattr(divider, "start"),
            "options": _takes_options(found) if native and inspect.isclass(found) else None,
            "versions": {str(name): str(version) for name, version in versions.items()},
        }

    def _told(self) -> dict[str, Any]:
        """Return the result of `tell` in a subprocess, which is started once."""
        if self._description is None:
            factory = f"{__name__}:Plugin"
            self._description = asked_elsewhere("tell", factory, self._target, self._options, called=quoted(self.title))
        return self._description

    def _divider(self) -> Any:
        """Return the object that answers in this process."""
        if self._made is None:
            made = _made(self._target, self._options)
            if hasattr(made, "start"):
                made.start()
            self._made = made
        return self._made


def _made(target: str, options: Mapping[str, str]) -> Any:
    """Return an object with `answer` for what a target names."""
    found = _found(target)
    if not hasattr(found, "answer"):
        return OnnxBackend(found, options)
    made: Any = found  # A class of any signature, so its type is not checked.
    if inspect.isclass(found) and _takes_options(found):
        return made(options)
    if options:
        raise AttributeValueError(f"{quoted(target)} takes no options; a class that takes a mapping of them does")
    return made() if inspect.isclass(found) else found


def _takes_options(kind: type) -> bool:
    """Tell whether a class takes an argument: the mapping of options."""
    try:
        return bool(inspect.signature(kind).parameters)
    except ValueError:  # Classes that are not written in Python may have no signature.
        return False


def _found(target: str) -> Any:
    """Return the object that a target names, the module itself if it names no attribute."""
    with suppress(FileNotFoundError):  # The working folder may have been removed.
        folder = str(Path.cwd())
        if folder not in sys.path:
            sys.path.append(folder)  # Last, so that no file there hides an installed package.
    name, _, attribute = target.partition(":")
    if not name:
        raise ModelError(f"{quoted(target)} names no module; write package.module:attribute")
    try:
        module = import_module(name)
    except (Exception, SystemExit) as error:  # Importing runs foreign code, which may raise anything.
        raise ModelError(f"{quoted(target)} cannot be imported: {type(error).__name__}: {one_line(error)}") from None
    try:
        found = reduce(getattr, attribute.split("."), module) if attribute else module
    except AttributeError:
        raise ModelError(f"{quoted(target)} is not there: {_missing(module, attribute)}") from None
    if not any(hasattr(found, method) for method in _INTERFACES):
        raise ModelError(
            f"{quoted(target)} is neither a divider nor an ONNX backend: it has none of answer, prepare and run_model"
        )
    return found


def _missing(module: Any, attribute: str) -> str:
    """Return what a module lacks, and what it has instead."""
    fitting = [name for name, value in vars(module).items() if any(hasattr(value, own) for own in _INTERFACES)]
    known = f"its runtimes: {listed(sorted(fitting))}" if fitting else "it has no runtime"
    return f"{module.__name__} has no attribute {quoted(attribute)}; {known}{did_you_mean(attribute, fitting)}"


class OnnxBackend(RunsOnnx):
    """A backend of ONNX's interface: an object with `prepare`, or at least `run_model`.

    - `backend`: A class, an instance or a module.
    - `options`: Keyword arguments of `prepare` and `run_model`, as text; `device` is one of them.
    """

    def __init__(self, backend: Any, options: Mapping[str, str]) -> None:
        self._backend = backend
        self._options = dict(options)

    def outputs(self, model: Any, inputs: dict[str, Any]) -> list[Any]:
        """Return copies of the outputs of a model, whose inputs the backend takes in its order."""
        arrays, names = list(inputs.values()), [output.name for output in model.graph.output]
        if not hasattr(self._backend, "prepare"):
            return copied(_named(self._backend.run_model(model, arrays, **self._options), names))
        # Kept alive until the outputs are copied, as they may be in its memory.
        prepared = self._backend.prepare(model, **self._options)
        return copied(_named(prepared.run(arrays), names))


def _named(given: Any, names: Sequence[str]) -> Sequence[Any]:
    """Return a backend's outputs, given as a sequence of arrays, a mapping, or a single array.

    ModelError if there are fewer outputs than the model has.
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
    return outputs
