"""How far each division and each output can be from its exact value: sound bounds of the absolute error, over boxes.

The exact value of a tensor is what real arithmetic gives for the exact inputs and the model's constants as they are
stored; integer divisions are exact as rationals. Inputs may be off by given errors. Every bound adds the propagated
errors of the operands and the operator's own rounding, by the rules of `vinculum.reference.accuracy`, for all operands
in the boxes that the analysis knows. With computed operands a', b' off by at most p and q, and A, B the largest
abs(a'), abs(b'):

    a + b    p + q                         a * b    A q + (B + q) p
    a / b    (p + X q) / (m - q)           X = A / m, m the smallest abs(b'), which must exceed q
    sqrt a   p / (sqrt(l') + sqrt(l))      l' the smallest a', l the smallest a, which must not be negative

Ranges of inputs are widened by their errors. Then exact values of floats lie in the boxes too, as these hold what any
precision gives; B + q is B there, m - q is m, and l is l'. This does not hold after a truncating division.

Rounding to nearest adds E = max(u M, h): M the largest magnitude of the result, h half the smallest subnormal. Sums
and products of matrices round in any order: gamma_k of the sum of magnitudes, and k times the smallest subnormal.
Bounds are computed in float64 and rounded upward at each step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import GraphProto, ModelProto, NodeProto, helper

from vinculum.analysis.assumptions import Assumptions, Range, read_assumptions
from vinculum.analysis.domain.abstract_tensor import AbstractTensor
from vinculum.analysis.domain.box import limited
from vinculum.analysis.domain.dimensions import element_count, largest
from vinculum.analysis.domain.formats import FORMATS, Format, gamma, is_discrete, type_range
from vinculum.analysis.interpreter import Interpreter
from vinculum.analysis.loading import onnx_model, source_given
from vinculum.errors import AttributeValueError, ModelError
from vinculum.models.onnx.checks import check_structure
from vinculum.models.onnx.functions import inlined
from vinculum.models.onnx.inference import with_types
from vinculum.models.onnx.scopes import name_of, opset_imports, title
from vinculum.models.source import SourceFile, naming
from vinculum.text import did_you_mean, listed, quoted

Errors = NDArray[np.float64]
"""Bounds of absolute errors, which broadcast to the tensor."""

_LARGEST_PRODUCT = 1 << 20
"""Elements of a matrix that is multiplied element by element; of a larger one only its largest magnitude is."""


@dataclass(frozen=True)
class Bound:
    """How far a value can be from the exact one.

    Attributes
    ----------
    name : str
        The division's node, or the output.
    operator, element_type : str
        The operator of a division; the element type.
    propagated, introduced, total : float
        For a division the bounds from its operands' errors, from its own rounding, and of both; for an output only the
        last. Infinite where there is no bound.
    reason : str
        Why there is no bound.
    """

    name: str
    operator: str
    element_type: str
    propagated: float
    introduced: float
    total: float
    reason: str = ""


@dataclass(frozen=True)
class Accuracy:
    """The bounds of a model.

    Attributes
    ----------
    divisions, outputs : tuple of Bound
        In the model's order.
    """

    divisions: tuple[Bound, ...]
    outputs: tuple[Bound, ...]


def accuracy(
    model: str | PathLike[str] | ModelProto | SourceFile,
    *,
    assume: Sequence[str] = (),
    input_errors: Mapping[str, float] | None = None,
) -> Accuracy:
    """Return sound bounds of the absolute errors of every division of the main graph and of every output.

    They hold for every runtime that rounds each result to nearest, in its element type or a wider one, and sums in any
    order.

    Parameters
    ----------
    model : path or ModelProto
        As `vinculum.check` takes it.
    assume : sequence of str
        The ranges of the inputs, as for `vinculum.check`; without ranges few bounds are finite.
    input_errors : Mapping of str to float
        The largest absolute error of each input; default 0.

    Raises
    ------
    ModelError
        If the model or an assumption cannot be read, or an error names no input.
    AttributeValueError
        If an error is negative or not a number.
    """
    source = source_given(model)
    with naming(source.path):
        proto = inlined(onnx_model(source))
        check_structure(proto)
        errors = _checked(input_errors or {}, [value.name for value in proto.graph.input])
        assumptions = _widened(read_assumptions(assume, proto), errors)
        types = with_types(proto)
    interpreter = Interpreter(proto, types, assumptions.tensors("float32"), assumptions.sizes)
    values = interpreter.run().values
    with np.errstate(all="ignore"):
        return _Pass(proto.graph, opset_imports(proto).get("", 1), values, errors).result()


def _checked(errors: Mapping[str, float], inputs: Sequence[str]) -> Mapping[str, float]:
    for name, error in errors.items():
        if name not in inputs:
            raise ModelError(
                f"an error is given for {quoted(name)}, which is not an input{did_you_mean(name, inputs)}; "
                f"inputs: {listed(list(inputs))}"
            )
        if not 0 <= error < np.inf:
            raise AttributeValueError(f"the error of {quoted(name)} is {error!r}; give a number of at least 0")
    return errors


def _widened(assumptions: Assumptions, errors: Mapping[str, float]) -> Assumptions:
    """Return assumptions that hold for the exact inputs, too."""
    ranges = dict(assumptions.ranges)
    for name, error in errors.items():
        if name in ranges and error:
            low, high = ranges[name].low - error, ranges[name].high + error
            ranges[name] = Range(float(np.nextafter(low, -np.inf)), float(np.nextafter(high, np.inf)))
    return replace(assumptions, ranges=ranges)


class _NoBoundError(Exception):
    """There is no bound, for a reason."""


@dataclass(frozen=True, eq=False)
class _Node:
    """A node with what is known of its operands, their errors, and its first result.

    - `inside`: of each operand, whether exact values lie in its box.
    """

    proto: NodeProto
    opset: int
    operands: tuple[AbstractTensor, ...]
    errors: tuple[Errors, ...]
    inside: tuple[bool, ...]
    result: AbstractTensor
    attributes: Mapping[str, Any]

    @property
    def form(self) -> Format:
        """The format of the result; no bound if it has none."""
        form = self.result.form
        if form is None:
            raise _NoBoundError(f"{self.proto.op_type} of {self.result.element_type or 'unknown type'} has no rule")
        return form

    def magnitude(self, place: int) -> Errors:
        """Return the largest magnitudes of an operand."""
        return self.operands[place].box.largest()

    def rounding(self, *, adds: bool = False) -> Errors:
        """Return E; a sum of two never underflows."""
        scaled = self.form.u * self.result.box.largest()
        return (
            np.where(scaled == 0, 0.0, _up(scaled))
            if adds
            else np.maximum(_up(scaled), self.form.smallest_subnormal / 2)
        )


class _Pass:
    """One pass over the main graph."""

    def __init__(
        self,
        graph: GraphProto,
        opset: int,
        values: Mapping[str, AbstractTensor],
        given: Mapping[str, float],
    ) -> None:
        self._graph, self._opset, self._values = graph, opset, values
        self._errors: dict[str, Errors | str] = {value.name: np.asarray(0.0) for value in graph.input}
        self._errors |= {name: np.asarray(float(error)) for name, error in given.items()}
        self._errors |= {tensor.name: np.asarray(0.0) for tensor in graph.initializer if tensor.name not in given}
        self._inside = set(self._errors)
        self._divisions: list[Bound] = []

    def result(self) -> Accuracy:
        """Return all bounds."""
        for node in self._graph.node:
            self._look(node)
        return Accuracy(tuple(self._divisions), tuple(self._output(value.name) for value in self._graph.output))

    def _output(self, name: str) -> Bound:
        error, known = self._errors.get(name, "nothing is known about it"), self._values.get(name)
        kind = "" if known is None else known.element_type
        if isinstance(error, str):
            return Bound(name, "", kind, np.inf, np.inf, np.inf, error)
        return Bound(name, "", kind, np.inf, np.inf, float(error.max()))

    def _look(self, node: NodeProto) -> None:
        division: tuple[Errors, Errors] | None = None
        try:
            made = self._made(node)
            if node.op_type in ("Div", "Reciprocal") and not node.domain:
                division = _division(made)
                found = _sum(*division)
            else:
                found = _rule(made)
            if not np.isfinite(found).all():
                raise _NoBoundError("the bound is infinite")
            error: Errors | str = limited(found, np.max)
            if all(made.inside) and (made.result.form is not None or not found.any()):
                self._inside.update(node.output)
        except _NoBoundError as reason:
            error = f"{title(node)}: {reason}" if not str(reason).startswith("node ") else str(reason)
        for place, name in enumerate(node.output):
            alike = place == 0 or node.op_type == "Split"
            self._errors[name] = error if alike else f"{title(node)}: its further outputs have no rule"
        if node.op_type in ("Div", "Reciprocal") and not node.domain:
            self._divisions.append(self._bound(node, division, error))

    def _bound(self, node: NodeProto, division: tuple[Errors, Errors] | None, error: Errors | str) -> Bound:
        known = self._values.get(node.output[0])
        kind = "" if known is None else known.element_type
        if isinstance(error, str) or division is None:
            return Bound(name_of(node), node.op_type, kind, np.inf, np.inf, np.inf, str(error))
        propagated, introduced = (float(part.max()) for part in division)
        return Bound(name_of(node), node.op_type, kind, propagated, introduced, float(error.max()))

    def _made(self, node: NodeProto) -> _Node:
        if node.domain:
            raise _NoBoundError("it has no rule")
        known = [self._values.get(name) for name in (*node.input, *node.output[:1]) if name]
        if any(value is None for value in known):
            raise _NoBoundError("it has no rule")
        *operands, result = (value for value in known if value is not None)
        errors = []
        for name in filter(None, node.input):
            error = self._errors.get(name, "nothing is known about it")
            if isinstance(error, str):
                raise _NoBoundError(error)
            errors.append(error)
        if result.may_nan or result.may_infinite:
            raise _NoBoundError("the result can be infinite or NaN")
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        if self._opset < 7:  # A second operand may be aligned otherwise.
            errors = [np.asarray(error.max()) for error in errors]
        inside = tuple(name in self._inside for name in node.input if name)
        return _Node(node, self._opset, tuple(operands), tuple(errors), inside, result, attributes)


def _rule(node: _Node) -> Errors:
    """Return the bound of a node's result."""
    operator = node.proto.op_type
    if operator == "Constant" or operator in ("Shape", "Size"):
        return np.asarray(0.0)
    is_exact = all(not error.any() for error in node.errors)
    if is_exact and operator in _EXACT:
        return np.asarray(0.0)
    all_discrete = all(is_discrete(value.element_type) for value in (*node.operands, node.result))
    if is_exact and all_discrete and operator not in ("Mean", "ReduceMean"):
        return np.asarray(0.0)
    rule = _RULES.get(operator)
    if rule is None:
        raise _NoBoundError(f"{operator} has no rule")
    return rule(node)


