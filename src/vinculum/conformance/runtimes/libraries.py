"""Libraries whose operators are called with arrays; the source in a row is both evaluated and printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache, cached_property
from types import CodeType
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation, rounding_asked
from vinculum.conformance.runtimes.interfaces import divided_by_litert
from vinculum.conformance.runtimes.protocol import Packaged, check_names, chosen
from vinculum.conformance.runtimes.reproducer import (
    body_lines,
    operand_lines,
    operand_names,
    print_quotient,
    python_program,
)
from vinculum.sandbox import UnsupportedError
from vinculum.spec.element_types import Kind
from vinculum.spec.model import IntegerRounding
from vinculum.spec.onnx_div import DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_13
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.tensors.storage import element_type_of
from vinculum.text import one_line


class Function(Enum):
    """The functions of libraries for division."""

    DIVIDE = "division"
    TRUNCATING_DIVIDE = "truncating division of integers"
    FLOOR_DIVIDE = "floor division of integers"
    RECIPROCAL = "reciprocal"


@dataclass(eq=False)
class Library(Packaged):
    """A runtime: how a library is called, as Python source with the names ``a`` and ``b``, or ``x`` of a reciprocal.

    - `name`, `title`, `package`: What the command line and what sentences call it, and the package to import.
    - `imports`: The lines that import it, and set what must be set.
    - `calls`: The expression that gives the quotient, or a function whose body does, without branches. What is missing
      is not supported; unsigned integers are truncated by a floor division too.
    - `types`: NumPy's or ml_dtypes' names of the element types that it has, and its own. Empty if it takes all by these
      names.
    - `array`, `back`: An array of the library, and an array of NumPy, of what ``{0}`` names; ``{type}`` is its own name
      of the type.
    - `foreign_array`, `foreign_back`: The same of element types that NumPy lacks, if these travel as their bits: as
      ``np.{bits}``.
    - `call`: What is evaluated, of the ``{call}`` and its operands' ``{names}``.
    - `needs`: Other packages on which its answers depend.
    - `install`: What pip installs, if not the package.
    - `options`: For each option its allowed values, the default first, and the attributes that each changes.
    """

    name: str
    title: str
    package: str
    imports: tuple[str, ...]
    calls: Mapping[Function, str | Callable[..., Any]]
    types: Mapping[str, str] = field(default_factory=dict)
    array: str = "{0}"
    back: str = "np.asarray({0})"
    foreign_array: str = ""
    foreign_back: str = ""
    call: str = "{call}"
    needs: tuple[str, ...] = ()
    install: str = ""
    options: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)

    def with_options(self, given: Mapping[str, str]) -> Library:
        """Return the library as options change it.

        AttributeValueError if there is no such option or value.
        """
        check_names(self.name, given, tuple(self.options))
        changed = self
        for name, values in self.options.items():
            changed = replace(changed, **values[chosen(self.name, name, given, tuple(values), next(iter(values)))])
        return changed

    def covers(self, operation: Operation) -> bool:
        """Tell whether a function call can express this: the newest version, no constants nor other attributes.

        The rounding selects the function. As functions always broadcast, a rule that forbids broadcasting can be tested
        with equal shapes only.
        """
        if operation.spec not in (DIV_14, RECIPROCAL_13, DIVIDE_1) or any(operation.constant):
            return False
        attributes = dict(operation.attributes)
        if operation.spec is DIVIDE_1:
            rounding, rule = attributes.pop("m_pythondiv", True), attributes.pop("auto_broadcast", "numpy")
            shapes = {operand.shape for operand in operation.operands}
            if not isinstance(rounding, bool) or (rule != "numpy" and (rule, len(shapes)) != ("none", 1)):
                return False
        return not attributes and len(operation.operands) == len(operation.spec.inputs)

    def answer(self, operation: Operation) -> NDArray[Any]:
        """Return the result of the call; its NotImplementedError becomes UnsupportedError."""
        call = self._call(operation)
        names = dict(zip(operand_names(operation), (np.array(o, order="C") for o in operation.operands), strict=True))
        try:
            with np.errstate(all="ignore"):
                arrays = {name: self._evaluated(self._array(name, a.dtype), **names) for name, a in names.items()}
                quotient = call(*arrays.values()) if callable(call) else self._evaluated(call, **arrays)
                back = self._back("quotient", str(getattr(quotient, "dtype", "")).rpartition(".")[2])
                return np.array(self._evaluated(back, quotient=quotient))
        except NotImplementedError as error:
            raise UnsupportedError(one_line(error)) from None

    def reproducer(self, operation: Operation) -> str:
        """Return Python source that makes the same call, or says that there is none."""
        try:
            call = self._call(operation)
        except UnsupportedError as error:
            return python_program(*operand_lines(operation), f"print({str(error)!r})")
        given = zip(operand_names(operation), operation.operands, strict=True)
        arrays = [(name, self._array(name, array.dtype)) for name, array in given]
        lines = [f"{name} = {array}" for name, array in arrays if name != array]
        lines += body_lines(call, "quotient") if callable(call) else [f"quotient = {call}"]
        own = {self._own(operand.dtype) for operand in operation.operands}
        # Of two element types only the library knows what they give.
        lines.append(print_quotient("quotient" if len(own) > 1 else self._back("quotient", own.pop())))
        return python_program(*self.imports, *operand_lines(operation), *lines)

    @cached_property
    def _names(self) -> dict[str, Any]:
        """What the very lines of imports that a reproducer shows define."""
        names: dict[str, Any] = {"np": np, "ml_dtypes": ml_dtypes}
        exec("\n".join(self.imports), names)
        return names

    def _evaluated(self, source: str, **names: Any) -> Any:
        return eval(_compiled(source), self._names, names)

    def _call(self, operation: Operation) -> str | Callable[..., Any]:
        """Return the call of an operation; the dividend's element type decides."""
        for operand in operation.operands:
            if self.types and operand.dtype.name not in self.types:
                raise UnsupportedError(f"{self.title} has no division of {operand.dtype.name}")
        function = _function(operation)
        call = self.calls.get(function)
        if function is Function.TRUNCATING_DIVIDE and element_type_of(operation.operands[0]).kind is Kind.UNSIGNED:
            call = call or self.calls.get(Function.FLOOR_DIVIDE)
        if call is None:
            raise UnsupportedError(f"{self.title} has no {function.value}")
        names = ", ".join(operand_names(operation))
        return call if callable(call) else self.call.format(call=call, names=names)

    def _own(self, dtype: np.dtype[Any]) -> str:
        return self.types.get(dtype.name, dtype.name)

    def _array(self, name: str, dtype: np.dtype[Any]) -> str:
        """Return the expression of an array of the library."""
        foreign = self.foreign_array if not hasattr(np, dtype.name) else ""
        return (foreign or self.array).format(name, type=self._own(dtype), bits=f"uint{8 * dtype.itemsize}")

    def _back(self, name: str, own: str) -> str:
        """Return the expression of NumPy's array of an array of the library's own element type."""
        known = {mine: numpys for numpys, mine in self.types.items()}.get(own, own)
        if not self.foreign_back or hasattr(np, known) or not hasattr(ml_dtypes, known):
            return self.back.format(name)
        bits = f"uint{8 * np.dtype(getattr(ml_dtypes, known)).itemsize}"
        return self.foreign_back.format(name, type=known, bits=bits)


