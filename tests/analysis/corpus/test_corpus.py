"""The check finds every label of the corpus and nothing else; tests/runtimes confirms labels by running."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from tests.analysis.corpus.entry import Entry
from tests.analysis.corpus.handmade import ENTRIES as HANDMADE
from tests.analysis.corpus.judging import ENTRIES, SAMPLE, differing, scores
from vinculum.analysis.hazards import BY_CODE

_GROUPS: dict[str, list[Entry]] = {}
"""The sample by architecture, or by where the models come from."""
for _entry in SAMPLE:
    _origin = _entry.name.partition(".")[0] if "transformers" in _entry.source else _entry.source
    _GROUPS.setdefault(_origin, []).append(_entry)


@pytest.mark.parametrize("entries", _GROUPS.values(), ids=_GROUPS)
def test_what_is_labelled_is_found_and_nothing_else(entries: Sequence[Entry]) -> None:
    assert list(filter(None, map(differing, entries))) == []


def test_the_corpus_is_large_half_of_it_are_controls_and_hazards_have_evidence() -> None:
    assert len({entry.name for entry in ENTRIES}) == len(ENTRIES) >= 150
    assert sum(not entry.rules for entry in ENTRIES) >= len(ENTRIES) // 2
    assert [entry.name for entry in ENTRIES if entry.rules and not (entry.witness or entry.inner or entry.reason)] == []
    labelled = {rule for entry in ENTRIES for rule in entry.rules}
    assert labelled <= set(BY_CODE)
    assert set(BY_CODE) - labelled == {"sonnx-c2", "sonnx-gr2", "sonnx-v1"}  # Those that others imply.


def test_precision_is_high() -> None:
    """With the tests above, the labels alone give precision: known false alarms are labelled too."""
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
