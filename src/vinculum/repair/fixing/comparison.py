"""Runs of the original and the fixed model on the same inputs: outputs are the same bits unless a guard was at work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.analysis.assumptions import Assumptions
from vinculum.analysis.findings import Finding
from vinculum.analysis.witness.structured import SIZES, Space, ordinary, structured
from vinculum.errors import DifferenceError, VinculumError
from vinculum.models.execution import DivisionRecord, limited, work_time
from vinculum.models.model import Model
from vinculum.models.sampling.comparison import check_outputs
from vinculum.models.source import SourceFile
from vinculum.text import one_line

_MOST_RUNS = 24
_SECONDS = 10.0
_LARGEST_RESULT = 1 << 28  # Bytes, for operators with an operand that determines the size of the result.


@dataclass(frozen=True)
class Comparison:
    """The result of running both models.

    - `runs`: The number of inputs that both models ran on.
    - `equal`: The number of runs in which all outputs were the same bits.
    - `mended`: The number of other runs in which only elements changed that had been NaN or infinite.
    - `guarded`: The number of the rest in which a division read another divisor than before: a guard was at work.
    - `worst`: The first difference in the runs that are left; empty if there are none.
    - `witnesses`: The number of witnesses that were run again.
    - `still_shown`: The number of these in which an output of the fixed model was NaN or infinite.
    - `reason`: Why there were no runs; empty if there were some.
    """

    runs: int = 0
    equal: int = 0
    mended: int = 0
    guarded: int = 0
    worst: str = ""
    witnesses: int = 0
    still_shown: int = 0
    reason: str = ""


def compared(
    original: SourceFile, fixed: SourceFile, findings: Iterable[Finding], assumptions: Assumptions
) -> Comparison:
    """Compare both models on the witnesses of findings and on structured inputs inside the declared ranges."""
    witnesses = [f.witness.inputs for f in findings if f.witness is not None and f.witness.kind in ("model", "outside")]
    try:
        with limited(_SECONDS, _LARGEST_RESULT):
            return _run_both(original.model(), fixed.model(), witnesses, assumptions)
    except (VinculumError, MemoryError) as error:
        return Comparison(reason=one_line(error))


def _run_both(
    before: Model, after: Model, witnesses: Sequence[Mapping[str, Any]], assumptions: Assumptions
) -> Comparison:
    counts: Counter[str] = Counter()
    worst = reason = ""
    end = work_time() + _SECONDS
    for number, inputs in enumerate(islice(chain(witnesses, _inputs(before, assumptions)), _MOST_RUNS)):
        if work_time() > end:
            break
        try:
            expected, read_before = _run(before, inputs)
            found, read_after = _run(after, inputs)
        except VinculumError as error:
            reason = one_line(error)
            continue
        counts["runs"] += 1
        if number < len(witnesses):
            counts["witnesses"] += 1
            counts["still_shown"] += not all(map(_is_finite, found.values()))
        difference = _difference(expected, found)
        if not difference:
            counts["equal"] += 1
        elif not _difference(
            {name: _where_finite(value, value) for name, value in expected.items()},
            {name: _where_finite(value, expected[name]) for name, value in found.items()},
        ):
            counts["mended"] += 1
        elif read_before != read_after:
            counts["guarded"] += 1
        else:
            worst = worst or difference
    return Comparison(**counts, worst=worst, reason="" if counts["runs"] else reason or "no time was left")


def _inputs(model: Model, assumptions: Assumptions) -> Iterator[Mapping[str, Any]]:
    """Yield inputs inside the declared ranges, an ordinary one first."""
    needed = [tensor for tensor in model.inputs if not tensor.optional]
    space = Space(needed, assumptions.ranges, assumptions.sizes, 0)
    for size in space.sizes():
        space.size = size
        if space.fits(size):
            yield ordinary(space).inputs
    space.size = SIZES[0]
    yield from (candidate.inputs for candidate in structured(space) if not candidate.outside)


def _run(model: Model, inputs: Mapping[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    """Return the outputs, and the divisors that divisions read."""
    divisors: list[bytes] = []

    def keep(record: DivisionRecord) -> None:
        divisors.append(np.ascontiguousarray(record.divisor).tobytes())

    with np.errstate(all="ignore"):
        return model.run(inputs, zero_divisor="zero", observer=keep), divisors


def _difference(expected: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    try:
        check_outputs(expected, found, ("the original", "the fixed model"))
    except DifferenceError as error:
        return one_line(error)
    return ""


def _is_finite(value: Any) -> bool:
    return value.dtype.kind not in "fV" or bool(np.isfinite(value.astype(np.float64)).all())


def _where_finite(value: NDArray[Any], expected: NDArray[Any]) -> NDArray[Any]:
    """Return a value with zeros where the expected one is NaN or infinite."""
    if expected.dtype.kind not in "fV" or value.shape != expected.shape:
        return value
    return np.where(np.isfinite(expected.astype(np.float64)), value, np.zeros((), value.dtype))
