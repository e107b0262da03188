"""ONNX Runtime with any execution provider, called through its Python interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from json import dumps
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.runtimes.protocol import Packaged, check_names, chosen, whole_number
from vinculum.conformance.runtimes.reproducer import onnx_program, operand_names
from vinculum.errors import AttributeValueError, ModelError, VinculumError
from vinculum.sandbox import UnsupportedError
from vinculum.spec.model import Dialect
from vinculum.text import listed, quoted

_NAME = "onnxruntime"
_CPU = "CPUExecutionProvider"
_QUIET = 4
_OPTIONS = ("provider", "provider_library", "operator_library", "graph_optimization_level", "intra_op_num_threads")
_LEVELS = {
    "disable": "ORT_DISABLE_ALL",
    "basic": "ORT_ENABLE_BASIC",
    "extended": "ORT_ENABLE_EXTENDED",
    "all": "ORT_ENABLE_ALL",
}
_UNSUPPORTED = (
    "could not find an implementation",
    "fallback to cpu ep has been explicitly disabled",
    "current official support for domain",  # The model's operator set is too new.
)


class OnnxRuntime(Packaged):
    """ONNX Runtime.

    - `options`: ``provider``: an execution provider, or several joined by ``+`` in order of preference; unless
      ``CPUExecutionProvider`` is named, nothing falls back to it. ``provider.KEY``: an option of the first provider;
      ``NAME.KEY``: an option of the named provider. ``provider_library``: the path of a plug-in library with the named
      providers. ``operator_library``: the path of a library with custom operators. ``graph_optimization_level``:
      ``disable``, ``basic``, ``extended`` or ``all``, the default. ``intra_op_num_threads``: 1 by default, as tensors
      are small and other cases run in parallel. Any other key with a dot in it is a session configuration entry.
    """

    title = "ONNX Runtime"
    package = _NAME

    def __init__(self, options: Mapping[str, str]) -> None:
        own = {name: value for name, value in options.items() if "." not in name}
        check_names(_NAME, own, _OPTIONS)
        self._providers = own.get("provider", _CPU).split("+")
        self._library, self._operators = own.get("provider_library"), own.get("operator_library")
        if self._library is not None and "provider" not in own:
            raise AttributeValueError(f"provider_library of {_NAME} needs provider=NAME, a provider in the library")
        self._level = _LEVELS[chosen(_NAME, "graph_optimization_level", own, tuple(_LEVELS), "all")]
        self._threads = whole_number(_NAME, "intra_op_num_threads", own, 1)
        self._provider_options: dict[str, dict[str, str]] = {name: {} for name in self._providers}
        # Without the processor's provider nothing falls back to it.
        self._entries = {} if _CPU in self._providers else {"session.disable_cpu_ep_fallback": "1"}
        for name, value in options.items():
            owner, dot, key = name.partition(".")
            owner = self._providers[0] if owner == "provider" else owner
            if owner in self._provider_options and dot:
                self._provider_options[owner][key] = value
            elif dot:
                self._entries[name] = value

    @property
    def survives_fork(self) -> bool:
        """Whether it divides as well in a copy of the process: each session has its own threads, but devices do not."""
        return self._providers == [_CPU] and self._library is None

    def covers(self, operation: Operation) -> bool:
        """Tell whether the operator is one of ONNX's."""
        return operation.spec.dialect is Dialect.ONNX

    def answer(self, operation: Operation) -> NDArray[Any]:
        """Return the quotient that a new session computes."""
        from vinculum.conformance.runtimes.models import onnx_model

        (quotient,) = self.run(onnx_model(operation).SerializeToString(), operation.inputs).values()
        return quotient  # type: ignore[no-any-return]  # the one output is a tensor

    def run(self, model: bytes | str, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the outputs of a model, given as bytes or as a path, computed by a new session.

        UnsupportedError, ModelError if ONNX Runtime does not support it or refuses it.
        """
        from vinculum.models.engines.onnxruntime.running import run

        try:
            session = self._session(model)
            names = [output.name for output in session.get_outputs()]
            return dict(zip(names, run(session, names, inputs), strict=True))
        except VinculumError:
            raise
        except Exception as error:  # ONNX Runtime's exceptions have no common base class.
            raise _refusal(error) from None

    def run_model(self, file: Path, inputs: Mapping[str, Any]) -> list[Any]:
        """Return all outputs of the model in a file, which ONNX Runtime itself reads."""
        return list(self.run(str(file), inputs).values())

    def reproducer(self, operation: Operation) -> str:
        """Return Python source that makes the model with onnx's helper and runs it in a session."""
        lines = ["options = onnxruntime.SessionOptions()"]
        lines.append(f"options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.{self._level}")
        lines.append(f"options.intra_op_num_threads = {self._threads}")
        lines += [f"options.add_session_config_entry({dumps(n)}, {dumps(v)})" for n, v in self._entries.items()]
        if self._operators is not None:
            lines.append(f"options.register_custom_ops_library({dumps(self._operators)})")
        lines += self._session_lines()
        if all(array.dtype.isbuiltin == 1 for array in operation.operands):
            return onnx_program(operation, *lines, result="session.run(None, inputs)[0]")
        dividend = operand_names(operation)[0]
        result = f"np.frombuffer(data, {dividend}.dtype).reshape(result.shape())"
        return onnx_program(operation, *lines, *_THROUGH_VALUES, result=result)

    def _session_lines(self) -> list[str]:
        """Return the lines that make the session for its providers."""
        made = "session = onnxruntime.InferenceSession(model.SerializeToString(), options"
        if self._library is None:
            return [f"providers = {list(self._provider_options.items())!r}", f"{made}, providers=providers)"]
        path = dumps(str(Path(self._library).absolute()))
        lines = [f"onnxruntime.register_execution_provider_library({dumps(Path(self._library).name)}, {path})"]
        for name, own in self._provider_options.items():
            lines.append(f"devices = [d for d in onnxruntime.get_ep_devices() if d.ep_name == {dumps(name)}]")
            lines.append(f"options.add_provider_for_devices(devices, {own!r})")
        return [*lines, f"{made})"]

    def _session(self, model: bytes | str) -> Any:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = _QUIET
        options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, self._level)
        options.intra_op_num_threads = self._threads
        for name, value in self._entries.items():
            options.add_session_config_entry(name, value)
        if self._operators is not None:
            options.register_custom_ops_library(_library_file(self._operators))
        if self._library is None:
            _check_available(self._providers, onnxruntime.get_available_providers())
            providers = list(self._provider_options.items())
            session = onnxruntime.InferenceSession(model, options, providers=providers, enable_fallback=0)
        else:
            for name, devices in _plugged(_library_file(self._library), tuple(self._providers)).items():
                options.add_provider_for_devices(devices, self._provider_options[name])
            session = onnxruntime.InferenceSession(model, options)
        if unused := [name for name in self._providers if name not in session.get_providers()]:
            raise ModelError(f"ONNX Runtime could not start the execution provider {listed(unused)}")
        return session


