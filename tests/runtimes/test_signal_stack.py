"""Signals are handled after OpenVINO has been in the process."""

from __future__ import annotations

import signal
import sys

import pytest

from tests.runtimes import signal_stack


@pytest.mark.skipif(sys.platform != "linux", reason="about a signal stack that OpenVINO sets on Linux")
def test_after_plugins_that_ended_in_the_order_of_their_beginnings() -> None:
    import openvino
    from openvino import opset1

    def compiled() -> openvino.CompiledModel:
        x = opset1.parameter([2], openvino.Type.f32)
        return openvino.Core().compile_model(openvino.Model([opset1.divide(x, x)], [x]), "CPU")

    first = compiled()
    second = compiled()
    del first
    del second
    signal_stack.restore()  # As after every test; without it this process would end here.
    before = signal.signal(signal.SIGTERM, lambda *_: caught.append(True))
    caught: list[bool] = []
    try:
        signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert caught
