"""Each piece of knowledge switched off brings its false alarm back: without one it would be dead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.analysis.corpus.judging import ENTRIES, checked
from vinculum.analysis.domain.abstract_tensor import AbstractTensor
from vinculum.analysis.domain.numbering import Numbering
from vinculum.analysis.hazards import divisors
from vinculum.analysis.transfer import norms, operators, refinement
from vinculum.analysis.transfer.operators import arithmetic, indexing, logic, reductions

BY_NAME = {entry.name: entry for entry in ENTRIES}


def _nothing(*_: Any, **__: Any) -> Any:
    return None


def _no_facts(*_: Any) -> Any:
    return ()


def _forget_numbers(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Numbering, "results", _nothing)


def _forget_facts(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(reductions, "find", _nothing)


def _one_interval(name: str) -> Callable[[pytest.MonkeyPatch], None]:
    def plant(patch: pytest.MonkeyPatch) -> None:
        right = operators.TABLE["", name]

        def hulled(*operands: Any) -> AbstractTensor:
            from vinculum.analysis.transfer.shared import hulled as one

            result = right.transfer(*operands)
            assert isinstance(result, AbstractTensor)
            return one(result, result.shape)

        patch.setitem(operators.TABLE, ("", name), replace(right, transfer=hulled))

    return plant


_SWITCHED_OFF: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], str]] = {
    "affine forms": (lambda p: p.setattr(arithmetic, "_affine_sum", _nothing), "added and taken away"),
    "value numbers": (_forget_numbers, "equal values by different names"),
    "some element of every row": (_forget_facts, "softmax by hand"),
    "the largest is taken out": (lambda p: p.setattr(arithmetic, "_axis_of_largest", _nothing), "softmax by hand"),
    "the top of a softmax": (_forget_facts, "top of a softmax"),
    "the sum of weights": (_forget_facts, "router.dynamo.onnx"),
    "conditions": (lambda p: p.setattr(logic, "refine", lambda values, number, truth, x: x), "where zero"),
    "squares are not negative": (lambda p: p.setattr(arithmetic, "square", _general_product), "square and epsilon"),
    "at most the sum": (
        lambda p: p.setattr(norms, "_is_sum_of", lambda *_: False),
        "softmax without the largest taken out, of small numbers",
    ),
    "what guards a divisor": (
        lambda p: p.setattr(divisors, "_guards_a_divisor", lambda site: True),
        "small constant that guards nothing",
    ),
    "what a mask leaves": (lambda p: p.setattr(logic, "_facts_of_choice", _no_facts), "wavlm_classify.dynamo18"),
    "what a mask leaves, added": (lambda p: p.setattr(arithmetic, "_raised", _no_facts), "wavlm_classify.dynamo18"),
    "the largest, compared": (lambda p: p.setattr(logic, "_facts_of_equality", _no_facts), "wavlm_classify.dynamo18"),
    "masks of both": (lambda p: p.setattr(logic, "_facts_of_both", _no_facts), "wav2vec2_classify.script17 as float16"),
    "rows gathered whole": (
        lambda p: p.setattr(indexing, "_facts_of_rows", _no_facts),
        "wav2vec2_classify.dynamo18 as float16",
    ),
    "an axis gathered whole": (
        lambda p: p.setattr(indexing, "_facts_of_gathered", _no_facts),
        "wav2vec2_classify.script17 as float16",
    ),
    "remainders of constants": (lambda p: p.setattr(arithmetic, "_folded_remainder", lambda *_: {}), "swin.script17"),
    "extremes of the same rows": (
        lambda p: p.setattr(arithmetic, "_are_extremes", lambda *_: False),
        "largest less smallest, and epsilon",
    ),
    "what is chosen, case by case": (lambda p: p.setattr(arithmetic, "by_cases", lambda *_: []), "one added to zeros"),
    "a quotient, case by case": (
        lambda p: p.setattr(arithmetic, "by_cases", lambda *_: []),
        "what is positive by itself",
    ),
    "magnitudes that are compared": (
        lambda p: p.setattr(refinement, "_is_magnitude_of", lambda *_: False),
        "small magnitudes replaced",
    ),
    "what indices reach": (
        lambda p: p.setattr(indexing, "_reached", lambda a, *_: a.box),
        "rows of a table but the first",
    ),
    "an interval a place": (_one_interval("Concat"), "intervals side by side"),
    "an interval a place, elsewhere": (_one_interval("Reshape"), "intervals side by side, in another shape"),
}


def _general_product(a: AbstractTensor) -> AbstractTensor:
    from vinculum.analysis.domain.abstract_tensor import anything

    return anything(a.element_type, a.shape)


@pytest.mark.parametrize("piece", _SWITCHED_OFF)
def test_switched_off_it_brings_its_false_alarm_back(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant, name = _SWITCHED_OFF[piece]
    entry = BY_NAME[name]
    assert {finding.rule for finding in checked(entry).findings} == set(entry.rules)
    plant(monkeypatch)
    assert {finding.rule for finding in checked(entry).findings} > set(entry.rules)