def _division(node: _Node) -> tuple[Errors, Errors]:
    """Return the propagated and the introduced bound."""
    place = 0 if node.proto.op_type == "Reciprocal" else 1
    p, a = (np.asarray(0.0), np.asarray(1.0)) if not place else (node.errors[0], node.magnitude(0))
    q, smallest = node.errors[place], node.operands[place].mag
    if node.opset < 7:
        a, smallest = np.asarray(a.max()), np.asarray(smallest.min())
    exact = smallest if node.inside[place] else smallest - q  # The smallest magnitude of the exact divisor.
    if not (exact > 0).all():
        raise _NoBoundError(
            "the divisor can be zero" if not (smallest > 0).all() else "the divisor's error is as large as the divisor"
        )
    largest = _up(a / smallest)
    propagated = _up(_sum(p, _times(largest, q)) / _down(exact))
    propagated = np.where((p == 0) & (q == 0), 0.0, propagated)
    if is_discrete(node.result.element_type):
        if (largest > type_range(node.result.element_type)[1]).any():
            raise _NoBoundError("the quotient can lie beyond its type")
        return propagated, _up(1 - _down(1 / node.magnitude(place)))
    return propagated, node.rounding()


def _added(node: _Node) -> Errors:
    return _sum(*node.errors, node.rounding(adds=True))


