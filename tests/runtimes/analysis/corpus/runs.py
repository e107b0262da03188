"""Runs of the corpus: inputs that show a label, and ordinary ones inside of what is declared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, helper

from tests.analysis.corpus.entry import Entry
from tests.analysis.corpus.judging import arrays, model_of
from tests.analysis.trying import Maker
from tests.runtimes.analysis.corpus.changed import float16, with_quotients, with_zeros
from vinculum.errors import DivisionByZeroError, IntegerOverflowError
from vinculum.models.source import source_of


def is_shown(entry: Entry, session: Maker) -> bool:
    """Tell whether runs show the first of an entry's hazards: one of its witness, and one for each zero inside."""
    model = model_of(entry)
    zeros = (with_zeros(model, name) for name in entry.inner)
    return all(_is_not_finite(one, trials(model, entry)[1], entry.as_type, session) for one in zeros) and (
        not entry.witness or _witness_shows(entry, session)
    )


def _witness_shows(entry: Entry, session: Maker) -> bool:
    model, inputs, rule = model_of(entry), arrays(entry), entry.rules[0]
    if rule in ("integer-zero-divisor", "sonnx-c3"):
        with pytest.raises(DivisionByZeroError):
            source_of(model).model().run(inputs)
        return True
    if rule == "min-over-minus-one":
        with pytest.raises((DivisionByZeroError, IntegerOverflowError)):
            source_of(model).model().run(inputs, overflow="raise")
        return True
    if rule in ("integers-through-float", "floor-expected"):
        (quotient,) = session(model).run(None, inputs)
        n, m = inputs.values()
        return not np.array_equal(quotient, n // m)
    return _is_not_finite(model, inputs, entry.as_type, session)


def _is_not_finite(model: ModelProto, inputs: Mapping[str, Any], as_type: str | None, session: Maker) -> bool:
    """Tell whether a run gives an output, or a quotient, that is not finite."""
    model = with_quotients(model)
    if as_type == "float16":
        model = float16(model)
        inputs = {name: a.astype(np.float16) if a.dtype == np.float32 else a for name, a in inputs.items()}
    found = [np.asarray(array) for array in session(model).run(None, inputs)]
    return any(not np.isfinite(array.astype(np.float64)).all() for array in found)


def hazardous_runs(entry: Entry, session: Maker) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the runs of a control that give what is not finite.

    They are on zeros, ones, constant rows, tiny and common numbers, inside of what is declared.
    """
    model = model_of(entry)
    run = session(model)
    for number, inputs in enumerate(trials(model, entry)):
        found = map(np.asarray, run.run(None, inputs))
        if not all(array.dtype.kind != "f" or np.isfinite(array).all() for array in found):
            yield number, inputs


def trials(model: ModelProto, entry: Entry) -> list[Mapping[str, Any]]:
    """Return inputs inside of what is declared."""
    rng = np.random.default_rng(0)
    made: list[Mapping[str, Any]] = []
    for kind in range(8):
        inputs = {}
        for value in model.graph.input:
            declared = value.type.tensor_type
            shape = [d.dim_value or 2 for d in declared.shape.dim]
            low, high = _range_of(value.name, entry)
            whole = declared.elem_type != 1 or f"{value.name}=0|1" in entry.assume
            drawn = np.broadcast_to(np.asarray(_draw(rng, kind, shape)), shape)
            array: NDArray[Any] = np.asarray(np.clip(np.rint(drawn) if whole else drawn, low, high))
            inputs[value.name] = array.astype(helper.tensor_dtype_to_np_dtype(declared.elem_type))
        made.append(inputs)
    return made


def _draw(rng: np.random.Generator, kind: int, shape: list[int]) -> Any:
    kinds = (0.0, 1.0, -1.0, 1e-30, -0.0, rng.normal(size=shape), rng.normal(size=shape) * 1e3, rng.random())
    return kinds[kind]


def _range_of(name: str, entry: Entry) -> tuple[float, float]:
    low, high = -1e6, 1e6
    for text in entry.assume:
        if text.startswith(f"{name}>="):
            low = float(text.partition(">=")[2])
        elif text.startswith(f"{name}="):
            ends = text.partition("=")[2].replace("|", ":").split(":")
            low, high = float(ends[0]), float(ends[-1])
    return low, high