def _library_file(path: str) -> str:
    if not Path(path).is_file():
        raise ModelError(f"there is no library {quoted(path)} for ONNX Runtime; give the path of a file")
    return str(Path(path).absolute())


def _check_available(wanted: Sequence[str], available: Sequence[str]) -> None:
    if missing := [name for name in wanted if name not in available]:
        known = ", ".join(dict.fromkeys(available)) or "none"
        raise ModelError(f"ONNX Runtime has no execution provider {listed(missing)} here; it has: {known}")


@cache
def _plugged(path: str, providers: tuple[str, ...]) -> dict[str, list[Any]]:
    """Return the devices of each provider, including those of a plug-in library, which is loaded once per process."""
    import onnxruntime

    onnxruntime.register_execution_provider_library(Path(path).name, path)
    found: dict[str, list[Any]] = {}
    for device in onnxruntime.get_ep_devices():
        found.setdefault(device.ep_name, []).append(device)
    _check_available(providers, list(found))
    return {name: found[name] for name in providers}


# How types that NumPy lacks are given and read.
_THROUGH_VALUES = """
def value(array):
    code = helper.np_dtype_to_tensor_dtype(array.dtype)
    return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(array, code)

values = {name: value(array) for name, array in inputs.items()}
result = session.run_with_ort_values(None, values)[0]
data = ctypes.string_at(result.data_ptr(), result.tensor_size_in_bytes())
""".splitlines()


def _refusal(error: Exception) -> Exception:
    """Return ONNX Runtime's error as one of ours with only the reason."""
    from vinculum.models.engines.onnxruntime.session import reason_of

    words = str(error).lower()
    lacks = type(error).__name__ == "NotImplemented" or any(phrase in words for phrase in _UNSUPPORTED)
    return UnsupportedError(reason_of(error)) if lacks else ModelError(reason_of(error))
