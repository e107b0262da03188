"""The validation of a hardening: its rewrites and the whole model are run in the target runtime."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto

from vinculum.errors import DifferenceError, ModelError, VinculumError
from vinculum.models.engines.model_runner import NAMES, Case, Outcome, check_installed, run_cases
from vinculum.models.engines.onnxruntime.session import reason_of
from vinculum.models.execution import RunContext
from vinculum.models.limits import limited
from vinculum.models.model import Model
from vinculum.models.onnx.inference import typed_scopes
from vinculum.models.sampling.comparison import check_equal
from vinculum.models.sampling.input_sets import input_sets
from vinculum.repair.decision import Decision, Facts, Hardening, Runtime
from vinculum.repair.trials import Trial, trials
from vinculum.text import one_line, quoted

_REFERENCE_RUNTIMES: dict[Runtime, tuple[str, ...]] = {
    "onnxruntime": ("onnxruntime",),
    "openvino": ("openvino",),
    "portable": ("onnxruntime", "reference"),
}
_SECONDS = 60.0
_LARGEST_RESULT = 1 << 28  # Bytes, for operators with an operand that determines the size of the result.
_PLAIN = ("bool", "float16", "float32", "float64", *(f"{s}int{n}" for s in ("", "u") for n in (8, 16, 32, 64)))
_INTEGERS = (
    *(TensorProto.INT8, TensorProto.INT16, TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL),
    *(TensorProto.UINT8, TensorProto.UINT16, TensorProto.UINT32, TensorProto.UINT64),
)

Advance = Callable[[int, int], None]
"""Called with the number of models that have been run, and their total."""


@dataclass(frozen=True)
class Validation:
    """What was run and found equal.

    Attributes
    ----------
    runtimes : tuple of str
        The runtimes: ``"onnxruntime"``, ``"openvino"``, ``"reference"``.
    rewrites : int
        The number of different rewrites.
    models : int
        The number of their models that were run, in all runtimes together: with input, constant and mixed operands.
    results : int
        The number of quotients and remainders compared in them.
    whole_model : {"run", "loaded"}
        Whether the hardened model itself was run in each runtime, on given or drawn inputs, or only loaded, because
        the original does not run on drawn ones or a runtime cannot take them.
    reason : str or None
        Why it was only loaded.
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

    - `original`: the model before hardening.
    - `file`: the hardened model.
    - `advance`: called with the number of rewrites' models that have been run, and their total.
    - `inputs`: sets of inputs to run the whole model on; if there is none, one is drawn.

    None if nothing was rewritten.

    DifferenceError if a result differs, or the runtime crashes on a rewrite or on the model; the message names the
    division. ModelError if the runtime's package is not installed, or the runtime refuses the model, or the original
    refuses a set.
    """
    runtimes = reference_runtimes(hardening)
    if not runtimes:
        return None
    different = _different(hardening)
    tried = [trial for decision, facts in different for trial in trials(decision, facts, hardening)]
    runs, reason = [_run_on(given, original, hardening) for given in inputs], None
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
            _check_whole(hardening, outcomes, runtime, [expected for _, expected in runs])
    results = sum(trial.expected.size for trial in tried) * len(runtimes)
    return Validation(runtimes, len(different), total, results, "run" if runs else "loaded", reason)


def reference_runtimes(hardening: Hardening) -> tuple[str, ...]:
    """Return the runtimes in which a hardening is validated; none if it changed nothing.

    ModelError if the package of one is not installed.
    """
    if not any(decision.rewritten for decision in hardening.decisions):
        return ()
    for runtime in _REFERENCE_RUNTIMES[hardening.runtime]:
        check_installed(runtime)
    return _REFERENCE_RUNTIMES[hardening.runtime]


def _different(hardening: Hardening) -> list[tuple[Decision, Facts]]:
    """Return one decision for each different rewrite, with its facts."""
    found: dict[tuple[object, ...], tuple[Decision, Facts]] = {}
    for decision in hardening.decisions:
        facts = decision.facts
        if facts is not None and decision.rewritten:
            values = [None if x is None else x.tobytes() for x in (facts.dividend, facts.divisor)]
            found.setdefault((*facts.decisive, *values), (decision, facts))
    return list(found.values())


def _check(trial: Trial, outcome: Outcome, runtime: str) -> None:
    """Refuse a rewrite whose results in the runtime differ from the expected ones."""
    where = f"{trial.decision.label}: the rewrite on {NAMES[runtime]}, {trial.constant},"
    if outcome.died:
        raise DifferenceError(f"{where} kills the process, which {outcome.problem}; nothing is written")
    if outcome.problem is not None:
        (loaded,) = run_cases(runtime, [Case(trial.case.model, None)])
        if loaded.problem is not None:
            raise ModelError(
                f"{trial.decision.label}: {NAMES[runtime]} rejects the hardened form: {_reason(outcome.problem)}"
            )
        raise DifferenceError(f"{where} is refused: {_reason(outcome.problem)}; nothing is written")
    results = np.asarray(outcome.outputs[0])
    try:
        check_equal("the result", trial.expected, results, ("expected", NAMES[runtime]))
    except DifferenceError as error:
        operands = _operands(trial, results)
        raise DifferenceError(f"{where} is wrong: {error}{operands}; nothing is written") from None


def _operands(trial: Trial, results: NDArray[Any]) -> str:
    """Return the first operands with a different result, for a message."""
    if results.shape != trial.expected.shape:
        return ""
    place = int(np.argmax(results != trial.expected))
    return f" (first: {trial.pairs.a[place]} and {trial.pairs.b[place]})"


def _reason(problem: str) -> str:
    return reason_of(Exception(problem))


def _check_whole(
    hardening: Hardening, outcomes: Iterator[Outcome], runtime: str, expected: Sequence[Mapping[str, Any]]
) -> None:
    """Refuse a hardened model that a runtime cannot load, or cannot run on inputs that the original accepts.

    If all values of the model are integers or bools, the outputs are compared bit for bit. Otherwise they are not,
    since floats of other operators differ between runtimes; on OpenVINO integers do too.
    """
    name = NAMES[runtime]
    integers = runtime != "openvino" and not hardening.mended and _holds_integers_only(hardening.model)
    for wanted, outcome in zip((None, *expected), outcomes, strict=False):
        if outcome.died:
            raise DifferenceError(f"the hardened model kills {name}: the process {outcome.problem}")
        if outcome.problem is not None and wanted is None:
            raise ModelError(f"{name} rejects the hardened model: {_reason(outcome.problem)}")
        if outcome.problem is not None:
            reason = _reason(outcome.problem)
            raise DifferenceError(f"{name} fails on the hardened model with inputs that the original accepts: {reason}")
        if wanted is not None and integers:
            for (output, want), got in zip(wanted.items(), outcome.outputs, strict=True):
                check_equal(f"output {quoted(output)}", want, np.asarray(got), ("our engine", f"{name}, hardened"))


Run = tuple[Mapping[str, Any], Mapping[str, Any]]
"""Inputs, and the original's outputs."""


def _drawn_run(original: Model, hardening: Hardening) -> tuple[list[Run], str | None]:
    """Return a run on drawn inputs; none, and why, if the original refuses them or the runtimes cannot take them.

    None either if a division is left that may crash the runtime.
    """
    if hardening.left:
        return [], "a division is left that may kill the runtime"
    try:
        inputs = next(iter(input_sets(original.inputs, 0)))
        with limited(_SECONDS, _LARGEST_RESULT):
            run = _run_on(inputs, original, hardening)
    except VinculumError as error:
        return [], f"on drawn inputs, {one_line(error)}"
    plain = all(isinstance(x, np.ndarray) and x.dtype.name in _PLAIN for x in inputs.values())
    return ([run], None) if plain else ([], "runtimes do not take its inputs from NumPy")


def _run_on(inputs: Mapping[str, Any], original: Model, hardening: Hardening) -> Run:
    return inputs, original.evaluate(inputs, RunContext(hardening.policies))


def _holds_integers_only(model: ModelProto) -> bool:
    for scope in typed_scopes(model):
        names = {name for node in scope.holder.node for name in (*node.input, *node.output) if name}
        if any(scope.code_of(name) not in _INTEGERS for name in names):
            return False
    return True
