"""Fake runtimes that stand in for all real ones: exact, or wrong in one way, as their classes are named.

A `FakeRuntime` divides operations and runs ONNX models; `dividing` makes most of the wrong ones from a rule.
``tests.fake_runtime:Floors`` names one on a command line. `installed` makes one the package ``onnxruntime`` or
``openvino``, as far as Vinculum uses them, in this process and in those of the sandbox. None uses our engine or our
reference; NumPy's float quotients are right.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.machinery import ModuleSpec
from importlib.metadata import Distribution, DistributionFinder
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper
from onnx.external_data_helper import load_external_data_for_model
from onnx.inliner import inline_local_functions
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

from vinculum.conformance.cases.operation import Operation
from vinculum.models.engines.onnxruntime import session
from vinculum.models.engines.onnxruntime.divider import NUMBER, Asked, Divider, Operand
from vinculum.models.engines.reference.operators import Loop
from vinculum.ops.policies import Policies
from vinculum.spec.attributes import checked_attributes
from vinculum.spec.element_types import INT64
from vinculum.spec.model import Dialect, IntegerRounding
from vinculum.spec.rows import find
from vinculum.tensors.broadcasting import join
from vinculum.tensors.inference import infer
from vinculum.tensors.storage import element_type_of

Array = NDArray[Any]
Divide = Callable[[Array, Array], Array]
Rule = Callable[[Divide, Array, Array], Any]
"""Returns quotients, given the division of the base class, and the operands."""

FOREVER = 600.0
VARIABLE = "VINCULUM_FAKE_RUNTIMES"
"""The fakes that are installed in a process, such as ``onnxruntime=Floors``; unset in tests of real runtimes."""
FOREIGN = ("onnxruntime", "openvino", "torch", "jax", "jaxlib")
"""The packages that tests outside of tests/runtimes never import."""


class FakeRuntime:
    """It divides exactly, refuses what it must, and gives 0 where nothing is specified."""

    title = "Fake"

    def check(self) -> None:
        """Require nothing."""

    def start(self) -> None:
        """Import nothing."""

    def versions(self) -> Mapping[str, str]:
        return {}

    def covers(self, operation: Operation) -> bool:
        return operation.spec.dialect is not Dialect.SONNX

    def reproducer(self, operation: Operation) -> str:
        return f"# {operation.spec.title}"

    def answer(self, operation: Operation) -> Array:
        self.look(operation)
        self.checked(operation)
        a, b = self.laid(operation)
        with np.errstate(all="ignore"):
            return np.asarray(self.quotients(operation, a, b))

    def run_model(self, file: Path | str | bytes, inputs: Mapping[str, Any]) -> list[Any]:
        """Return all outputs of an ONNX model, whose divisions are answers of this runtime."""
        return Model(self, file).run(None, inputs)

    def look(self, operation: Operation) -> None:
        """Look at an operation before it is checked; for subclasses."""

    def checked(self, operation: Operation) -> None:
        attributes = checked_attributes(operation.spec, operation.attributes)
        types = [element_type_of(operand) for operand in operation.operands]
        infer(operation.spec, attributes, types, [operand.shape for operand in operation.operands])

    def laid(self, operation: Operation) -> tuple[Array, Array]:
        """Return both operands, broadcast to the shape of the result."""
        if len(operation.operands) == 1:
            (b,) = operation.operands
            return np.ones_like(b), b
        a, b = operation.operands
        axis = self.axis(operation)
        alignment = join(operation.spec.broadcasting_rule(operation.attributes), a.shape, b.shape, axis)
        return _laid(a, alignment.a, alignment.shape), _laid(b, alignment.b, alignment.shape)

    def axis(self, operation: Operation) -> int | None:
        axis = operation.attributes.get("axis")
        return axis if isinstance(axis, int) else None

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if element_type_of(a).is_integer:
            return _integers(a, b, floor=operation.spec.rounding(operation.attributes) is IntegerRounding.FLOOR)
        return a / b

    def remainders(self, a: Array, b: Array, fmod: int) -> Any:
        """Return the result of Mod in a model."""
        return np.fmod(a, b) if fmod else np.mod(a, b)


def _laid(operand: Array, own: tuple[int | None, ...], shape: tuple[int, ...]) -> Array:
    sizes = [1 if dimension is None else operand.shape[dimension] for dimension in own]
    return np.broadcast_to(operand.reshape(sizes), shape)


def _integers(a: Array, b: Array, *, floor: bool) -> Array:
    dtype = a.dtype
    if dtype.itemsize == 1:  # ml_dtypes has no floor_divide.
        a, b = a.astype(np.int64), b.astype(np.int64)
    zero = b == 0
    b = np.where(zero, b.dtype.type(1), b)
    down = a // b
    up = ~np.bool_(floor) & (a - down * b != 0) & ((a < 0) != (b < 0))
    return np.where(zero, 0, down + up.astype(a.dtype)).astype(dtype)


def _is_integer(array: Array) -> bool:
    return bool(element_type_of(array).is_integer)


def _is_overflow(a: Array, b: Array) -> Array:
    """Return where operands are MIN and -1."""
    least = element_type_of(a).minimum if _is_integer(a) else 0
    return np.asarray((a == least) & (b == -1) if least else np.zeros(a.shape, bool))


def dividing(types: str, rule: Rule, base: type[FakeRuntime] = FakeRuntime) -> type[FakeRuntime]:
    """Return a runtime that divides by a rule, and else as its base.

    - `types`: The NumPy names of the types for which the rule is; empty for all.
    """

    class Wrong(base):  # type: ignore[valid-type, misc]
        def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
            if types and a.dtype.name not in types.split():
                return super().quotients(operation, a, b)
            return rule(lambda x, y: np.asarray(base.quotients(self, operation, x, y)), a, b)

    return Wrong


def _by_reciprocal(divide: Divide, a: Array, b: Array) -> Array:
    return np.asarray(a * (np.float32(1) / b))


def _through(wide: Any) -> Rule:
    """Return a rule that divides in another type."""
    return lambda divide, a, b: divide(a.astype(wide), b.astype(wide)).astype(a.dtype)


def _flushed(array: Array) -> Array:
    return np.where(np.abs(array) < np.finfo(np.float32).smallest_normal, np.copysign(np.float32(0), array), array)


def _cut(divide: Divide, a: Array, b: Array) -> Any:
    bits = (a.astype(np.float32) / b.astype(np.float32)).view(np.uint32)
    return (bits >> 16).astype(np.uint16).view(a.dtype)


def _one_less(divide: Divide, a: Array, b: Array) -> Any:
    quotients = divide(a, b)
    return np.where(quotients > 1000, quotients - 1, quotients)


def _refusing_zeros(divide: Divide, a: Array, b: Array) -> Any:
    if np.any(b == 0):
        raise ZeroDivisionError("division\nby zero")
    return divide(a, b)


def _dying(fault: Callable[[Array, Array], Any]) -> Rule:
    """Return a rule that ends the process by SIGFPE where operands are at fault."""

    def rule(divide: Divide, a: Array, b: Array) -> Array:
        if np.any(fault(a, b)):
            os.kill(os.getpid(), signal.SIGFPE)
        return divide(a, b)

    return rule


def _last_of_4(fault: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda a, b: fault(a, b).ravel()[a.size - a.size % 4 :]


def _at_the_smallest(do: Callable[[], Any]) -> Rule:
    """Return a rule that does something before it divides the smallest int64, if that is the only dividend."""

    def rule(divide: Divide, a: Array, b: Array) -> Array:
        if a.size == 1 and a == INT64.minimum:
            do()
        return divide(a, b)

    return rule


class Floors(FakeRuntime):
    """It rounds integers toward minus infinity, whatever is asked."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        return _integers(a, b, floor=True) if _is_integer(a) else a / b


