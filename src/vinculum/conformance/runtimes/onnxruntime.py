"""ONNX Runtime, of any execution provider, asked through its Python interface."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from json import dumps
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from vinculum.conformance.programs.model_source import inputs_source, onnx_model_lines
from vinculum.conformance.programs.reproducer import operand_lines, print_quotient, python_program
from vinculum.conformance.question import Question
from vinculum.conformance.runtimes.options import check_names, chosen, whole_number
from vinculum.conformance.runtimes.packages import ONE_BY_ONE, check_elsewhere, check_installed, versions_of
from vinculum.errors import ModelError, VinculumError
from vinculum.sandbox import UnsupportedError
from vinculum.spec.model import Dialect
from vinculum.text import listed

_NAME = "onnxruntime"
_CPU = "CPUExecutionProvider"
_QUIET = 4
_LEVELS = {
    "disable": "ORT_DISABLE_ALL",
    "basic": "ORT_ENABLE_BASIC",
    "extended": "ORT_ENABLE_EXTENDED",
    "all": "ORT_ENABLE_ALL",
}
_UNSUPPORTED = (
    "could not find an implementation",
    "fallback to cpu ep has been explicitly disabled",
    "current official support for domain",  # It knows no operator set as new as the model's.
)


class OnnxRuntime:
    """ONNX Runtime.

    Parameters
    ----------
    options : Mapping of str to str
        ``provider``: an execution provider, or several joined by ``+``, the first the most wanted; unless
        ``CPUExecutionProvider`` is named, nothing falls back to it. ``graph_optimization_level``: ``disable``,
        ``basic``, ``extended`` or ``all``, its default. ``intra_op_num_threads``: its default here is 1, since tensors
        are small and other cases run beside. Any key with a dot in it is a session configuration entry.
    """

    title = "ONNX Runtime"

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = dict(options)
        own = {name: value for name, value in options.items() if "." not in name}
        check_names(_NAME, own, ("provider", "graph_optimization_level", "intra_op_num_threads"))
        self._providers = own.get("provider", _CPU).split("+")
        self._level = _LEVELS[chosen(_NAME, "graph_optimization_level", own, tuple(_LEVELS), "all")]
        self._threads = whole_number(_NAME, "intra_op_num_threads", own, 1)
        self._entries = {name: value for name, value in options.items() if "." in name}

    def check(self) -> None:
        """Refuse to go on if its package is not installed, or it does not start as the options say."""
        check_installed(self.title, "onnxruntime", "pip install 'vinculum[onnxruntime]'")
        if self._options:
            check_elsewhere(f"{__name__}:OnnxRuntime", self._options)

    def start(self) -> None:
        """Divide one by one, as the options say."""
        self.answer(ONE_BY_ONE)

    def versions(self) -> Mapping[str, str]:
        """Return its package's version."""
        return versions_of("onnxruntime")

    def covers(self, question: Question) -> bool:
        """Tell whether it is a question about an ONNX operator."""
        return question.spec.dialect is Dialect.ONNX

    def answer(self, question: Question) -> NDArray[Any]:
        """Return the quotient that a new session computes."""
        from vinculum.conformance.programs.onnx_model import onnx_program

        program = onnx_program(question)
        (quotient,) = self.run(program.model.SerializeToString(), program.inputs).values()
        return quotient  # type: ignore[no-any-return]  # the one output is a tensor

    def run(self, model: bytes | str, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the outputs of a model, serialised or the path of its file, that a new session computes.

        Raises
        ------
        UnsupportedError, ModelError
            As ONNX Runtime refuses it.
        """
        from vinculum.models.engines.onnxruntime.values import to_python, to_runtime

        try:
            session = self._session(model)
            values = {name: to_runtime(name, array) for name, array in inputs.items()}
            names = [output.name for output in session.get_outputs()]
            results = session.run_with_ort_values(names, values)
            # Copied while the inputs live, on whose memory an output may lie.
            return {name: deepcopy(to_python(name, value)) for name, value in zip(names, results, strict=True)}
        except VinculumError:
            raise
        except Exception as error:  # Its exceptions have no base in common.
            raise _refusal(error) from None

    def run_model(self, file: Path, inputs: Mapping[str, Any]) -> list[Any]:
        """Return all outputs of the model in a file, by ONNX Runtime's own reading of it."""
        return list(self.run(str(file), inputs).values())

    def reproducer(self, question: Question) -> str:
        """Return Python source that makes the model with onnx's helper and runs it in a session."""
        lines = ["options = onnxruntime.SessionOptions()"]
        lines.append(f"options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.{self._level}")
        lines.append(f"options.intra_op_num_threads = {self._threads}")
        lines += [f"options.add_session_config_entry({dumps(n)}, {dumps(v)})" for n, v in self._config().items()]
        return python_program(
            *operand_lines(question),
            *onnx_model_lines(question),
            *lines,
            f"providers = {dumps(self._providers)}",
            "session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=providers)",
            *_run_lines(question),
        )

    def _config(self) -> dict[str, str]:
        """Return the session's configuration entries."""
        fallback = {} if _CPU in self._providers else {"session.disable_cpu_ep_fallback": "1"}
        return {**fallback, **self._entries}

    def _session(self, model: bytes | str) -> Any:
        import onnxruntime

        available = onnxruntime.get_available_providers()
        missing = [name for name in self._providers if name not in available]
        if missing:
            raise ModelError(
                f"ONNX Runtime has no execution provider {listed(missing)} here; it has: {', '.join(available)}"
            )
        options = onnxruntime.SessionOptions()
        options.log_severity_level = _QUIET
        options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, self._level)
        options.intra_op_num_threads = self._threads
        for name, value in self._config().items():
            options.add_session_config_entry(name, value)
        session = onnxruntime.InferenceSession(model, options, providers=self._providers, enable_fallback=0)
        unused = [name for name in self._providers if name not in session.get_providers()]
        if unused:
            raise ModelError(f"ONNX Runtime could not start the execution provider {listed(unused)}")
        return session


def _run_lines(question: Question) -> list[str]:
    """Return the lines that run a session and print; ONNX Runtime gives no array of a type that NumPy has not."""
    if all(array.dtype.isbuiltin == 1 for array in question.operands):
        return [print_quotient(f"session.run(None, {inputs_source(question)})[0]")]
    dividend = question.spec.inputs[0].name.lower()
    return [
        "def value(array):",
        "    code = helper.np_dtype_to_tensor_dtype(array.dtype)",
        "    return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(array, code)",
        "",
        f"values = {{name: value(array) for name, array in {inputs_source(question)}.items()}}",
        "result = session.run_with_ort_values(None, values)[0]",
        "data = ctypes.string_at(result.data_ptr(), result.tensor_size_in_bytes())",
        print_quotient(f"np.frombuffer(data, {dividend}.dtype).reshape(result.shape())"),
    ]


def _refusal(error: Exception) -> Exception:
    """Return an error of ONNX Runtime's as one that says no more than its reason."""
    from vinculum.models.engines.onnxruntime.session import reason_of

    words = str(error).lower()
    lacks = type(error).__name__ == "NotImplemented" or any(phrase in words for phrase in _UNSUPPORTED)
    return UnsupportedError(reason_of(error)) if lacks else ModelError(reason_of(error))
