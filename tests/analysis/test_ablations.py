"""Each piece of knowledge switched off brings its false alarm back: without one it would be dead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.analysis.corpus.judging import ENTRIES, checked
from vinculum.analysis.domain.abstract_tensor import AbstractTensor, anything
from vinculum.analysis.domain.numbering import Numbering
from vinculum.analysis.hazards import divisors, functions
from vinculum.analysis.transfer import operators, relations
from vinculum.analysis.transfer.operators import arithmetic, indexing, logic, reductions
from vinculum.analysis.transfer.shared import hulled

BY_NAME = {entry.name: entry for entry in ENTRIES}


Plant = Callable[[pytest.MonkeyPatch], None]


def _off(owner: Any, name: str, instead: Any = None) -> Plant:
    """Return what has a function return nothing, or what stands instead."""
    return lambda patch: patch.setattr(owner, name, lambda *_, **__: instead)


def _one_interval(name: str) -> Plant:
    """Return what leaves one interval of all that an operator knows of its result."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        right = operators.TABLE["", name]

        def transfer(*operands: Any) -> AbstractTensor:
            result = right.transfer(*operands)
            assert isinstance(result, AbstractTensor)
            return hulled(result, result.shape)

        patch.setitem(operators.TABLE, ("", name), replace(right, transfer=transfer))

    return plant


_NO_FACTS = _off(reductions, "find")
_NO_CASES = _off(arithmetic, "by_cases", [])
_SWITCHED_OFF: dict[str, tuple[Plant, str]] = {
    "affine forms": (_off(arithmetic, "_affine_sum"), "added and taken away"),
    "value numbers": (_off(Numbering, "results"), "equal values by different names"),
    "some element of every row": (_NO_FACTS, "softmax by hand"),
    "the largest is taken out": (_off(arithmetic, "axes_reaching", ()), "softmax by hand"),
    "the top of a softmax": (_NO_FACTS, "top of a softmax"),
    "the sum of weights": (_NO_FACTS, "router.dynamo.onnx"),
    "conditions": (lambda p: p.setattr(logic, "refine", lambda values, number, truth, x: x), "where zero"),
    "squares are not negative": (
        lambda p: p.setattr(arithmetic, "square", lambda a: anything(a.element_type, a.shape)), "square and epsilon"),
    "at most the sum": (
        _off(relations, "_is_sum_of", False), "softmax without the largest taken out, of small numbers"),
    "what guards a divisor": (_off(divisors, "_guards_a_divisor", True), "small constant that guards nothing"),
    "what is chosen somewhere": (_off(logic, "_facts_of_choice", ()), "the likeliest of those that are kept"),
    "some element of every row, raised": (_off(arithmetic, "_raised", ()), "degrees of a graph with loops"),
    "what is compared": (_off(logic, "_facts_of_comparison", ()), "wavlm_classify.dynamo18"),
    "masks of both": (_off(logic, "spread_facts", ()), "wav2vec2_classify.script17 as float16"),
    "what rows reach": (_off(logic, "axes_reaching", set()), "what is likelier than a share of the likeliest"),
    "what a mask leaves of anything": (_off(functions, "_leaves_some", False), "the second largest and what is larger"),
    "rows gathered whole": (_off(indexing, "_facts_of_rows", ()), "wav2vec2_classify.dynamo18 as float16"),
    "an axis gathered whole": (_off(indexing, "_facts_of_gathered", ()), "wav2vec2_classify.script17 as float16"),
    "remainders of constants": (_off(arithmetic, "_folded_remainder", {}), "swin.script17"),
    "extremes of the same rows": (_off(arithmetic, "_are_extremes", False), "largest less smallest, and epsilon"),
    "what is chosen, case by case": (_NO_CASES, "one added to zeros"),
    "a quotient, case by case": (_NO_CASES, "what is positive by itself"),
    "variances by moments": (
        _off(arithmetic, "error_of_variance"), "the mean of squares less the square of the mean, and epsilon"),
    "what bounds a dividend": (_off(relations, "_most_of_reduced", np.inf), "a scale of zero replaced"),
    "parts of a range": (_off(relations, "_is_part_of_spread", False), "a range of zero replaced"),
    "the largest of all": (_off(arithmetic, "is_largest_of_all", False), "products of positive features"),
    "magnitudes that are compared": (_off(relations, "_is_magnitude_of", False), "small magnitudes replaced"),
    "what indices reach": (
        lambda p: p.setattr(indexing, "_reached", lambda a, *_: a.box), "rows of a table but the first"),
    "an interval a place": (_one_interval("Concat"), "intervals side by side"),
    "an interval a place, elsewhere": (_one_interval("Reshape"), "intervals side by side, in another shape"),
}  # fmt: skip


@pytest.mark.parametrize("piece", _SWITCHED_OFF)
def test_switched_off_it_brings_its_false_alarm_back(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant, name = _SWITCHED_OFF[piece]
    entry = BY_NAME[name]
    assert {finding.rule for finding in checked(entry).findings} == set(entry.rules)
    plant(monkeypatch)
    assert {finding.rule for finding in checked(entry).findings} > set(entry.rules)