class DiesOfMinByMinusOne(FakeRuntime):
    """It ends the process at MIN / -1, as a processor does."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        return _dying(_is_overflow)(lambda x, y: np.asarray(FakeRuntime.quotients(self, operation, x, y)), a, b)


_F32, _ALL = "float32", ""
MultipliesByReciprocal = dividing(_F32, _by_reciprocal)
FlushesOperands = dividing(_F32, lambda divide, a, b: _flushed(a) / _flushed(b))
LosesTheSignOfZero = dividing(_F32, lambda divide, a, b: a / b + np.float32(0))
CutsBfloat16 = dividing("bfloat16", _cut)
NarrowsInt64 = dividing("int64", _through(np.int32))
InvertsAndNarrows = dividing(_F32, _by_reciprocal, base=NarrowsInt64)
IsOddWithIntegers = dividing("int32", _one_less)
RaisesAtZero = dividing(_ALL, _refusing_zeros)  # Of integers it may, of floats it must not.
DiesAfterPacketsOf4 = dividing(_ALL, _dying(_last_of_4(_is_overflow)))
DiesOfIntegers = dividing(_ALL, _dying(lambda a, b: _is_integer(a) & (b == 0)), base=DiesOfMinByMinusOne)
Sleeps = dividing("int64", _at_the_smallest(lambda: time.sleep(FOREVER)))


class DropsAxis(FakeRuntime):
    """It lays the divisor under the dividend's last dimensions, and refuses where it does not fit there."""

    def axis(self, operation: Operation) -> int | None:
        return None


