"""The validation of a hardening: its rewrites and the whole model are run in the target runtime.

Each rewrite is run in small models, on operands for which divisions go wrong.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper, parser

from vinculum.analysis.domain.formats import NUMPY_INTEGERS
from vinculum.errors import DifferenceError, ModelError, VinculumError
from vinculum.models.engines.model_runner import NAMES, Case, Outcome, check_installed, run_cases
from vinculum.models.engines.onnxruntime.session import reason_of as onnxruntime_reason
from vinculum.models.engines.openvino.tensors import reason_of as openvino_reason
from vinculum.models.execution import RunContext, limited
from vinculum.models.model import Model
from vinculum.models.onnx.inference import typed_scopes
from vinculum.models.onnx.rewriter import set_nodes
from vinculum.models.onnx.scopes import Scope
from vinculum.models.sampling.comparison import check_equal, check_outputs
from vinculum.models.sampling.edge_values import edge_values
from vinculum.models.sampling.input_sets import input_sets
from vinculum.ops import onnx as onnx_ops
from vinculum.ops.flooring import floor_divide
from vinculum.ops.policies import Policies
from vinculum.repair.bounds import Values
from vinculum.repair.decision import Decision, Facts, Hardening, Runtime
from vinculum.repair.guards import Guards
from vinculum.spec.element_types import INT32, ElementType
from vinculum.tensors.storage import dtype_of
from vinculum.text import one_line

_REFERENCE_RUNTIMES: dict[Runtime, tuple[str, ...]] = {
    "onnxruntime": ("onnxruntime",),
    "openvino": ("openvino",),
    "portable": ("onnxruntime", "reference"),
}
_IR_VERSION = 8  # All current runtimes read it; newer operator sets need a later one.
_RANDOM = 2000
_MULTIPLES = 2000
_MOST_CONSTANTS = 60  # The values that are tried of a constant operand, which may have millions.
_SECONDS = 60.0
_LARGEST_RESULT = 1 << 28  # Bytes, for operators with an operand that determines the size of the result.
_INTEGERS = ("bool", *NUMPY_INTEGERS)
_PLAIN = (*_INTEGERS, "float16", "float32", "float64")

Advance = Callable[[int, int], None]
"""Called with the number of models that have been run, and their total."""


@dataclass(frozen=True)
class Validation:
    """What was run and found equal.

    - `rewrites`: The number of different rewrites.
    - `models`: The number of their models that were run, in all runtimes together: with input, constant and mixed
      operands.
    - `results`: The number of quotients and remainders compared in them.
    - `whole_model`: Whether the hardened model itself was run in each runtime, on given or drawn inputs. It is only
      loaded if the original does not run on drawn inputs, or a runtime cannot take them.
    - `reason`: Why it was only loaded, or why one runtime did not run it.
    """

    runtimes: tuple[str, ...]
    rewrites: int
    models: int
    results: int
    whole_model: Literal["run", "loaded"]
    reason: str | None = None


def validate(
    hardening: Hardening,
    original: Model,
    file: Path,
    advance: Advance | None = None,
    inputs: Sequence[Mapping[str, Any]] = (),
) -> Validation | None:
    """Run every rewrite of a hardening on edge cases and random operands, and the whole model; compare every bit.

    Each rewrite is run with inputs and with constants as operands; runtimes fold constants when they load a model.

    - `advance`: called with the number of rewrites' models that have been run, and their total.
    - `inputs`: sets of inputs to run the whole model on; if there is none, one is drawn.

    None if nothing was rewritten.

    DifferenceError if a result differs, or the runtime crashes on a rewrite or on the model; the message names the
    division. ModelError if the runtime's package is not installed, or the runtime refuses the model, or the original
    refuses a set.
    """
    if not any(decision.rewritten for decision in hardening.decisions):
        return None
    runtimes = _REFERENCE_RUNTIMES[hardening.runtime]
    for runtime in runtimes:
        check_installed(runtime)
    different = _different(hardening)
    tried = [trial for decision, facts in different for trial in trials(decision, facts, hardening)]
    context, reason = RunContext(hardening.policies), None
    runs: list[Run] = [(given, original.evaluate(given, context)) for given in inputs]
    if not runs:
        runs, reason = _drawn_run(original, hardening)
    whole = [Case(str(file), None), *(Case(str(file), given) for given, _ in runs)]
    total = len(tried) * len(runtimes)
    for place, runtime in enumerate(runtimes):
        with closing(run_cases(runtime, [*(trial.case for trial in tried), *whole])) as outcomes:
            for number, trial in enumerate(tried, place * len(tried) + 1):
                _check(trial, next(outcomes), runtime)
                if advance is not None:
                    advance(number, total)
            reason = _check_whole(hardening, outcomes, runtime, [expected for _, expected in runs]) or reason
    results = sum(trial.expected.size for trial in tried) * len(runtimes)
    return Validation(runtimes, len(different), total, results, "run" if runs else "loaded", reason)


def _different(hardening: Hardening) -> list[tuple[Decision, Facts]]:
    """Return one decision for each different rewrite, with its facts."""
    found: dict[tuple[object, ...], tuple[Decision, Facts]] = {}
    for decision in hardening.decisions:
        facts = decision.facts
        if facts is not None and decision.rewritten:
            values = [None if x is None else x.tobytes() for x in (facts.bounds.dividend, facts.bounds.divisor)]
            found.setdefault((*facts.decisive, *values), (decision, facts))
    return list(found.values())


def _check(trial: Trial, outcome: Outcome, runtime: str) -> None:
    """Refuse a rewrite whose results in the runtime differ from the expected ones."""
    label, name = trial.decision.label, NAMES[runtime]
    where = f"{label}: the rewrite on {name}, {trial.constant},"
    if outcome.died:
        raise DifferenceError(f"{where} kills the process, which {outcome.problem}; nothing is written")
    if outcome.problem is not None:
        (loaded,) = run_cases(runtime, [Case(trial.case.model, None)])
        if loaded.problem is not None:
            raise ModelError(f"{label}: {name} rejects the hardened form: {_reason(outcome, runtime)}")
        raise DifferenceError(f"{where} is refused: {_reason(outcome, runtime)}; nothing is written")
    results = np.asarray(outcome.outputs[0])
    try:
        check_equal("the result", trial.expected, results, ("expected", name))
    except DifferenceError as error:
        operands = ""
        if results.shape == trial.expected.shape:
            place = int(np.argmax(results != trial.expected))
            operands = f" (first: {trial.pairs[0][place]} and {trial.pairs[1][place]})"
        raise DifferenceError(f"{where} is wrong: {error}{operands}; nothing is written") from None


def _reason(outcome: Outcome, runtime: str) -> str:
    shortened = openvino_reason if runtime == "openvino" else onnxruntime_reason
    return shortened(Exception(outcome.problem))


def _check_whole(
    hardening: Hardening, outcomes: Iterator[Outcome], runtime: str, expected: Sequence[Mapping[str, Any]]
) -> str | None:
    """Refuse a hardened model that a runtime cannot load, or cannot run on inputs that the original accepts.

    The outputs are compared bit for bit if all values of the model are integers or bools: floats of other operators
    differ between runtimes, and on OpenVINO integers too. The onnx package's evaluator lacks operators and has faults,
    so a model is not refused because of it; the reason that it gives is returned.
    """
    name = NAMES[runtime]
    integers = runtime != "openvino" and not hardening.mended and _holds_integers_only(hardening.model)
    for wanted, outcome in zip((None, *expected), outcomes, strict=False):
        if outcome.died:
            raise DifferenceError(f"the hardened model kills {name}: the process {outcome.problem}")
        if outcome.problem is not None:
            reason = _reason(outcome, runtime)
            if runtime == "reference":
                return f"{name} does not run it: {reason}"
            if wanted is None:
                raise ModelError(f"{name} rejects the hardened model: {reason}")
            raise DifferenceError(f"{name} fails on the hardened model with inputs that the original accepts: {reason}")
        if wanted is not None and integers:
            names = [value.name for value in hardening.model.graph.output]  # A name may stand there twice.
            found = dict(zip(names, map(np.asarray, outcome.outputs), strict=True))
            check_outputs(wanted, found, ("our engine", f"{name}, hardened"))
    return None


Run = tuple[Mapping[str, Any], Mapping[str, Any]]
"""Inputs, and the original's outputs."""


