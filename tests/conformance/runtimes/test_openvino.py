"""The adapter of OpenVINO without it: which operations it covers, and which inputs a model is given."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.conformance.asking import message, operation
from vinculum.conformance.runtimes.backends import runtime
from vinculum.conformance.runtimes.openvino import OpenVino, places
from vinculum.errors import ModelError
from vinculum.sandbox import UnsupportedError
from vinculum.spec.onnx_div import DIV_14
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.spec.sonnx_div import DIV_INT


def port(friendly: str, *names: str) -> Any:
    node = SimpleNamespace(get_friendly_name=lambda: friendly)
    return SimpleNamespace(get_node=lambda: node, get_names=lambda: names)


def test_covers() -> None:
    integers = np.ones(1, np.uint8)
    asked = [operation(spec, integers, integers) for spec in (DIV_14, DIVIDE_1, DIV_INT)]
    assert list(map(runtime("openvino").covers, asked)) == [True, True, False]


def test_inputs_are_found_by_either_name() -> None:
    model = SimpleNamespace(inputs=[port("x"), port("Parameter_7", "b", "y")])
    assert places(model, {"y": 1, "x": 2, "unused": 3}) == {0: 2, 1: 1}


def test_an_input_that_is_not_given() -> None:
    """OpenVINO would divide whatever its memory holds, had it not to be given every input."""
    model = SimpleNamespace(inputs=[port("x", "item")])
    line = message(ModelError, lambda: places(model, {"y": 1}))
    assert line == "OpenVINO calls an input 'item', and the model has none of that name"


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("Exception from x.cpp:1:\nUnsupported element type: f8e5m2", UnsupportedError),
        ("While validating node 'opset1::Divide': Unsupported axis", ModelError),
        ("Argument shapes are inconsistent.", ModelError),
    ],
)
def test_what_it_lacks_is_told_from_what_it_refuses(
    monkeypatch: pytest.MonkeyPatch, words: str, kind: type[Exception]
) -> None:
    def read_model(*_: Any) -> None:
        raise RuntimeError(words)

    monkeypatch.setattr("vinculum.conformance.runtimes.openvino._core", lambda: SimpleNamespace(read_model=read_model))
    with pytest.raises(kind):
        OpenVino({}).read("model.xml")
