"""Runtimes that load ONNX models, one function each: what a function does is both executed and printed.

Each function makes a runtime of an ONNX model, and runs it with default options on the arrays of its inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.runtimes.protocol import Packaged
from vinculum.conformance.runtimes.reproducer import body_lines, onnx_program
from vinculum.sandbox import UnsupportedError
from vinculum.spec.model import Dialect
from vinculum.text import one_line


class RunsOnnx:
    """What runs models of the onnx package; ``lacks`` is what its errors say of what it does not support."""

    lacks: tuple[str, ...] = ()

    def outputs(self, model: Any, inputs: dict[str, Any]) -> list[Any]:
        """Return copies of the outputs of a model, in its order."""
        raise NotImplementedError

    def answer(self, operation: Operation) -> NDArray[Any]:
        """Return the quotient of a model of one node."""
        from vinculum.conformance.runtimes.models import onnx_model

        return self._outputs(onnx_model(operation), operation.inputs)[0]  # type: ignore[no-any-return]

    def run_model(self, file: Path, inputs: Mapping[str, Any]) -> list[Any]:
        """Return all outputs of the model in a file, which is given the inputs in its order."""
        import onnx

        model = onnx.load(file)
        return self._outputs(model, {one.name: inputs[one.name] for one in model.graph.input if one.name in inputs})

    def _outputs(self, model: Any, inputs: dict[str, Any]) -> list[Any]:
        """Return the same; "not implemented" errors become UnsupportedError."""
        try:
            return self.outputs(model, inputs)
        except Exception as error:  # Each runtime has its own.
            words, kinds = one_line(error), {kind.__name__ for kind in type(error).__mro__}
            if kinds & _NOT_IMPLEMENTED or any(phrase in words for phrase in self.lacks):
                raise UnsupportedError(words) from None
            raise


def copied(outputs: Iterable[Any]) -> list[Any]:
    """Return copies of outputs; sequences stay as they are."""
    return [output if isinstance(output, list) else np.array(output) for output in outputs]


_NOT_IMPLEMENTED = {"NotImplementedError", "BackendIsNotSupposedToImplementIt"}  # onnx defines the second for backends.


@dataclass(eq=False)
class OnnxLoader(RunsOnnx, Packaged):
    """A runtime that loads ONNX models; it takes no options.

    - `name`, `title`, `package`: What the command line and what sentences call it, and the package to import.
    - `run`: It takes a model of the onnx package and a dictionary of inputs, and returns the outputs.
    - `install`: What pip installs.
    - `needs`: Other packages on which its answers depend.
    - `lacks`: What its errors say of what it does not support.
    """

    name: str
    title: str
    package: str
    run: Callable[[Any, dict[str, Any]], Any]
    install: str
    needs: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()

    def covers(self, operation: Operation) -> bool:
        """Tell whether the operator is one of ONNX's."""
        return operation.spec.dialect is Dialect.ONNX

    def reproducer(self, operation: Operation) -> str:
        """Return Python source that makes the model from its text, and does what the function does."""
        return onnx_program(operation, *body_lines(self.run, "outputs"), result="outputs[0]")

    def outputs(self, model: Any, inputs: dict[str, Any]) -> list[Any]:
        """Return copies of the outputs of a model."""
        given = {name: np.array(array, order="C") for name, array in inputs.items()}
        return copied(self.run(model, given))


def _reference(model: Any, inputs: dict[str, Any]) -> Any:
    """Evaluate it with the onnx package."""
    from onnx.reference import ReferenceEvaluator

    return ReferenceEvaluator(model).run(None, inputs)


def _tract(model: Any, inputs: dict[str, Any]) -> Any:
    """Load it from a file."""
    import tempfile

    import tract

    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        file.write(model.SerializeToString())
        file.flush()
        loaded = tract.onnx().load(file.name)
    outputs = loaded.into_model().into_runnable().run([*inputs.values()])
    return [output.to_numpy() for output in outputs]


def _tvm(model: Any, inputs: dict[str, Any]) -> Any:
    """Compile it for the processor."""
    import tvm
    from tvm.relax.frontend.onnx import from_onnx

    machine = tvm.relax.VirtualMachine(tvm.compile(from_onnx(model), target="llvm"), tvm.cpu())
    output = machine["main"](*(tvm.runtime.tensor(array) for array in inputs.values()))
    return [output.numpy()]


def _iree(model: Any, inputs: dict[str, Any]) -> Any:
    """Import and compile it as iree-import-onnx and iree-compile do; arrays of its integers have no sign."""
    import iree.runtime
    import numpy as np
    import onnx
    from iree.compiler.api import Output, Session, Source
    from iree.compiler.extras import onnx_importer
    from iree.compiler.ir import Context

    info = onnx_importer.ModelInfo(onnx.shape_inference.infer_shapes(model))
    module = info.create_module(context=Context()).operation
    onnx_importer.NodeImporter.define_function(info.main_graph, module).import_all()
    session = Session()
    session.set_flags("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu")
    session.set_flags("--iree-llvmcpu-target-cpu=host")
    session.set_flags("--iree-input-type=onnx", "--iree-input-demote-f64-to-f32=false")
    invocation = session.invocation()
    invocation.parse_source(Source.wrap_buffer(session, str(module).encode() + b"\0"))
    assert invocation.execute(), "the compiler fails"
    invocation.output_vm_bytecode(code := Output.open_membuffer())
    loaded = iree.runtime.load_vm_flatbuffer(bytes(code.map_memory()), driver="local-sync")
    output = loaded[model.graph.name](*inputs.values()).to_host()
    declared = onnx.helper.tensor_dtype_to_np_dtype(model.graph.output[0].type.tensor_type.elem_type)
    return [output.view(declared) if np.dtype(declared).kind == "u" else output]


LOADERS = {
    one.name: one
    for one in (
        OnnxLoader("onnx-reference", "the ONNX reference evaluator", "onnx", _reference, "onnx", needs=("numpy",)),
        OnnxLoader("tract", "tract", "tract", _tract, "tract", lacks=("Unknown DatumType", "No evaluator")),
        OnnxLoader("tvm", "TVM", "tvm", _tvm, "apache-tvm"),
        OnnxLoader("iree", "IREE", "iree.compiler", _iree, "iree-base-compiler iree-base-runtime"),
    )
}
"""The runtimes by the names on the command line."""