def _drawn_run(original: Model, hardening: Hardening) -> tuple[list[Run], str | None]:
    """Return a run on drawn inputs, or none and the reason.

    There is none if the original refuses the inputs, the runtimes cannot take them, or a division that is left may
    crash the runtime.
    """
    if hardening.left:
        return [], "a division is left that may kill the runtime"
    try:
        inputs = next(iter(input_sets(original.inputs, 0)))
        with limited(_SECONDS, _LARGEST_RESULT):
            run = inputs, original.evaluate(inputs, RunContext(hardening.policies))
    except VinculumError as error:
        return [], f"on drawn inputs, {one_line(error)}"
    plain = all(isinstance(x, np.ndarray) and x.dtype.name in _PLAIN for x in inputs.values())
    return ([run], None) if plain else ([], "runtimes do not take its inputs from NumPy")


def _holds_integers_only(model: ModelProto) -> bool:
    return all(
        TensorProto.DataType.Name(scope.code_of(name)).lower() in _INTEGERS
        for scope in typed_scopes(model)
        for node in scope.holder.node
        for name in (*node.input, *node.output)
        if name
    )


Pairs = tuple[NDArray[Any], NDArray[Any]]
"""Dividends and divisors, in two one-dimensional arrays of the same size."""


@dataclass(frozen=True, eq=False)
class Trial:
    """A model of one rewrite, its operands, and the expected results."""

    decision: Decision  # A division with this rewrite.
    case: Case  # The model and its inputs.
    constant: str  # Which operands are constants of the model: ``"no operand constant"``.
    pairs: Pairs
    expected: NDArray[Any]  # The exact quotients or remainders.


