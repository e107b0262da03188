"""Random models of 2 to 30 operators that the analysis knows; all values are outputs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
import onnx.parser
from onnx import ModelProto, ValueInfoProto, helper, numpy_helper
from onnx.shape_inference import infer_shapes

import vinculum
from tests.analysis.containment import complaint, looked_at
from tests.analysis.operands import drawn
from tests.analysis.trying import Engine, Maker
from vinculum.analysis.domain.abstract_tensor import anything
from vinculum.analysis.domain.dimensions import variable

_ELEMENTWISE = (
    "{Abs|Neg|Relu|Exp|Sqrt|Tanh|Sigmoid|Erf|Floor|Ceil|Round|Reciprocal|Log|LeakyRelu|Elu|Softplus|Softsign"
    "|HardSigmoid|Sign|Identity|Sin|Atan|Selu|HardSwish|Mish}"
)
_ARITHMETIC, _COMPARISON = (
    "{Add|Sub|Mul|Div|Add|Sub|Mul|Div|Max|Min}",
    "{Equal|Less|Greater|LessOrEqual|GreaterOrEqual}",
)
_STEPS = (
    *[f"y = {_ELEMENTWISE} (F1)", f"y = {_ARITHMETIC} (F1, F2)"] * 4,
    *("y = {Softmax|LogSoftmax|LpNormalization|Hardmax} (R1)", f"y = {_ARITHMETIC} (F1, N1)", "y = PRelu (M1, F2)"),
    "y = Reduce{Sum|Mean|Max|Min|L2|L1|SumSquare|Prod} (R1, {first|last})",
    # Divided as people do: by a norm, by a sum, by a maximum, by what is not zero.
    "q = Mul(R1, R1) m = ReduceMean(q, last) e = Add(m, micro) d = Sqrt(e) y = Div(R1, d)",
    "q = Mul(R1, R1) m = ReduceMean(q, last) e = Add(m, micro) d = Sqrt(e) r = Reciprocal(d) y = Mul(R1, r)",
    "n = ReduceL2(R1, last) d = Max(n, tiny) y = Div(R1, d)",
    "m = ReduceMax(R1, last) c = Sub(R1, m) e = Exp(c) d = ReduceSum(e, last) y = Div(e, d)",
    "c = Equal(F1, zero) d = Where(c, one, F1) y = Div(F1, d)",
    "p = Softmax(R1) d = ReduceSum(p, last) y = Div(p, d)",
    "s = Sub(F1, F2) d = Add(s, F1) y = Div(F1, d)",
    *(f"y = {_COMPARISON} (F1, F2)", f"y = {_COMPARISON} (F1, N1)", "y = {IsNaN|IsInf} (F1)"),
    *("y = {And|Or|Xor} (T1, T2)", "y = Not(T1)", "y = Where(T1, F1, F2)", "y = Where(T1, N1, F1)"),
    *("y = Cast <to = FLOAT> (T1)", "y = Cast <to = FLOAT> (I1)"),
    "c = Clip(F1, low, high) n = IsNaN(c) k = Where(n, zero, c) y = Cast <to = 7> (k)",
    *("y = {Add|Sub|Mul|Max|Min} (I1, I2)", "a = Abs(I1) d = Max(a, single) y = {Div|Mod} (I2, d)"),
    "t = Transpose <perm = [1, 0]> (M1) y = Transpose(t)",
    "f = Reshape(M1, flat) y = Reshape(f, square)",
    "a = Slice(M1, start, middle, axis) b = Slice(M1, middle, end, axis) y = Concat <axis = 1> (b, a)",
    *("y = Gather <axis = 0> (M1, order)", "y = CumSum(M1, single)", "y = MatMul(M1, weights)"),
    "t = Transpose(M1) s = MatMul(M1, t) p = Softmax(s) y = MatMul(p, M1)",
    "y = LayerNormalization <epsilon = 1e-5> (M1, scale)",
    "v, i = TopK <axis = -1, largest = {0|1}> (M1, middle) y = ReduceSum(v, last)",
    # With a size, which is divided by, and which is a part of a shape.
    "n = Shape <start = 0, end = 1> (R1) y = {Add|Mul|Sub} (n, {start|axis|middle})",
    "n = Shape <start = -1> (R1) s = Shape(R1) e = Expand(R1, s) l = Concat <axis = 0> (n, flat) y = Reshape(e, l)",
    """m = ReduceMax <keepdims = 0> (R1) c = {Equal|Less|Greater} (m, N1) y = If (c) <
        then_branch = t () => (a) { a = {Div|Add|Sub|Max} (one, m) },
        else_branch = e () => (b) { b = {Div|Add|Sub|Max} (one, m) }>""",
    """y = Loop ({none|single|three}, go, M1) <body = body (int64 i, bool g, FLOAT[3, 4] s) => (bool h, FLOAT[3, 4] t)
        { h = Identity(g) t = {Mul|Add|Max|Sub} (s, {s|M1}) }>""",
)
"""Nodes to add. One word of each ``{a|b}`` is taken; a letter with a number stands for an earlier value.