class AcceptsAll(FakeRuntime):
    """It refuses nothing: it returns the dividend where it cannot divide."""

    def answer(self, operation: Operation) -> Array:
        try:
            return super().answer(operation)
        except Exception:
            return operation.operands[0]


class GivesLists(FakeRuntime):
    """It returns Python lists."""

    def answer(self, operation: Operation) -> Any:
        return super().answer(operation).tolist()


class SaysSurrogates(FakeRuntime):
    """It refuses with a message that cannot be encoded."""

    def look(self, operation: Operation) -> None:
        raise ValueError("no \ud800 kernel")


class Leaks(FakeRuntime):
    """It keeps 32 MiB for each operation."""

    def __init__(self) -> None:
        self._kept: list[Array] = []

    def look(self, operation: Operation) -> None:
        self._kept.append(np.ones(1 << 22))


class Races(FakeRuntime):
    """Every second answer has one quotient that is wrong in its last bit."""

    def __init__(self) -> None:
        self._answers = 0

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        self._answers += 1
        return _last_bit_off(np.array(super().quotients(operation, a, b)), self._answers % 2 == 0)


class EverySecondSessionIsOff(FakeRuntime):
    """The first quotient is wrong in its last bit in every second one that a process makes."""

    _made = 0

    def __init__(self) -> None:
        type(self)._made += 1
        self._off = self._made % 2 == 0

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        return _last_bit_off(np.array(super().quotients(operation, a, b)), self._off)


def _last_bit_off(quotients: Array, off: bool) -> Array:
    if quotients.size and off:
        quotients.reshape(-1).view(f"u{quotients.itemsize}")[0] ^= 1
    return quotients


