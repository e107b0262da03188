"""Random models of 2 to 30 operators that the analysis knows, every value of which is handed out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, helper, numpy_helper

import vinculum
from tests.analysis.containment import complaint, looked_at
from tests.analysis.operands import drawn
from tests.analysis.trying import Engine, Maker
from vinculum.analysis.domain.abstract_tensor import anything
from vinculum.analysis.domain.dimensions import variable

Shape = tuple[int, ...]
_UNARY = (
    *("Abs", "Neg", "Relu", "Exp", "Sqrt", "Tanh", "Sigmoid", "Erf", "Floor", "Ceil", "Round", "Reciprocal", "Log"),
    *("LeakyRelu", "Elu", "Softplus", "Softsign", "HardSigmoid", "Sign", "Identity", "Sin", "Atan", "Selu", "Softmax"),
    *("LogSoftmax", "HardSwish", "Mish", "Celu", "LpNormalization", "Hardmax"),
)
_OF_ROWS = ("Softmax", "LogSoftmax", "LpNormalization", "Hardmax")
_OF_WIDE_TYPES = ("Celu",)  # ONNX allows it float16 only from where ONNX Runtime does not know it.
_BINARY = ("Add", "Sub", "Mul", "Div", "Max", "Min", "Add", "Sub", "Mul", "Div", "PRelu")
_REDUCTIONS = tuple(f"Reduce{name}" for name in ("Sum", "Mean", "Max", "Min", "L2", "L1", "SumSquare", "Prod"))


@dataclass
class _Builder:
    rng: np.random.Generator
    dtype: Any = np.float32
    floats: list[tuple[str, Shape]] = field(default_factory=list)
    truths: list[tuple[str, Shape]] = field(default_factory=list)
    integers: list[tuple[str, Shape]] = field(default_factory=list)
    nodes: list[NodeProto] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)

    def constant(self, array: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def add(self, operator: str, operands: list[str], **attributes: Any) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, operands, [name], **attributes))
        return name

    def pick(self, pool: list[tuple[str, Shape]]) -> tuple[str, Shape]:
        """Return a value, a late one more often than an early one."""
        place = len(pool) - 1 - int(self.rng.integers(len(pool)) * self.rng.random())
        return pool[place]

    def whole(self, *values: int) -> str:
        """Return a constant list of integers."""
        return self.constant(np.array(values, np.int64))

    def number(self) -> str:
        values = [0.0, 1.0, -1.0, 2.0, 0.5, 1e-5, 1e-12, 1e-20, 1e-38, 3.0, 100.0, 1e10]
        with np.errstate(over="ignore"):
            return self.real(float(self.rng.choice(values)))

    def real(self, values: Any) -> str:
        """Return a constant of the model's floating-point type."""
        return self.constant(np.asarray(values).astype(self.dtype))


def _joined(a: Shape, b: Shape) -> Shape:
    return tuple(int(size) for size in np.broadcast_shapes(a, b))


def _unary(builder: _Builder) -> None:
    name, shape = builder.pick(builder.floats)
    operator = str(builder.rng.choice(_UNARY))
    if (operator in _OF_ROWS and not shape) or (operator in _OF_WIDE_TYPES and builder.dtype == np.float16):
        operator = "Abs"
    builder.floats.append((builder.add(operator, [name]), shape))


def _binary(builder: _Builder) -> None:
    operator = str(builder.rng.choice(_BINARY))
    a, b = builder.pick(builder.floats), builder.pick(builder.floats)
    if builder.rng.random() < 0.3:
        b = (builder.number(), ())
    if operator == "PRelu" and _joined(a[1], b[1]) != a[1]:
        operator = "Mul"
    builder.floats.append((builder.add(operator, [a[0], b[0]]), _joined(a[1], b[1])))


def _reduced(builder: _Builder) -> None:
    name, shape = builder.pick(builder.floats)
    axis = int(builder.rng.integers(len(shape))) if shape else 0
    axes = builder.constant(np.array([axis] if shape else [], np.int64))
    result = builder.add(str(builder.rng.choice(_REDUCTIONS)), [name, axes], keepdims=1)
    builder.floats.append((result, tuple(1 if x == axis else size for x, size in enumerate(shape))))