@cache  # PyTorch and JAX keep what they compiled by the code of the function that they compile.
def _compiled(source: str) -> CodeType:
    return compile(source, "<call>", "eval")


def _function(operation: Operation) -> Function:
    """Return the function that executes an operation; the dividend's element type decides."""
    if operation.spec.name == "Reciprocal":
        return Function.RECIPROCAL
    if not element_type_of(operation.operands[0]).is_integer:
        return Function.DIVIDE
    floors = rounding_asked(operation) is IntegerRounding.FLOOR
    return Function.FLOOR_DIVIDE if floors else Function.TRUNCATING_DIVIDE


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
        "platform": {"cpu": {}, "gpu": {"imports": (*_JAX, 'jax.config.update("jax_platforms", "cuda")')}},
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

# Its integers of 8 and 16 bits are quantized numbers, which no operator of the standards divides.
LITERT = Library(
    name="litert",
    title="LiteRT",
    package="ai_edge_litert",
    imports=(),
    calls={_DIVIDE: divided_by_litert, _TRUNCATE: divided_by_litert},
    types={name: name for name in ("float16", "float32", "int32")},
    install="ai-edge-litert",
)

LIBRARIES = {one.name: one for one in (NUMPY, TORCH, JAX, TENSORFLOW, MLX, TINYGRAD, MNN, LITERT)}
"""The rows by the names on the command line."""
