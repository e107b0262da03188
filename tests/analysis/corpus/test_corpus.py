"""The labelled models: every label is found, nothing else is, and a run shows what can be shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto

from tests.analysis.corpus.changed import float16, with_quotients, with_zeros
from tests.analysis.corpus.entry import Entry
from tests.analysis.corpus.handmade import ENTRIES as HANDMADE
from tests.analysis.corpus.judging import ENTRIES, arrays, differing, model_of, reported, scores
from tests.analysis.trying import session
from tests.cases import case
from vinculum.analysis.hazards.registry import BY_CODE
from vinculum.errors import DivisionByZeroError, IntegerOverflowError
from vinculum.models.source import source_of

_WITNESSED = [entry for entry in ENTRIES if entry.witness]
_CONTROLS = [entry for entry in ENTRIES if not entry.rules and entry.as_type is None]
_MOVES_INTEGERS = ("integers-through-float", "floor-expected")


def _each(entries: Iterable[Entry], alike: Callable[[Entry], str]) -> pytest.MarkDecorator:
    """Let a test take entries, all those that are alike at once."""
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(alike(entry), []).append(entry)
    return pytest.mark.parametrize("entries", groups.values(), ids=groups)


def _origin(entry: Entry) -> str:
    """Return an entry's architecture, or where it comes from."""
    return entry.name.partition(".")[0] if "transformers" in entry.source else entry.source


@_each(ENTRIES, _origin)
def test_what_is_labelled_is_found_and_nothing_else(entries: Sequence[Entry]) -> None:
    assert list(filter(None, map(differing, entries))) == []
    unknown = {entry.name: reported(entry).unknown_operators for entry in entries if "transformers" in entry.source}
    assert {name: operators for name, operators in unknown.items() if operators} == {}


def test_the_corpus_is_large_and_half_of_it_is_controls() -> None:
    assert len(ENTRIES) >= 150
    assert sum(not entry.rules for entry in ENTRIES) >= len(ENTRIES) // 2
    assert len({entry.name for entry in ENTRIES}) == len(ENTRIES)
    assert all(set(entry.rules) <= set(BY_CODE) for entry in ENTRIES)


def test_every_hazard_has_a_model_but_for_those_of_sonnx_that_others_imply() -> None:
    labelled = {rule for entry in ENTRIES for rule in entry.rules}
    assert set(BY_CODE) - labelled == {"sonnx-c2", "sonnx-gr2", "sonnx-v1"}


def test_precision_is_high() -> None:
    """What is found in each model is what is there, and what is known to be found wrongly."""
    right = Counter(rule for entry in ENTRIES for rule in entry.rules)
    wrong = Counter(rule for entry in ENTRIES for rule in entry.wrongly)
    assert [rule for rule in wrong if right[rule] / (right[rule] + wrong[rule]) < 0.9] == []
    assert right.total() / (right.total() + wrong.total()) >= 0.95


def test_scores_of_models_made_by_hand() -> None:
    found = scores(HANDMADE)
    assert {rule for rule, score in found.items() if score.recall < 1} == set()
    right, wrong = (sum(getattr(score, kind) for score in found.values()) for kind in ("right", "wrong"))
    assert right == sum(len(entry.rules) for entry in HANDMADE)
    assert wrong == sum(len(entry.wrongly) for entry in HANDMADE)


def test_a_hazard_has_evidence() -> None:
    assert [entry.name for entry in ENTRIES if entry.rules and not (entry.witness or entry.inner or entry.reason)] == []


@_each(_WITNESSED, lambda entry: entry.rules[0])
def test_a_run_shows_it(entries: Sequence[Entry]) -> None:
    for entry in entries:
        with case(entry.name):
            _assert_shown(entry)


def _assert_shown(entry: Entry) -> None:
    model, inputs = model_of(entry), arrays(entry)
    rule = entry.rules[0]
    if rule in ("integer-zero-divisor", "sonnx-c3"):
        with pytest.raises(DivisionByZeroError):
            source_of(model).model().run(inputs)
    elif rule == "min-over-minus-one":
        with pytest.raises((DivisionByZeroError, IntegerOverflowError)):
            source_of(model).model().run(inputs, overflow="raise")
    elif rule in _MOVES_INTEGERS:
        (quotient,) = session(model).run(None, inputs)
        n, m = inputs.values()
        assert not np.array_equal(quotient, n // m)
    else:
        assert _is_shown(model, inputs, entry.as_type)


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.inner], ids=lambda entry: entry.name)
def test_zeros_inside_show_it(entry: Entry) -> None:
    for name in entry.inner:
        model = with_zeros(model_of(entry), name)
        assert _is_shown(model, _trials(model, entry)[1], entry.as_type), name


def _is_shown(model: ModelProto, inputs: Mapping[str, Any], as_type: str | None) -> bool:
    """Tell whether a run gives an output, or a quotient, that is not finite."""
    model = with_quotients(model)
    if as_type == "float16":
        model = float16(model)
        inputs = {name: a.astype(np.float16) if a.dtype == np.float32 else a for name, a in inputs.items()}
    arrays = [np.asarray(found) for found in session(model).run(None, inputs)]
    return any(not np.isfinite(array.astype(np.float64)).all() for array in arrays)


@_each(_CONTROLS, _origin)
def test_no_run_of_a_control_divides_by_zero(entries: Sequence[Entry]) -> None:
    """On zeros, ones, constant rows, tiny and common numbers, inside of what is declared."""
    for entry in entries:
        model = model_of(entry)
        if any(import_.version < 7 for import_ in model.opset_import):
            continue  # ONNX Runtime has no such operator set.
        run = session(model)
        for number, inputs in enumerate(_trials(model, entry)):
            for array in map(np.asarray, run.run(None, inputs)):
                finite = array.dtype.kind != "f" or bool(np.isfinite(array).all())
                assert finite, (entry.name, number, inputs, array)


def _trials(model: ModelProto, entry: Entry) -> list[Mapping[str, Any]]:
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
            inputs[value.name] = np.asarray(array).astype(
                {1: np.float32, 3: np.int8, 7: np.int64, 9: bool}[declared.elem_type]
            )
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