def _guarded(builder: _Builder) -> None:
    """Divide as people do: by a norm, by a sum, by a maximum, by what is not zero."""
    name, shape = builder.pick(builder.floats)
    if not shape:
        return
    axes = builder.whole(len(shape) - 1)
    kind = int(builder.rng.integers(6))
    if kind == 0:
        square = builder.add("Mul", [name, name])
        mean = builder.add("ReduceMean", [square, axes], keepdims=1)
        divisor = builder.add("Sqrt", [builder.add("Add", [mean, builder.real(1e-6)])])
        divisor = builder.add("Reciprocal", [divisor])
        builder.floats.append((builder.add("Mul", [name, divisor]), shape))
        return
    if kind == 1:
        divisor = builder.add("ReduceL2", [name, axes], keepdims=1)
        divisor = builder.add("Max", [divisor, builder.real(1e-12)])
    elif kind == 2:
        largest = builder.add("ReduceMax", [name, axes], keepdims=1)
        name = builder.add("Exp", [builder.add("Sub", [name, largest])])
        divisor = builder.add("ReduceSum", [name, axes], keepdims=1)
    elif kind == 3:
        zero = builder.add("Equal", [name, builder.real(0)])
        divisor = builder.add("Where", [zero, builder.real(1), name])
    elif kind == 4:
        name = builder.add("Softmax", [name], axis=-1)
        divisor = builder.add("ReduceSum", [name, axes], keepdims=1)
    else:
        shifted = builder.add("Sub", [name, builder.pick([f for f in builder.floats if f[1] == shape])[0]])
        divisor = builder.add("Add", [shifted, name])
    builder.floats.append((builder.add("Div", [name, divisor]), shape))


def _compared(builder: _Builder) -> None:
    a, b = builder.pick(builder.floats), builder.pick(builder.floats)
    operator = str(builder.rng.choice(["Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"]))
    if builder.rng.random() < 0.5:
        b = (builder.number(), ())
    builder.truths.append((builder.add(operator, [a[0], b[0]]), _joined(a[1], b[1])))


def _tested(builder: _Builder) -> None:
    name, shape = builder.pick(builder.floats)
    builder.truths.append((builder.add(str(builder.rng.choice(["IsNaN", "IsInf"])), [name]), shape))


def _logic(builder: _Builder) -> None:
    if not builder.truths:
        return _compared(builder)
    a, b = builder.pick(builder.truths), builder.pick(builder.truths)
    if builder.rng.random() < 0.4:
        builder.truths.append((builder.add("Not", [a[0]]), a[1]))
    else:
        operator = str(builder.rng.choice(["And", "Or", "Xor"]))
        builder.truths.append((builder.add(operator, [a[0], b[0]]), _joined(a[1], b[1])))
    return None


def _chosen(builder: _Builder) -> None:
    if not builder.truths:
        return _compared(builder)
    condition, a, b = builder.pick(builder.truths), builder.pick(builder.floats), builder.pick(builder.floats)
    if builder.rng.random() < 0.4:
        a = (builder.number(), ())
    shape = _joined(_joined(condition[1], a[1]), b[1])
    builder.floats.append((builder.add("Where", [condition[0], a[0], b[0]]), shape))
    return None


def _cast(builder: _Builder) -> None:
    pool = builder.truths if builder.truths and builder.rng.random() < 0.3 else []
    pool = pool or (builder.integers if builder.integers and builder.rng.random() < 0.5 else [])
    if pool:
        name, shape = builder.pick(pool)
        to = helper.np_dtype_to_tensor_dtype(np.dtype(builder.dtype))
        builder.floats.append((builder.add("Cast", [name], to=to), shape))
    else:
        name, shape = builder.pick(builder.floats)
        limited = builder.add("Clip", [name, builder.real(-9), builder.real(9)])
        kept = builder.add("Where", [builder.add("IsNaN", [limited]), builder.real(0), limited])
        builder.integers.append((builder.add("Cast", [kept], to=7), shape))


def _integer(builder: _Builder) -> None:
    if not builder.integers:
        return _cast(builder)
    a, b = builder.pick(builder.integers), builder.pick(builder.integers)
    operator = str(builder.rng.choice(["Add", "Sub", "Mul", "Max", "Min", "Div", "Mod"]))
    if operator in ("Div", "Mod"):
        positive = builder.add("Max", [builder.add("Abs", [b[0]]), builder.constant(np.array(1, np.int64))])
        b = (positive, b[1])
    builder.integers.append((builder.add(operator, [a[0], b[0]]), _joined(a[1], b[1])))
    return None


