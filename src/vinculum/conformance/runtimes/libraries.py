"""The table of libraries that are called with arrays: NumPy, PyTorch, JAX, TensorFlow and further ones."""

from __future__ import annotations

from typing import Any

from vinculum.conformance.runtimes.calls import Function, Library

_DIVIDE, _TRUNCATE, _FLOOR = Function.DIVIDE, Function.TRUNCATING_DIVIDE, Function.FLOOR_DIVIDE
_RECIPROCAL = Function.RECIPROCAL

_TYPES = ("bfloat16", "float16", "float32", "float64", *(f"{sign}int{2**n}" for sign in ("", "u") for n in range(3, 7)))
_OWN = {name: name for name in _TYPES}

NUMPY = Library(
    name="numpy",
    title="NumPy",
    package="numpy",
    imports=('np.seterr(all="ignore")',),
    calls={_DIVIDE: "np.divide(a, b)", _FLOOR: "np.floor_divide(a, b)", _RECIPROCAL: "np.reciprocal(x)"},
    needs=("ml_dtypes",),
)

TORCH = Library(
    name="torch",
    title="PyTorch",
    package="torch",
    imports=("import torch",),
    calls={
        _DIVIDE: "torch.div(a, b)",
        _TRUNCATE: 'torch.div(a, b, rounding_mode="trunc")',
        _FLOOR: 'torch.div(a, b, rounding_mode="floor")',
        _RECIPROCAL: "torch.reciprocal(x)",
    },
    types=_OWN,
    array="torch.tensor({0})",
    back="{0}.numpy()",
    foreign_array="torch.tensor({0}.view(np.{bits})).view(torch.{type})",
    foreign_back="{0}.view(torch.{bits}).numpy().view(ml_dtypes.{type})",
    options={
        "device": {
            "cpu": {},
            "cuda": {
                "array": 'torch.tensor({0}, device="cuda")',
                "foreign_array": 'torch.tensor({0}.view(np.{bits}), device="cuda").view(torch.{type})',
                "back": "{0}.cpu().numpy()",
                "foreign_back": "{0}.cpu().view(torch.{bits}).numpy().view(ml_dtypes.{type})",
            },
        },
        "compile": {
            "false": {},
            # What the limit turns away would be computed without the compiler, and nothing would say so.
            "true": {
                "title": "PyTorch, compiled",
                "imports": ("import torch", "import torch._dynamo", "torch._dynamo.config.recompile_limit = 10**6"),
                "call": "torch.compile(lambda {names}: {call}, dynamic=True, fullgraph=True)({names})",
            },
        },
    },
)

_JAX = ("import jax", "import jax.numpy as jnp", 'jax.config.update("jax_enable_x64", True)')

JAX = Library(
    name="jax",
    title="JAX",
    package="jax",
    imports=(*_JAX, 'jax.config.update("jax_platforms", "cpu")'),
    calls={
        _DIVIDE: "jnp.divide(a, b)",
        _TRUNCATE: "jax.lax.div(*jnp.broadcast_arrays(a, b))",  # It takes equal shapes only, and no other truncates.
        _FLOOR: "jnp.floor_divide(a, b)",
        _RECIPROCAL: "jnp.reciprocal(x)",
    },
    needs=("jaxlib", "numpy", "ml_dtypes"),
    options={
        "platform": {
            "cpu": {},
            "gpu": {"imports": (*_JAX, 'jax.config.update("jax_platforms", "cuda")')},
        },
        "jit": {"false": {}, "true": {"call": "jax.jit(lambda {names}: {call})({names})"}},
    },
)

TENSORFLOW = Library(
    name="tensorflow",
    title="TensorFlow",
    package="tensorflow",
    imports=("import tensorflow as tf",),
    calls={
        _DIVIDE: "tf.divide(a, b)",
        _TRUNCATE: "tf.truncatediv(a, b)",
        _FLOOR: "tf.math.floordiv(a, b)",
        _RECIPROCAL: "tf.math.reciprocal(x)",
    },
    types=_OWN,
    array="tf.constant({0})",
    back="{0}.numpy()",
    needs=("ml_dtypes",),
    install="tensorflow-cpu",
)

MLX = Library(
    name="mlx",
    title="MLX",
    package="mlx.core",
    imports=("import mlx.core as mx", "mx.set_default_device(mx.cpu)  # which alone has float64"),
    calls={_DIVIDE: "mx.divide(a, b)", _FLOOR: "mx.floor_divide(a, b)", _RECIPROCAL: "mx.reciprocal(x)"},
    types=_OWN,
    array="mx.array({0}, mx.{type})",
    back="np.array({0})",
    foreign_array="mx.array({0}.view(np.{bits})).view(mx.{type})",
    foreign_back="np.array({0}.view(mx.{bits})).view(ml_dtypes.{type})",
    needs=("mlx",),
    install="mlx mlx-cpu",
)

_IN_C = ("bfloat16", "half", "float", "double", "char", "short", "int", "long", "uchar", "ushort", "uint", "ulong")

TINYGRAD = Library(
    name="tinygrad",
    title="tinygrad",
    package="tinygrad",
    imports=("from tinygrad import Tensor, dtypes",),
    calls={
        _DIVIDE: "a / b",
        _TRUNCATE: 'a.div(b, rounding_mode="trunc")',
        _FLOOR: "a // b",
        _RECIPROCAL: "x.reciprocal()",
    },
    types=dict(zip(_TYPES, _IN_C, strict=True)),
    array='Tensor({0}, device="CPU")',
    back="{0}.numpy()",
    foreign_array='Tensor({0}.view(np.{bits}), device="CPU").bitcast(dtypes.{type})',
    foreign_back="{0}.bitcast(dtypes.{bits}).numpy().view(ml_dtypes.{type})",
    install="tinygrad",
)

MNN = Library(
    name="mnn",
    title="MNN",
    package="MNN",
    imports=("import MNN.expr as F",),
    calls={
        _DIVIDE: "F.divide(a, b)",
        _TRUNCATE: "F.divide(a, b)",
        _FLOOR: "F.floordiv(a, b)",
        _RECIPROCAL: "F.reciprocal(x)",
    },
    types={"float32": "float", "int32": "int"},
    array="F.const({0}.reshape(-1), list({0}.shape), F.NCHW, F.{type})",
    back="np.array({0}.read())",
    install="MNN",
)


def _divided_by_litert(a: Any, b: Any) -> Any:
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


# Its integers of 8 and 16 bits are quantized numbers, which no operator of the standards divides.
LITERT = Library(
    name="litert",
    title="LiteRT",
    package="ai_edge_litert",
    imports=(),
    calls={_DIVIDE: _divided_by_litert, _TRUNCATE: _divided_by_litert},
    types={name: name for name in ("float16", "float32", "int32")},
    install="ai-edge-litert",
)

LIBRARIES = {one.name: one for one in (NUMPY, TORCH, JAX, TENSORFLOW, MLX, TINYGRAD, MNN, LITERT)}
"""The rows by the names on the command line."""
