"""Threads that help divide in the default floating-point environment, whatever the one that wakes them has."""

from __future__ import annotations

import pytest

from tests.kernels import test_environment
from tests.processes import output_of, python

pytestmark = pytest.mark.skipif(*test_environment.pytestmark.args, **test_environment.pytestmark.kwargs)

PROGRAM = """
import vinculum
from tests.kernels.comparing import DTYPES, assert_same, lenient
from tests.kernels.many_threads import allowed
from tests.kernels.test_environment import CONTROL, operands, switched_to

given = {name: operands(name, (600, 600)) for name in DTYPES}

def divided():
    return {name: vinculum.div(*pair, **lenient(name)) for name, pair in given.items()}

with allowed(8):
    with switched_to(CONTROL):
        results = divided()
    with vinculum.threads(1):
        expected = divided()
    for name in DTYPES:
        assert_same(results[name], expected[name])
print("the same")
"""


def test_also_those_that_are_started_meanwhile() -> None:
    assert output_of(python(PROGRAM)) == "the same\n"
