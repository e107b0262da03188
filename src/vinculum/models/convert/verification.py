"""Verification of a conversion: both models run on the same inputs, and their outputs are compared bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vinculum.errors import BroadcastError, DifferenceError, ModelError, VinculumError
from vinculum.models.execution import LimitError, RunContext, limited, work_time
from vinculum.models.model import Engine, Model, check_engine
from vinculum.models.sampling.comparison import check_outputs
from vinculum.models.sampling.input_sets import input_sets
from vinculum.models.values import Value
from vinculum.ops.policies import Policies
from vinculum.text import listed, one_line, quoted

SIDES = ("the original", "the converted")

_FIRST_SECONDS = 60.0
_SECONDS = 10.0  # Of work, so that load on the machine does not reduce the comparison.
_LEAST = 8  # Sets that are compared in any case: each kind of content once.
_LARGEST_RESULT = 1 << 24
_REPETITIONS = 5
# The standards leave integers divided by zero undefined. A promoted type preserves the results of these policies, 0 and
# the wrapped MIN, but not saturated ones.
_POLICIES = Policies(zero_divisor="zero", overflow="wrap")


class _NotComparableError(ModelError):
    """No input can show whether two models compute the same."""


@dataclass(frozen=True)
class Verification:
    """What was compared without a difference.

    Attributes
    ----------
    compared : int
        The sets of inputs that both models ran on.
    elements : int
        The number of output elements compared.
    skipped : int
        The sets that the original refuses, or that would have taken too much time or memory.
    reason : str or None
        Why the first of these was skipped.
    """

    compared: int
    elements: int
    skipped: int
    reason: str | None = None


def verify(
    original: Model,
    converted: Model,
    *,
    inputs: Sequence[Mapping[str, Any]] = (),
    engine: Engine = "reference",
    advance: Callable[[int], None] | None = None,
) -> Verification:
    """Run two models on edge cases and random inputs and compare every bit of their outputs.

    NaNs are equal to each other, zeros of different signs are not. If the original refuses a set of inputs, the
    converted model must refuse it too, unless the reason is a shape: operator sets differ in the shapes that their
    operators accept. Integers divided by zero give 0 in both. After 10 seconds of work (`work_time`) and 8 sets no
    further set is started.

    - `original`, `converted`: with the same inputs and outputs, in the same order. Inputs with default values in the
      original may be missing in the converted model, which then uses those values.
    - `inputs`: the caller's own sets of inputs, which are compared first.
    - `advance`: called with the number of input sets compared so far.

    DifferenceError if an input, an output or an element of one differs; the message names the first difference, both
    values and the inputs. ModelError if no set could be run on both, the original is random, or it refuses a set of
    the caller's.
    """
    check_engine(engine)
    _check_interface(original, converted)
    for model, side in zip((original, converted) if engine == "reference" else (), SIDES, strict=False):
        try:
            model.prepare()
        except VinculumError as error:  # It is not different, but cannot be verified.
            raise _not_verified(f"in {side} {one_line(error)}") from None
    comparison = _Comparison(original, converted, engine)
    elements = 0
    for number, given in enumerate(inputs, 1):
        try:
            elements += comparison.elements(given)
        except DifferenceError as error:
            raise DifferenceError(f"{error} (inputs: set {number} of those given)") from None
    drawn = _compare_drawn(comparison, len(inputs), advance)
    found = replace(drawn, compared=len(inputs) + drawn.compared, elements=elements + drawn.elements)
    if not found.compared and found.reason:
        raise _not_verified(found.reason, "inputs that it runs on with --input, or ")
    if not found.compared:
        raise _not_verified("there are no inputs to run it on")
    return found


def _compare_drawn(comparison: _Comparison, before: int, advance: Callable[[int], None] | None) -> Verification:
    """Compare sets of inputs drawn for the model; `before` sets have been compared already."""
    compared = elements = skipped = 0
    reason: str | None = None
    allowed, start = _SECONDS / 20, work_time()
    for number, given in enumerate(_sets(comparison.original)):
        begun = work_time()
        if before + compared >= _LEAST and begun - start > _SECONDS:
            break
        try:
            # The first set holds small numbers only and has a long limit, for the sake of large models.
            with limited(_SECONDS if before else _FIRST_SECONDS) if number == 0 else limited(allowed, _LARGEST_RESULT):
                elements += comparison.elements(given)
        except _NotComparableError as error:
            raise _not_verified(str(error)) from None
        except DifferenceError as error:
            raise DifferenceError(f"{error} (inputs: set {number})") from None
        except VinculumError as error:
            skipped += 1
            reason = reason or one_line(error)
            continue
        if number == 0:
            allowed = max(allowed, 10 * (work_time() - begun))
        compared += 1
        if advance is not None:
            advance(before + compared)
    return Verification(compared, elements, skipped, reason)


def _sets(model: Model) -> Iterator[dict[str, Any]]:
    try:
        yield from input_sets(model.inputs, 0)
    except ModelError as error:
        raise _not_verified(one_line(error)) from None


def _not_verified(why: str, instead: str = "") -> ModelError:
    return ModelError(f"the conversion cannot be verified: {why}; give {instead}--no-verify to write it unverified")


def _check_interface(original: Model, converted: Model) -> None:
    """Refuse a model with other inputs or outputs; optional inputs of the original may be missing."""
    taken = {tensor.name for tensor in converted.inputs}
    needed = tuple(tensor for tensor in original.inputs if not tensor.optional or tensor.name in taken)
    for what, before, after in (("inputs", needed, converted.inputs), ("outputs", original.outputs, converted.outputs)):
        names, others = [t.name for t in before], [t.name for t in after]
        if names != others:
            raise DifferenceError(f"the {what} of the original are {listed(names)}; converted: {listed(others)}")
        for one, other in zip(before, after, strict=True):
            unknown = "unknown" in (str(one.element_type), str(other.element_type))
            if one.element_type != other.element_type and not unknown:
                types = f"{one.element_type} in the original, {other.element_type} in the converted"
                raise DifferenceError(f"{what[:-1]} {quoted(one.name)} is of element type {types}")


@dataclass(frozen=True)
class _Comparison:
    """Two models and the engine that runs both."""

    original: Model
    converted: Model
    engine: Engine

    def elements(self, given: Mapping[str, Any]) -> int:
        """Return how many elements were compared; errors other than DifferenceError are the original's, or a limit."""
        taken = {tensor.name for tensor in self.converted.inputs}
        inputs = {name: value for name, value in given.items() if name in taken}
        try:
            expected = self._run(self.original, inputs)
        except (LimitError, BroadcastError):
            raise
        except VinculumError as error:
            self._require_refusal(inputs, error)
            raise
        try:
            actual = self._run(self.converted, inputs)
            return check_outputs(expected, actual, SIDES)
        except LimitError:
            raise
        except DifferenceError:
            self._require_determinism(inputs, expected)
            raise
        except VinculumError as error:
            raise DifferenceError(f"the original runs, the converted does not: {one_line(error)}") from None

    def _run(self, model: Model, inputs: Mapping[str, Any]) -> dict[str, Value]:
        return model.evaluate(inputs, RunContext(_POLICIES), self.engine)

    def _require_determinism(self, inputs: Mapping[str, Any], expected: Mapping[str, Value]) -> None:
        """Refuse to compare a model whose outputs are random."""
        try:
            # A single repetition may give the same outputs by chance.
            for _ in range(_REPETITIONS):
                check_outputs(expected, self._run(self.original, inputs), SIDES)
        except DifferenceError:
            raise _NotComparableError("the original itself gives other outputs at every run") from None

    def _require_refusal(self, inputs: Mapping[str, Any], error: VinculumError) -> None:
        try:
            self._run(self.converted, inputs)
        except VinculumError:
            return
        raise DifferenceError(f"the converted runs, the original does not: {one_line(error)}")