def _multiplied(node: _Node) -> Errors:
    (p, q), (a, b) = node.errors, (node.magnitude(0), node.magnitude(1))
    exact = b if node.inside[1] else _sum(b, q)
    return _sum(_times(a, q), _times(exact, p), node.rounding())


def _root(node: _Node) -> Errors:
    p, low = node.errors[0], node.operands[0].low
    exact = low if node.inside[0] else low - p
    if not (exact >= 0).all():
        raise _NoBoundError("the exact operand can be negative")
    roots = _down(np.sqrt(low)) + _down(np.sqrt(_down(exact)))
    return _sum(np.where(p == 0, 0.0, _up(_up(p / _down(roots)))), node.rounding())


def _kept(node: _Node) -> Errors:
    """Elements are unchanged, or their differences do not grow."""
    return node.errors[0]


def _moved(node: _Node) -> Errors:
    """Elements of the first operand move, without error, as other operands say."""
    if any(error.any() for error in node.errors[1:]):
        raise _NoBoundError("the positions of elements may differ")
    return np.asarray(node.errors[0].max())


def _chosen(node: _Node) -> Errors:
    return np.asarray(max(float(error.max()) for error in node.errors))


def _where(node: _Node) -> Errors:
    if node.errors[0].any():
        raise _NoBoundError("the condition may differ")
    return np.maximum(node.errors[1], node.errors[2])


