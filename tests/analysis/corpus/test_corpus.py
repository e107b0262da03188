"""The labelled models: every label is found, nothing else is, and a run shows what can be shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import pytest

from tests.analysis.corpus.entry import Entry
from tests.analysis.corpus.handmade import ENTRIES as HANDMADE
from tests.analysis.corpus.judging import ENTRIES, SAMPLE, differing, is_control, scores
from tests.analysis.corpus.runs import hazardous_runs, is_shown
from tests.analysis.trying import Engine
from vinculum.analysis.hazards import BY_CODE

_LEFT = ("log_softmax", "mean of what is not zero", "deformable_detr")


def _is_left(entry: Entry) -> bool:
    """Tell whether ONNX's reference evaluator computes an entry's model otherwise, or not at all."""
    return entry.name.startswith(_LEFT)


def _each(entries: Iterable[Entry], alike: Callable[[Entry], str]) -> pytest.MarkDecorator:
    """Let a test take entries, all those that are alike at once."""
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(alike(entry), []).append(entry)
    return pytest.mark.parametrize("entries", groups.values(), ids=groups)


def _origin(entry: Entry) -> str:
    """Return an entry's architecture, or where it comes from."""
    return entry.name.partition(".")[0] if "transformers" in entry.source else entry.source


@_each(SAMPLE, _origin)
def test_what_is_labelled_is_found_and_nothing_else(entries: Sequence[Entry]) -> None:
    assert list(filter(None, map(differing, entries))) == []


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


@_each(
    [entry for entry in SAMPLE if (entry.witness or entry.inner) and not _is_left(entry)], lambda entry: entry.rules[0]
)
def test_a_run_shows_it(entries: Sequence[Entry]) -> None:
    assert [entry.name for entry in entries if not is_shown(entry, Engine)] == []


@_each([e for e in SAMPLE if is_control(e) and not _is_left(e)], _origin)
def test_no_run_of_a_control_divides_by_zero(entries: Sequence[Entry]) -> None:
    assert [(entry.name, *run) for entry in entries for run in hazardous_runs(entry, Engine)] == []
