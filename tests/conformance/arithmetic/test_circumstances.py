"""Places of elements and properties of operations, from which rules are built."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.conformance.asking import asked, operation
from vinculum.conformance.arithmetic.circumstances import PLACES, has, mask, properties
from vinculum.conformance.cases.case import Level
from vinculum.conformance.expect import read_known_deviations
from vinculum.spec.onnx_div import DIV_14


def test_every_place_in_tensors_of_every_small_size() -> None:
    for size in range(70):
        every = list(range(size))
        expected = {
            "the first element": every[:1],
            "the last element": every[-1:],
            "the first of several elements": every[:1] if size > 1 else [],
            "the last of several elements": every[-1:] if size > 1 else [],
        }
        for width in (2, 4, 8, 16, 32):
            whole = size // width * width
            expected |= {f"packets of {width}": every[:whole]}
            expected |= {f"the remainder after packets of {width}": every[whole:]}
            for rest in range(width) if width < 32 else ():
                words = f"tensors of {width} k + {rest} elements" if rest else f"tensors of {width} k elements"
                expected[words] = every if size - whole == rest else []
        assert {name: np.flatnonzero(mask(name, size)).tolist() for name in PLACES} == expected


def test_shapes_and_constants() -> None:
    two, one = np.ones(2, np.float32), np.ones(1, np.float32)
    assert {"shapes that are equal", "no constant operand"} <= {*properties(operation(DIV_14, two, two))}
    others = properties(operation(DIV_14, two, one, constant=(False, True)))
    assert {"shapes that differ", "a constant operand"} <= {*others}


@pytest.mark.parametrize(("count", "words"), [(0, "an empty operand"), (1, "one element"), (2, "several elements")])
def test_how_many_elements_an_operation_has(count: int, words: str) -> None:
    ones = np.ones(count, np.float32)
    assert list(properties(operation(DIV_14, ones, ones)))[-1] == words


def test_files_of_known_deviations_name_what_cases_have() -> None:
    files = (Path(__file__).parents[3] / "known_deviations").glob("*.toml")
    rules = [cause for file in files for cause in read_known_deviations(file).predictors() if not cause.divisions]
    named = {name for rule in rules for name in rule.where}
    sized = {name for name in named if name.endswith(" elements") and name not in PLACES}
    left = named - {name for name in sized if any(has(case.operation, [name]) for case in asked(Level.QUICK))}
    for case in asked(Level.DEFAULT):
        left -= set(properties(case.operation)) if left else set()
    assert not left
    assert len(named) > 20