def trials(decision: Decision, facts: Facts, hardening: Hardening) -> Iterator[Trial]:
    """Yield models of a rewrite with no, one or both operands constant; operands constant in the original always are.

    Inputs are declared once with a size and once without, as a runtime may choose another kernel then.
    """
    pairs = pairs_for(facts, hardening.runtime)
    expected = expected_of(facts, pairs, hardening.policies)
    names = ("B",) if facts.operator == "Reciprocal" else ("A", "B")
    arrays = {name: array for name, array in zip("AB", pairs, strict=True) if name in names}
    fixed = {name for name, values in (("A", facts.bounds.dividend), ("B", facts.bounds.divisor)) if values is not None}
    titles = {(): "no operand constant", ("A",): "A constant", ("B",): "B constant", ("A", "B"): "both constant"}
    for constant, title in titles.items():
        sizes = ((expected.size, title), ("N", f"{title} and sizes open"))
        if fixed <= set(constant) <= set(names):
            inputs = {name: array for name, array in arrays.items() if name not in constant}
            inputs["unused"] = np.zeros(1, np.float32)
            for size, words in sizes[: 1 if len(constant) == len(names) else 2]:
                model = _model(facts, hardening, arrays, constant, size)
                yield Trial(decision, Case(model, inputs), words, pairs, expected)


def expected_of(facts: Facts, pairs: Pairs, policies: Policies) -> NDArray[Any]:
    """Return the exact quotients, computed by Vinculum, or the exact remainders of integers, by NumPy."""
    (a, b), zero_divisor, overflow = pairs, policies.zero_divisor, policies.overflow
    if facts.operator == "Reciprocal":
        return onnx_ops.reciprocal(b, opset=facts.opset)
    if facts.operator == "Div":
        return onnx_ops.div(a, b, opset=facts.opset, zero_divisor=zero_divisor, overflow=overflow)
    if facts.operator == "FloorDiv":
        return floor_divide(a, b, zero_divisor=zero_divisor, overflow=overflow)
    divisors = np.where((b == 0) | (facts.is_signed & (b == -1)), b.dtype.type(1), b)  # x mod 1 is 0, as x mod 0 here.
    return np.asarray(np.remainder(a, divisors) if facts.operator == "Mod" else np.fmod(a, divisors))