def _moved(builder: _Builder) -> None:
    name, shape = builder.pick([f for f in builder.floats if len(f[1]) == 2] or builder.floats)
    if len(shape) != 2:
        return
    kind = int(builder.rng.integers(5))
    if kind == 0:
        turned = builder.add("Transpose", [builder.add("Transpose", [name], perm=[1, 0])], perm=[1, 0])
        builder.floats.append((turned, shape))
    elif kind == 1:
        flat = builder.add("Reshape", [name, builder.whole(-1)])
        builder.floats.append((builder.add("Reshape", [flat, builder.constant(np.array(shape, np.int64))]), shape))
    elif kind == 2 and shape[1] > 1:
        halves = [builder.add("Slice", [name, *(builder.whole(v) for v in ends)]) for ends in ((0, 2, 1), (2, 99, 1))]
        builder.floats.append((builder.add("Concat", halves[::-1], axis=1), shape))
    elif kind == 3:
        order = builder.rng.integers(-shape[0], shape[0], shape[0])
        builder.floats.append((builder.add("Gather", [name, builder.constant(order.astype(np.int64))], axis=0), shape))
    else:
        builder.floats.append((builder.add("CumSum", [name, builder.constant(np.array(1, np.int64))]), shape))


def _product(builder: _Builder) -> None:
    name, shape = builder.pick([f for f in builder.floats if f[1] == (3, 4)] or builder.floats)
    if shape != (3, 4):
        return
    if builder.rng.random() < 0.5:
        weights = builder.real(builder.rng.normal(size=(4, 4)))
        builder.floats.append((builder.add("MatMul", [name, weights]), shape))
    else:
        scores = builder.add("MatMul", [name, builder.add("Transpose", [name])])
        weights = builder.add("Softmax", [scores], axis=-1)
        builder.floats.append((builder.add("MatMul", [weights, name]), shape))


def _sized(builder: _Builder) -> None:
    """Compute with a size, and divide by it."""
    name, shape = builder.pick(builder.floats)
    if not shape:
        return
    axis = int(builder.rng.integers(len(shape)))
    size = builder.add("Shape", [name], start=axis, end=axis + 1)
    operator = str(builder.rng.choice(["Add", "Mul", "Sub"]))
    other = builder.whole(int(builder.rng.integers(0, 4)))
    builder.integers.append((builder.add(operator, [size, other]), (1,)))
    whole = builder.add("Expand", [name, builder.add("Shape", [name])])
    again = builder.add("Concat", [size, builder.whole(-1)], axis=0)
    flat = builder.add("Reshape", [whole, again])
    rows, columns = shape[axis], int(np.prod(shape)) // shape[axis]
    builder.floats.append((flat, (rows, columns)) if (rows, columns) == shape else (whole, shape))


def _branch(builder: _Builder, name: str, key: str) -> Any:
    """Return a subgraph that divides by a value around it."""
    one, kind = f"{name}_one_{key}", str(builder.rng.choice(["Div", "Add", "Sub", "Max"]))
    constant = helper.make_node("Constant", [], [one], value=numpy_helper.from_array(np.ones((), builder.dtype)))
    made = helper.make_node(kind, [one, name], [f"{name}_{kind}_out_{key}"])
    return helper.make_graph([constant, made], "branch", [], [helper.make_empty_tensor_value_info(made.output[0])])


def _if(builder: _Builder) -> None:
    name, shape = builder.pick(builder.floats)
    if not shape:
        return
    single = builder.add("ReduceMax", [name, builder.constant(np.arange(len(shape)))], keepdims=0)
    compared = builder.add(str(builder.rng.choice(["Equal", "Less", "Greater"])), [single, builder.number()])
    branches = {key: _branch(builder, single, key) for key in ("then_branch", "else_branch")}
    builder.floats.append((builder.add("If", [compared], **branches), ()))


def _looped(builder: _Builder) -> None:
    name, shape = builder.pick(builder.floats)
    operator = str(builder.rng.choice(["Mul", "Add", "Max", "Sub"]))
    place = len(builder.nodes)
    state, going, after = f"s{place}", f"g{place}", f"t{place}"
    code = helper.np_dtype_to_tensor_dtype(np.dtype(builder.dtype))
    nodes = [
        helper.make_node("Identity", [going], [f"{going}_out"]),
        helper.make_node(operator, [state, str(builder.rng.choice([state, name]))], [after]),
    ]
    inputs = [
        helper.make_tensor_value_info(f"i{place}", 7, ()),
        helper.make_tensor_value_info(going, 9, ()),
        helper.make_tensor_value_info(state, code, shape),
    ]
    outputs = [helper.make_tensor_value_info(f"{going}_out", 9, ()), helper.make_tensor_value_info(after, code, shape)]
    body = helper.make_graph(nodes, "body", inputs, outputs)
    trips = builder.constant(np.array(int(builder.rng.integers(0, 4)), np.int64))
    builder.floats.append((builder.add("Loop", [trips, builder.constant(np.array(True)), name], body=body), shape))