def _summed(node: _Node) -> Errors:
    """ReduceSum."""
    error, magnitudes, count = _along(node)
    return _sum(error, _times(magnitudes, gamma(max(count - 1, 0), node.form)))


def _averaged(node: _Node) -> Errors:
    error, magnitudes, count = _along(node)
    smallest = _count(node)[0]
    rounded = _sum(error, _times(magnitudes, gamma(count + 1, node.form)))
    return _sum(_up(rounded / max(smallest, 1)), node.rounding())


def _along(node: _Node) -> tuple[Errors, Errors, float]:
    """Return bounds of the sums of errors and of magnitudes, and how many terms there are at most."""
    if any(error.any() for error in node.errors[1:]):
        raise _NoBoundError("the summed elements may differ")
    count = _count(node)[1]
    if not np.isfinite(count):
        raise _NoBoundError("the number of summed terms is unknown; declare the size of the dimension")
    # The largest one as often as there are terms.
    p, a = np.asarray(node.errors[0].max()), np.asarray(node.magnitude(0).max())
    return _times(p, count), _times(a, count), count


def _count(node: _Node) -> tuple[float, float]:
    """Return the smallest and the largest number of elements that are joined."""
    shape, result = node.operands[0].shape, node.result.shape
    if shape is None or result is None:
        raise _NoBoundError("the number of summed terms is unknown")
    (low, high), (least, most) = element_count(shape), element_count(result)
    if not (np.isfinite(high) and least == most > 0):
        return element_count(shape[axis] for axis in _axes(node, len(shape)))
    return low / most, high / least


def _axes(node: _Node, rank: int) -> list[int]:
    given = node.attributes.get("axes")
    if given is None and len(node.operands) > 1:
        constant = node.operands[1].constant
        if constant is None:
            raise _NoBoundError("the summed axes are unknown")
        given = constant.reshape(-1).tolist()
    if given is None or not len(given):
        return [] if node.attributes.get("noop_with_empty_axes") else list(range(rank))
    return [int(axis) % rank for axis in given]


def _product(node: _Node) -> Errors:
    """MatMul."""
    error, magnitudes, count = _dots(node.operands[:2], node.errors[:2])
    return _sum(error, _rounded_dots(node, magnitudes, count))


def _gemm(node: _Node) -> Errors:
    alpha, beta = abs(node.attributes.get("alpha", 1.0)), abs(node.attributes.get("beta", 1.0))
    flips = [bool(node.attributes.get(name, 0)) for name in ("transA", "transB")]
    error, magnitudes, count = _dots(node.operands[:2], node.errors[:2], flips)
    error, magnitudes = _times(error, alpha), _times(magnitudes, alpha)
    if len(node.operands) > 2:
        error = _sum(error, _times(node.errors[2], beta))
        magnitudes = _sum(magnitudes, _times(node.magnitude(2), beta))
    return _sum(error, _rounded_dots(node, magnitudes, count + 3))


def _rounded_dots(node: _Node, magnitudes: Errors, count: float) -> Errors:
    return _sum(_times(magnitudes, gamma(count + 1, node.form)), _times(count, node.form.smallest_subnormal))


def _dots(
    operands: Sequence[AbstractTensor], errors: Sequence[Errors], flips: Sequence[bool] = (False, False)
) -> tuple[Errors, Errors, float]:
    """Return bounds of the error that sums of products carry in and of their magnitudes, and how many terms there are.

    - `flips`: whether each matrix stands transposed.
    """
    shapes = [operand.shape for operand in operands]
    if shapes[0] is None or shapes[1] is None or not shapes[0] or not shapes[1]:
        raise _NoBoundError("the number of summed products is unknown")
    axis = -2 if flips[0] and len(shapes[0]) > 1 else -1
    count = largest(shapes[0][axis])
    if not np.isfinite(count):
        raise _NoBoundError("the number of summed products is unknown; declare the size of the dimension")
    pairs = [_matrix(operand, error, flip) for operand, error, flip in zip(operands, errors, flips, strict=True)]
    (a, p), (b, q) = pairs
    if a.ndim < 1 or b.ndim < 1:
        a, p, b, q = (np.asarray(each.max()) for each in (a, p, b, q))
        dot: Callable[[Errors, Errors], Errors] = lambda x, y: _times(_times(x, y), count)  # noqa: E731
    else:
        widened = 1 + 4 * (count + 2) * 2.0**-53  # What NumPy's own rounding takes off.

        def dot(x: Errors, y: Errors) -> Errors:
            return np.asarray(np.matmul(x, y) * widened + np.where((x != 0).any() and (y != 0).any(), 1e-300, 0.0))

    return _sum(dot(a, q), dot(p, _sum(b, q))), dot(a, b), count