F: floats; R: floats that are not scalars; M: floats of shape (3, 4); T: truth values; I: integers; N: a constant.
"""
_OF_FLOAT32 = ("y = Celu (F1)",)  # ONNX allows it float16 only from where ONNX Runtime does not know it.
_NUMBERS = (0.0, 1.0, -1.0, 2.0, 0.5, 1e-5, 1e-12, 1e-20, 1e-38, 3.0, 100.0, 1e10)
_REAL = {"zero": 0.0, "one": 1.0, "micro": 1e-6, "tiny": 1e-12, "low": -9.0, "high": 9.0}
_WHOLE = {"none": 0, "single": 1, "three": 3, "first": [0], "last": [-1], "flat": [-1], "square": [3, 4]}
_WHOLE |= {"start": [0], "axis": [1], "middle": [2], "end": [99]}


class _Builder:
    """A model that grows; ONNX's own inference gives the shape of each value."""

    def __init__(self, rng: np.random.Generator, dtype: Any) -> None:
        self._rng, self._steps = rng, 0
        self._float = "float16" if dtype == np.float16 else "float"
        self._code = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        shapes = ((3, 4), (3, 4), (4,), (3, 1))[: int(rng.integers(1, 4))]
        inputs = [helper.make_tensor_value_info(f"x{k}", self._code, shape) for k, shape in enumerate(shapes)]
        real: dict[str, Any] = {**_REAL, **{f"n{place}": number for place, number in enumerate(_NUMBERS)}}
        real |= {"weights": rng.normal(size=(4, 4)), "scale": rng.normal(size=4)}
        with np.errstate(over="ignore"):
            constants = {name: np.asarray(value).astype(dtype) for name, value in real.items()}
        constants |= {name: np.asarray(value) for name, value in _WHOLE.items()}
        constants |= {"go": np.array(True), "order": rng.integers(-3, 3, 3)}
        held = [numpy_helper.from_array(array, name) for name, array in constants.items()]
        graph = helper.make_graph([], "random", inputs, [], held)
        self.model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
        self._known: list[ValueInfoProto] = inputs

    def add(self, step: str) -> None:
        """Add the nodes of a step, unless an operand has no value to choose from."""
        text = re.sub(r"\{([^{}]+\|[^{}]+)\}", lambda found: str(self._rng.choice(found[1].split("|"))), step)
        text = text.replace("to = FLOAT", f"to = {self._code}").replace("FLOAT", self._float)
        for wanted in sorted(set(re.findall(r"\b[FRMTIN]\d", text))):
            if (name := self._picked(wanted[0])) is None:
                return
            text = re.sub(rf"\b{wanted}\b", name, text)
        self._steps += 1
        text = re.sub(r"\b([a-z])\b(?= =|,|\))", rf"\1_{self._steps}", text)
        self.model.graph.node.extend(onnx.parser.parse_graph(f"g () => () {{ {text} }}").node)
        types = infer_shapes(self.model, strict_mode=True, data_prop=True)
        self._known = [*self.model.graph.input, *types.graph.value_info]

    def _picked(self, kind: str) -> str | None:
        """Return a value of a kind, a late one more often than an early one."""
        if kind == "N":
            return f"n{self._rng.integers(len(_NUMBERS))}"
        code = {"T": 9, "I": 7}.get(kind, self._code)
        pool = []
        for value in self._known:
            declared = value.type.tensor_type
            shape = [size.dim_value for size in declared.shape.dim]
            # All broadcast with each other.
            fits = all(size in (1, whole) for size, whole in zip_longest(shape[::-1], (4, 3)) if size is not None)
            fits = {"R": fits and bool(shape), "M": shape == [3, 4]}.get(kind, fits)
            if declared.elem_type == code and fits:
                pool.append(value.name)
        return pool[len(pool) - 1 - int(self._rng.integers(len(pool)) * self._rng.random())] if pool else None


def random_model(rng: np.random.Generator, dtype: Any = np.float32, *, named: bool = False) -> ModelProto:
    """Return a model all of whose values are outputs; its inputs' sizes have names, if that is asked for."""
    builder, steps = _Builder(rng, dtype), _STEPS if dtype == np.float16 else (*_STEPS, *_OF_FLOAT32)
    model, wanted = builder.model, int(rng.integers(2, 31))
    while len(model.graph.node) < wanted:
        builder.add(steps[int(rng.integers(len(steps)))])
    names = [name for node in model.graph.node for name in node.output]
    model.graph.output.extend(map(helper.make_empty_tensor_value_info, names))
    for size in (size for value in model.graph.input if named for size in value.type.tensor_type.shape.dim):
        if size.dim_value != 1:
            size.dim_param = f"size{size.dim_value}"
    return model


def complaints(seed: int, *, draws: int = 4, sessions: Sequence[Maker] = (Engine,)) -> Iterator[str]:
    """Yield the values outside of their bounds in runs of one random model on random inputs."""
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
    """Yield the nodes of the main graph that divide by zero in a run and have no finding."""
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