def _picked(builder: _Builder) -> None:
    name, shape = builder.pick([f for f in builder.floats if f[1] == (3, 4)] or builder.floats)
    if shape != (3, 4):
        return
    count = builder.whole(2)
    top = f"k{len(builder.nodes)}"
    largest = int(builder.rng.integers(2))
    builder.nodes.append(helper.make_node("TopK", [name, count], [f"{top}_v", f"{top}_i"], axis=-1, largest=largest))
    axes = builder.whole(-1)
    total = builder.add("ReduceSum", [f"{top}_v", axes], keepdims=1)
    builder.floats.append((total, (3, 1)))


def _normalised(builder: _Builder) -> None:
    name, shape = builder.pick([f for f in builder.floats if f[1] == (3, 4)] or builder.floats)
    if shape != (3, 4):
        return
    scale = builder.real(builder.rng.normal(size=4))
    builder.floats.append((builder.add("LayerNormalization", [name, scale], epsilon=1e-5), shape))


_STEPS: tuple[Callable[[_Builder], None], ...] = (
    *(_unary, _unary, _binary, _binary, _reduced, _guarded, _guarded, _compared, _tested, _logic, _chosen, _chosen),
    *(_cast, _integer, _moved, _product, _normalised, _sized, _if, _looped, _picked),
)


def random_model(rng: np.random.Generator, dtype: Any = np.float32, *, named: bool = False) -> ModelProto:
    """Return a model all of whose values are outputs; its inputs' sizes have names, if that is asked for."""
    builder = _Builder(rng, dtype)
    shapes: list[Shape] = [(3, 4), (3, 4), (4,), (3, 1)]
    inputs = [(f"x{k}", shapes[k]) for k in range(int(rng.integers(1, 4)))]
    builder.floats += inputs
    wanted = int(rng.integers(2, 31))
    while len(builder.nodes) < wanted:
        _STEPS[int(rng.integers(len(_STEPS)))](builder)
    code = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    declared = [
        helper.make_tensor_value_info(n, code, [_size(s) if named else s for s in shape]) for n, shape in inputs
    ]
    results = [helper.make_empty_tensor_value_info(name) for node in builder.nodes for name in node.output]
    graph = helper.make_graph(builder.nodes, "random", declared, results, builder.constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)


def _size(size: int) -> int | str:
    return size if size == 1 else f"size{size}"


def complaints(seed: int, *, draws: int = 4, sessions: Sequence[Maker] = (Engine,)) -> Iterator[str]:
    """Yield what is computed outside of what is known, of one random model on random inputs."""
    rng = np.random.default_rng(seed)
    dtype, named = (np.float16 if seed % 5 == 0 else np.float32), seed % 3 == 0
    model = random_model(rng, dtype, named=named)
    runs = [session(model) for session in sessions]
    names = [value.name for value in model.graph.output]
    for _ in range(draws):
        known, arrays = _inputs(rng, model)
        interpreter, scope = looked_at(model, known, infer=bool(seed % 2))
        assert not interpreter.unknown
        for run in runs:
            for name, array in zip(names, run.run(None, arrays), strict=True):
                said = complaint(scope.values[name], np.asarray(array))
                if said:
                    made = next(node for node in model.graph.node if name in node.output)
                    yield f"seed {seed}: {name} = {made.op_type}{tuple(made.input)}: {said}"
                    return


def unreported(seed: int, session: Maker = Engine) -> Iterator[str]:
    """Yield the nodes of the main graph that divide by zero in a run and of which the check tells nothing."""
    rng = np.random.default_rng(seed)
    model = random_model(rng)
    told = {finding.node for finding in vinculum.check(model, runs=0).findings}
    nodes = {node.output[0]: node for node in model.graph.node if node.op_type in ("Div", "Reciprocal", "Mod")}
    run, names = session(model), [value.name for value in model.graph.output]
    for _ in range(3):
        _, arrays = _inputs(rng, model)
        values = {**arrays, **dict(zip(names, run.run(None, arrays), strict=True))}
        for name, node in nodes.items():
            divisor = values.get(node.input[-1])
            if divisor is not None and np.size(divisor) and not np.all(divisor) and name not in told:
                yield f"seed {seed}: {name} = {node.op_type}{tuple(node.input)}"


def _inputs(rng: np.random.Generator, model: ModelProto) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    known, arrays = {}, {}
    tame = bool(rng.random() < 0.6)
    for value in model.graph.input:
        dims = value.type.tensor_type.shape.dim
        shape = tuple(int(d.dim_param[4:]) if d.dim_param else d.dim_value for d in dims)
        declared = tuple(variable(d.dim_param) if d.dim_param else d.dim_value for d in dims)
        name = {1: "float32", 10: "float16"}[value.type.tensor_type.elem_type]
        found, arrays[value.name] = drawn(rng, name, shape, tame=tame)
        known[value.name] = found.known(shape=declared) if rng.random() > 0.1 else anything(name, declared)
    return known, arrays
