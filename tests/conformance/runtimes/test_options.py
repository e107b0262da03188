"""Options of a runtime: what is allowed is returned, and anything else is one clear line."""

from __future__ import annotations

import pytest

from tests.conformance.asking import message
from vinculum.conformance.runtimes.protocol import check_names, chosen, whole_number
from vinculum.errors import AttributeValueError


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("7", 7), ("0012", 12), ("1024", 1024)])
def test_whole_numbers(text: str, number: int) -> None:
    assert whole_number("Mine", "threads", {"threads": text}, 3) == number
    assert whole_number("Mine", "threads", {}, 3) == 3


@pytest.mark.parametrize("text", ["1025", "-1", "", "1.0", "00001", "\u0663", "x"])
def test_other_numbers(text: str) -> None:
    line = message(AttributeValueError, lambda: whole_number("Mine", "threads", {"threads": text}, 3))
    assert line == f"threads of Mine is {text!r}; allowed: a whole number from 0 to 1024"


def test_names_and_values() -> None:
    check_names("Mine", {"device": "CPU"}, ["device"])
    line = message(AttributeValueError, lambda: check_names("Mine", {"devise": "CPU"}, ["device"]))
    assert line.startswith("Mine has no option 'devise'; allowed: device")
    line = message(AttributeValueError, lambda: check_names("Mine", {"device": "CPU"}, []))
    assert line == "Mine has no option 'device'; it takes no options"
    assert chosen("Mine", "device", {}, ["CPU", "GPU"], "CPU") == "CPU"
    assert chosen("Mine", "device", {"device": "GPU"}, ["CPU", "GPU"], "CPU") == "GPU"
    line = message(AttributeValueError, lambda: chosen("Mine", "device", {"device": "TPU"}, ["CPU", "GPU"], "CPU"))
    assert line == "device of Mine is 'TPU'; allowed: CPU, GPU"