def _model(
    facts: Facts, hardening: Hardening, arrays: Mapping[str, NDArray[Any]], constant: tuple[str, ...], size: int | str
) -> bytes:
    names = ", ".join(arrays)
    inputs = [f"{facts.element_type}[{size}] {name}" for name in arrays if name not in constant]
    # A model with only constant operands needs an input too, and runtimes drop unused ones.
    model = parser.parse_model(f"""<ir_version: {_IR_VERSION}, opset_import: ["": {facts.opset}]>
        rewrite ({", ".join([*inputs, "float[1] unused"])}) => ({facts.element_type}[{size}] C, float[1] unused_too)
        {{ C = Div ({names}) unused_too = Identity (unused) }}""")
    model.ir_version = max(_IR_VERSION, helper.find_min_ir_version_for(model.opset_import, ignore_unknown=True))
    graph = model.graph
    graph.initializer.extend(numpy_helper.from_array(arrays[name], name) for name in constant)
    guards = Guards(model, hardening.runtime, hardening.policies)
    division, *others = graph.node
    set_nodes(graph, [*guards.replace(Scope("", graph, {}, ChainMap()), division, facts, ""), *others])
    guards.complete()
    return bytes(model.SerializeToString())


def pairs_for(facts: Facts, runtime: Runtime) -> Pairs:
    """Return the test operands for a rewrite, the same in every call.

    They are all pairs of edge values (zeros, units, the limits of the type, the neighbours of the powers of 2 at which
    a type or a significand ends), random pairs, and pairs next to a whole quotient, where rounding errors would show.
    An operand that is constant in the model keeps its values. Pairs that no run of the model has are left out, and for
    OpenVINO those whose operands or quotients are outside int32.
    """
    generator = np.random.default_rng(0)
    firsts = _values(facts.bounds.dividend, facts.element_type)
    seconds = _values(facts.bounds.divisor, facts.element_type)
    a, b = (x.ravel() for x in np.meshgrid(firsts, seconds))
    if facts.element_type.is_integer:
        more = [tuple(_drawn(x, facts.element_type, generator) for x in (facts.bounds.dividend, facts.bounds.divisor))]
        if facts.bounds.dividend is None:
            more.append(_near_multiples(facts, seconds, generator))
        a, b = np.concatenate([a, *(pair[0] for pair in more)]), np.concatenate([b, *(pair[1] for pair in more)])
        kept = _possible(a, b, facts)
        if runtime == "openvino":
            kept &= _within_int32(a) & _within_int32(b)
            if facts.element_type.maximum > INT32.maximum:
                kept &= (a != INT32.minimum) | (b != -1)
        a, b = a[kept], b[kept]
    return np.ascontiguousarray(a), np.ascontiguousarray(b)


def _values(constant: Values, element_type: ElementType) -> NDArray[Any]:
    if constant is None:
        return edge_values(element_type)
    if constant.size <= _MOST_CONSTANTS:
        return constant
    # The values are sorted, and both ends are included.
    places = np.linspace(0, constant.size - 1, _MOST_CONSTANTS).astype(np.intp)
    special = constant[np.isin(constant, np.array([-1, 0, 1]).astype(constant.dtype))]
    return np.unique(np.concatenate([constant[places], special]))


def _drawn(constant: Values, element_type: ElementType, generator: np.random.Generator) -> NDArray[Any]:
    """Return numbers of every magnitude."""
    if constant is not None:
        return generator.choice(constant, _RANDOM)
    dtype = dtype_of(element_type)
    wide = generator.integers(element_type.minimum, element_type.maximum, _RANDOM, dtype, endpoint=True)
    return np.asarray(wide >> generator.integers(0, element_type.bits, _RANDOM).astype(dtype))


def _near_multiples(facts: Facts, divisors: NDArray[Any], generator: np.random.Generator) -> Pairs:
    """Return dividends that are a multiple of their divisor or differ from one by 1, wrapped, and the divisors."""
    b = generator.choice(divisors, _MULTIPLES)
    if facts.bounds.divisor is None:
        b = np.where(generator.integers(0, 2, _MULTIPLES) == 1, _drawn(None, facts.element_type, generator), b)
    quotient = _drawn(None, facts.element_type, generator)
    return quotient * b + generator.integers(0, 3, _MULTIPLES).astype(b.dtype) - b.dtype.type(1), b


def _possible(a: NDArray[Any], b: NDArray[Any], facts: Facts) -> NDArray[np.bool_]:
    """Return which pairs of operands a run may have."""
    overflows = (a == facts.element_type.minimum) & (b == -1)
    possible = (b != 0) | facts.may_be_zero
    possible &= (b != -1) | facts.may_be_minus_one
    possible &= ~overflows | facts.may_overflow
    return np.asarray(possible)


def _within_int32(values: NDArray[Any]) -> NDArray[np.bool_]:
    return (values >= INT32.minimum) & (values <= INT32.maximum)