class RefusesFaults(FakeRuntime):
    """It refuses integers by zero and MIN by -1, in Mod as well; it computes Mod with fmod=1 in double."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        self.look_for_faults(a, b)
        return super().quotients(operation, a, b)

    def remainders(self, a: Array, b: Array, fmod: int) -> Any:
        self.look_for_faults(a, b)
        if fmod and _is_integer(a):
            return np.fmod(a.astype(np.float64), b.astype(np.float64)).astype(a.dtype)
        return super().remainders(a, b, fmod)

    def look_for_faults(self, a: Array, b: Array) -> None:
        """Raise an error where an x86 processor would end the process."""
        if _is_integer(a) and np.any(b == 0):
            raise ZeroDivisionError("SIGFPE of x/0")
        if np.any(_is_overflow(a, b)):
            raise OverflowError("SIGFPE of MIN/-1")


class FloorsAndRefuses(RefusesFaults, Floors):
    """It rounds integers toward minus infinity, and refuses faults."""


_SIGNED = "int8 int16 int32 int64"


def _estimating(precision: Any, rounding: Callable[[Array], Array], *, inverse: bool = False) -> type[FakeRuntime]:
    """Return a runtime that rounds quotients of signed integers through floats, and refuses faults."""

    def rule(divide: Divide, a: Array, b: Array) -> Any:
        divide(a, b)
        dividends, divisors = a.astype(precision), b.astype(precision)
        estimates = rounding(dividends * (1 / divisors) if inverse else dividends / divisors)
        return np.where(np.abs(estimates) < 2.0 ** (8 * a.itemsize - 1), estimates, 0).astype(a.dtype)

    return dividing(_SIGNED, rule, base=RefusesFaults)


def _off_by(error: int, above: float = -1.0) -> type[FakeRuntime]:
    """Return a runtime whose quotients of signed integers above a limit are off, and that refuses faults."""

    def rule(divide: Divide, a: Array, b: Array) -> Any:
        exact = divide(a, b)
        return np.where(np.abs(exact.astype(np.float64)) > above, exact + exact.dtype.type(error), exact)

    return dividing(_SIGNED, rule, base=RefusesFaults)


EstimatesSigned = _estimating(np.float32, np.trunc)
EstimatesInDouble = _estimating(np.float64, np.trunc)
EstimatesByReciprocal = _estimating(np.float32, np.trunc, inverse=True)
FloorsByReciprocal = _estimating(np.float32, np.floor, inverse=True)
EstimatesByReciprocalInDouble = _estimating(np.float64, np.trunc, inverse=True)
RoundsEstimates, RoundsEstimatesInDouble = (_estimating(each, np.rint) for each in (np.float32, np.float64))
RoundsUpInDouble = _estimating(np.float64, np.ceil)
IsOneTooHigh, IsOneTooLow = _off_by(1), _off_by(-1)
IsOneTooHighAbove20Bits, IsOneTooLowAbove20Bits = _off_by(1, 2.0**20), _off_by(-1, 2.0**20)

for _name, _made in list(globals().items()):  # Processes of the sandbox find them by their names.
    if isinstance(_made, type) and issubclass(_made, FakeRuntime):
        _made.__name__ = _made.__qualname__ = _name


class Library(FakeRuntime):
    """Stands in for the library of `vinculum.onnxruntime`: exact, or asking the divider of its process."""

    def __init__(self, entries: Mapping[str, str]) -> None:
        self._policies = Policies(entries["zero_divisor"], entries["overflow"])  # type: ignore[arg-type]
        self._divider = Divider(int(entries["divider"])) if "divider" in entries else None

    def answer(self, operation: Operation) -> Array:
        attributes = dict(operation.attributes)
        number = attributes.pop(NUMBER)
        bare = replace(operation, attributes=attributes)
        if self._divider is not None:
            return self._asked(int(str(number)), bare)
        quotients = super().answer(bare)
        a, b = self.laid(bare)
        if element_type_of(b).is_integer:
            overflow = (a == np.iinfo(a.dtype).min) & (b + b.dtype.type(1) == 0) & (a < 0)
            for policy, found in ((self._policies.zero_divisor, b == 0), (self._policies.overflow, overflow)):
                if policy == "raise" and found.any():
                    raise RuntimeError("vinculum: this is not allowed")
            if self._policies.zero_divisor == "saturate":
                limits = np.where(a < 0, np.iinfo(a.dtype).min, np.iinfo(a.dtype).max).astype(a.dtype)
                quotients = np.where((b == 0) & (a != 0), limits, quotients)
            if self._policies.overflow == "saturate":
                quotients = np.where(overflow, np.iinfo(a.dtype).max, quotients)
        return quotients

    def _asked(self, number: int, operation: Operation) -> Array:
        arrays = [np.array(operand, order="C") for operand in operation.operands]
        result = np.empty(self.laid(operation)[0].shape, arrays[0].dtype)
        operands = [_handed_on(array) for array in (*([] if arrays[1:] else [result[:0]]), *arrays, result)]
        code = helper.np_dtype_to_tensor_dtype(result.dtype)
        assert self._divider is not None
        if self._divider(Asked(number, code, *operands)):
            raise RuntimeError("vinculum: the divider failed")
        for array in arrays:  # A runtime reuses the memory of operands.
            array.fill(77)
        return result


def _handed_on(array: Array) -> Operand:
    return Operand(array.ctypes.data, array.ndim, (ctypes.c_ssize_t * array.ndim)(*array.shape))


class Model:
    """An ONNX model in ONNX's reference evaluator, whose divisions a fake runtime computes.

    Raises
    ------
    Exception
        Any of onnx's, if it cannot read or run the model.
    """

    def __init__(self, runtime: FakeRuntime, model: Path | str | bytes) -> None:
        content = model if isinstance(model, bytes) else Path(model).read_bytes()
        proto = _inlined(ModelProto.FromString(content))
        if not isinstance(model, bytes):
            load_external_data_for_model(proto, str(Path(model).parent))
        constants = {initializer.name for initializer in proto.graph.initializer}
        self.inputs = [_declared(value) for value in proto.graph.input if value.name not in constants]
        self._names = {value.name for value in proto.graph.input}
        self.outputs = [_declared(value) for value in proto.graph.output]
        self._proto, self._operators = proto, _operators(runtime)
        self._given: dict[str, Any] = {}
        self._evaluator: ReferenceEvaluator | None = None

    def give(self, initializers: Mapping[str, Array]) -> None:
        """Set initializers that the model declares as external."""
        self._given = dict(initializers)
        kept = [initializer for initializer in self._proto.graph.initializer if initializer.name not in self._given]
        del self._proto.graph.initializer[:]
        self._proto.graph.initializer.extend(kept)
        self._proto.graph.input.extend(helper.make_empty_tensor_value_info(name) for name in self._given)

    def load(self) -> ReferenceEvaluator:
        """Refuse a model that cannot be run, as runtimes do when they load it."""
        if self._evaluator is None:
            self._evaluator = ReferenceEvaluator(self._proto, new_ops=self._operators)
        return self._evaluator

    def run(self, names: Sequence[str] | None, inputs: Mapping[str, Any]) -> list[Any]:
        """Return outputs by name, or all for None."""
        evaluator = self.load()
        if not {value.name for value in self.inputs} <= inputs.keys() <= self._names:
            raise ValueError(f"the inputs are {sorted(inputs)}; the model declares {sorted(self._names)}")
        with np.errstate(all="ignore"):
            found = dict(zip(evaluator.output_names, evaluator.run(None, {**self._given, **inputs}), strict=True))
        return [found[name] for name in names or found]


def _inlined(proto: ModelProto) -> ModelProto:
    """Return a model without functions, in which the evaluator would not use our operators."""
    (version,) = (entry.version for entry in proto.opset_import if entry.domain == "")
    for function in proto.functions:  # Functions of another operator set would not be inlined.
        for entry in function.opset_import:
            entry.version = entry.version if entry.domain else version
    return inline_local_functions(proto)


def _declared(value: Any) -> SimpleNamespace:
    tensor = value.type.tensor_type
    name = TensorProto.DataType.Name(tensor.elem_type).lower()
    shape = [size.dim_value if size.HasField("dim_value") else size.dim_param for size in tensor.shape.dim]
    kind = f"tensor({name})" if value.type.WhichOneof("value") in (None, "tensor_type") else "another"
    return SimpleNamespace(name=value.name, type=kind, shape=shape)


def _operators(runtime: FakeRuntime) -> list[type[OpRun]]:
    """Return operators, which the evaluator finds by class name; its own Loop has bugs."""

    class Div(OpRun):
        op_domain = ""

        def _run(self, *operands: Any, **_: Any) -> tuple[Any]:
            attributes = {a.name: helper.get_attribute_value(a) for a in self.onnx_node.attribute}
            spec = find(self.onnx_node.op_type, opset=self.run_params["opsets"][""])
            arrays = tuple(map(np.asarray, operands))
            return (runtime.answer(Operation(spec, attributes, arrays, (False,) * len(arrays))),)

    class Reciprocal(Div):
        pass

    class Mod(OpRun):
        op_domain = ""

        def _run(self, a: Any, b: Any, fmod: int | None = None) -> tuple[Any]:
            dividend, divisor = np.broadcast_arrays(a, b)
            return (np.asarray(runtime.remainders(dividend, divisor, fmod or 0)),)

    return [Div, Reciprocal, Mod, Loop]


class OrtValue:
    """A tensor of the package ``onnxruntime``."""

    def __init__(self, value: Any) -> None:
        self._value = np.ascontiguousarray(value).reshape(np.shape(value)) if isinstance(value, np.ndarray) else value

    @staticmethod
    def ortvalue_from_numpy(array: Array) -> OrtValue:
        return OrtValue(array)

    @staticmethod
    def ortvalue_from_numpy_with_onnx_type(array: Array, code: int) -> OrtValue:
        return OrtValue(array.view(helper.tensor_dtype_to_np_dtype(code)))

    def element_type(self) -> int:
        return int(helper.np_dtype_to_tensor_dtype(self._value.dtype))

    def shape(self) -> list[int]:
        return list(self._value.shape)

    def numpy(self) -> Any:
        return self._value

    def data_ptr(self) -> int:
        return int(self._value.ctypes.data)

    def tensor_size_in_bytes(self) -> int:
        return int(self._value.nbytes)


class SessionOptions(SimpleNamespace):
    """The options of a session: with our library, a `Library` divides; otherwise they have no effect."""

    def __init__(self) -> None:
        super().__init__(entries={}, library=None, initializers={})

    def add_session_config_entry(self, name: str, value: str) -> None:
        self.entries[name] = value

    def register_custom_ops_library(self, path: str) -> None:
        self.library = Library({name.rpartition(".")[2]: value for name, value in self.entries.items()})

    def add_external_initializers(self, names: list[str], values: list[OrtValue]) -> None:
        self.initializers = {name: value.numpy() for name, value in zip(names, values, strict=True)}


class InferenceSession(Model):
    """A session of the package ``onnxruntime``."""

    def __init__(self, model: str | bytes, options: SessionOptions | None = None, **_: Any) -> None:
        options = options or SessionOptions()
        super().__init__(options.library or _installed()["onnxruntime"](), model)
        self.give(options.initializers)
        self.load()

    def get_inputs(self) -> list[SimpleNamespace]:
        return self.inputs

    def get_outputs(self) -> list[SimpleNamespace]:
        return self.outputs

    def get_providers(self) -> list[str]:
        return ["CPUExecutionProvider"]

    def run(self, names: Sequence[str] | None, inputs: Mapping[str, Any]) -> list[Any]:
        return super().run(names, {name: getattr(value, "_value", value) for name, value in inputs.items()})

    def run_with_ort_values(self, names: Sequence[str], inputs: Mapping[str, OrtValue]) -> list[OrtValue]:
        return list(map(OrtValue, self.run(names, inputs)))


class Core:
    """The device manager of the package ``openvino``; it reads ONNX only."""

    def read_model(self, model: str | bytes, weights: bytes = b"") -> Model:
        return Model(_installed()["openvino"](), model)

    def compile_model(self, model: Model, device: str, options: Mapping[str, str]) -> SimpleNamespace:
        names = [output.name for output in model.outputs]
        model.load()

        def infer(inputs: Mapping[str, Any]) -> dict[str, Any]:
            return dict(zip(names, model.run(names, inputs), strict=True))

        return SimpleNamespace(outputs=names, create_infer_request=lambda: SimpleNamespace(infer=infer))


def _package(name: str, **contents: Any) -> ModuleType:
    module = ModuleType(name)
    module.__spec__ = ModuleSpec(name, None)  # what `find_spec` looks for
    vars(module).update(contents, __version__="0")
    return module


_ANY = DistributionFinder.Context()
_PACKAGES = {
    "onnxruntime": _package(
        "onnxruntime",
        InferenceSession=InferenceSession,
        OrtValue=OrtValue,
        SessionOptions=SessionOptions,
        GraphOptimizationLevel=SimpleNamespace(ORT_ENABLE_ALL=99, ORT_ENABLE_BASIC=1, ORT_DISABLE_ALL=0),
        get_available_providers=lambda: ["CPUExecutionProvider"],
    ),
    "openvino": _package("openvino", Core=Core),
}


def _installed() -> dict[str, type[FakeRuntime]]:
    named = (entry.split("=") for entry in os.environ.get(VARIABLE, "").split(",") if entry)
    return {package: globals()[behaviour] for package, behaviour in named}


class _Distribution(Distribution):
    """The metadata of a fake, for `importlib.metadata`."""

    def __init__(self, name: str) -> None:
        self._metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 0\n"

    def read_text(self, filename: str) -> str | None:
        return self._metadata if filename == "METADATA" else None

    def locate_file(self, path: Any) -> Any:
        return Path(path)


class _Distributions(DistributionFinder):
    """Finds the distributions of fakes before those of the real packages."""

    def find_spec(self, *_: Any) -> None:
        """Find no module."""

    def find_distributions(self, context: DistributionFinder.Context = _ANY) -> Iterator[Distribution]:
        return (_Distribution(name) for name in _installed() if name == context.name)


_FINDER = _Distributions()


def hide_runtimes() -> None:
    """Replace real runtimes by the fakes that the variable names, or hide them; without the variable do nothing."""
    if VARIABLE not in os.environ:
        return
    fakes = _installed()
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
    for name in FOREIGN:
        sys.modules[name] = _PACKAGES[name] if name in fakes else None  # type: ignore[assignment]  # None: not installed
    session.onnxruntime.cache_clear()


@contextmanager
def installed(**fakes: type[FakeRuntime]) -> Iterator[None]:
    """Install a fake as the package of each keyword, here and in processes of the sandbox."""
    before = os.environ[VARIABLE]
    os.environ[VARIABLE] = ",".join(f"{package}={behaviour.__name__}" for package, behaviour in fakes.items())
    hide_runtimes()
    try:
        yield
    finally:
        os.environ[VARIABLE] = before
        hide_runtimes()
