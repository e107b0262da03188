"""Calls of runtimes that need more than an expression, one function each, without branches.

Its body is both executed and printed, so it imports what it needs. Only the runtimes themselves can tell whether it is
right: the survey runs them.
"""

from __future__ import annotations

from typing import Any


def run_by_tract(model: Any, inputs: dict[str, Any]) -> Any:
    """Load it from a file."""
    import tempfile

    import tract

    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        file.write(model.SerializeToString())
        file.flush()
        loaded = tract.onnx().load(file.name)
    outputs = loaded.into_model().into_runnable().run([*inputs.values()])
    return [output.to_numpy() for output in outputs]


def run_by_tvm(model: Any, inputs: dict[str, Any]) -> Any:
    """Compile it for the processor."""
    import tvm
    from tvm.relax.frontend.onnx import from_onnx

    machine = tvm.relax.VirtualMachine(tvm.compile(from_onnx(model), target="llvm"), tvm.cpu())
    output = machine["main"](*(tvm.runtime.tensor(array) for array in inputs.values()))
    return [output.numpy()]


def run_by_iree(model: Any, inputs: dict[str, Any]) -> Any:
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


def divided_by_litert(a: Any, b: Any) -> Any:
    """Return the quotient of a model of one operator, DIV."""
    import ai_edge_litert.schema_py_generated as schema
    import flatbuffers
    import numpy as np
    from ai_edge_litert.interpreter import Interpreter

    kind = getattr(schema.TensorType, a.dtype.name.upper())
    shapes = (a.shape, b.shape, np.broadcast_shapes(a.shape, b.shape))
    tensors = [
        schema.TensorT(shape=list(shape), type=kind, name=name) for name, shape in zip("ABC", shapes, strict=True)
    ]
    div = schema.BuiltinOperator.DIV
    code = schema.OperatorCodeT(builtinCode=div, deprecatedBuiltinCode=div)
    options = {"builtinOptionsType": schema.BuiltinOptions.DivOptions, "builtinOptions": schema.DivOptionsT()}
    operator = schema.OperatorT(inputs=[0, 1], outputs=[2], **options)
    graph = schema.SubGraphT(tensors=tensors, inputs=[0, 1], outputs=[2], operators=[operator])
    model = schema.ModelT(version=3, operatorCodes=[code], subgraphs=[graph], buffers=[schema.BufferT()])
    builder = flatbuffers.Builder()
    builder.Finish(model.Pack(builder), b"TFL3")
    interpreter = Interpreter(model_content=bytes(builder.Output()), num_threads=1)
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, a)
    interpreter.set_tensor(1, b)
    interpreter.invoke()
    return interpreter.get_tensor(2)