def _matrix(operand: AbstractTensor, error: Errors, flip: bool) -> tuple[Errors, Errors]:
    """Return the magnitudes of a matrix and its errors, element by element; of a large one the largest of each."""
    constant = operand.constant
    shape = operand.shape or ()
    sizes = tuple(size for size in shape if isinstance(size, int))
    if len(sizes) < len(shape) or np.prod(sizes) > _LARGEST_PRODUCT:
        return np.asarray(operand.box.largest().max()), np.asarray(error.max())
    magnitudes = np.abs(constant.astype(np.float64)) if constant is not None else operand.box.largest()
    both = [np.broadcast_to(each, sizes) for each in (magnitudes, error)]
    return (both[0].swapaxes(-1, -2), both[1].swapaxes(-1, -2)) if flip and len(sizes) > 1 else (both[0], both[1])


def _cast(node: _Node) -> Errors:
    before, after = node.operands[0], node.result
    old = FORMATS.get(before.element_type)
    if old is not None and after.form is None:
        return _stepped(node)
    if old is not None and old.u <= node.form.u and old.name == node.form.name:
        return node.errors[0]
    if old is not None and node.form.u <= old.u and node.form.smallest_subnormal <= old.smallest_subnormal:
        return node.errors[0]  # A wider type holds every value.
    if old is None and float(before.box.largest().max()) * node.form.u <= 1:
        return node.errors[0]
    return _sum(node.errors[0], node.rounding())


def _stepped(node: _Node) -> Errors:
    """Both round to whole numbers: they differ by less than the error and 1."""
    return np.where(node.errors[0] == 0, 0.0, _sum(node.errors[0], np.asarray(1.0)))


def _variadic_sum(node: _Node) -> Errors:
    magnitudes = _sum(*(node.magnitude(place) for place in range(len(node.operands))))
    return _sum(*node.errors, _times(magnitudes, gamma(max(len(node.operands) - 1, 0), node.form)))


_EXACT = frozenset(
    (
        "ArgMax",
        "ArgMin",
        "ConstantOfShape",
        "Equal",
        "Greater",
        "GreaterOrEqual",
        "IsInf",
        "IsNaN",
        "Less",
        "LessOrEqual",
        "NonZero",
    )
)
"""Operators that are exact on exact operands, floats too."""

_RULES: Mapping[str, Callable[[_Node], Errors]] = {
    "Add": _added,
    "Sub": _added,
    "Sum": _variadic_sum,
    "Mul": _multiplied,
    "Sqrt": _root,
    **dict.fromkeys(("Neg", "Abs", "Relu", "Identity"), _kept),
    **dict.fromkeys(("Max", "Min", "Clip", "Concat"), _chosen),
    "Where": _where,
    "ReduceSum": _summed,
    "ReduceMean": _averaged,
    **dict.fromkeys(("ReduceMax", "ReduceMin", "GlobalMaxPool", "MaxPool"), _moved),
    "MatMul": _product,
    "Gemm": _gemm,
    "Cast": _cast,
    **dict.fromkeys(("Floor", "Ceil", "Round"), _stepped),
    **dict.fromkeys(
        (
            *("Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten", "Expand", "Tile", "Slice", "Split"),
            *("Gather", "GatherElements", "GatherND", "DepthToSpace", "SpaceToDepth"),
        ),
        _moved,
    ),
}
"""The rules; of any other operator there is no bound."""


def _up(values: Any) -> Errors:
    return np.asarray(np.nextafter(values, np.inf))


def _down(values: Any) -> Errors:
    return np.asarray(np.maximum(np.nextafter(values, -np.inf), 0.0))


def _sum(*terms: Any) -> Errors:
    total = np.asarray(0.0)
    for term in terms:
        total = np.where(term == 0, total, np.where(total == 0, term, _up(total + term)))
    return total


def _times(a: Any, b: Any) -> Errors:
    """Return a product rounded upward; zero times anything is zero."""
    return np.where((np.asarray(a) == 0) | (np.asarray(b) == 0), 0.0, _up(np.asarray(a) * b))
