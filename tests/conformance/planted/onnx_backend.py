"""Planted dividers behind ONNX's own interface of backends."""

from __future__ import annotations

from functools import cache
from typing import Any

from onnx import ModelProto
from onnx.backend.base import Backend as Base
from onnx.backend.base import BackendRep

from tests.conformance.planted.dividers import DIVIDERS
from tests.fake_runtime import FakeRuntime, Model


class Prepared(BackendRep):
    """A prepared model."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Return the outputs."""
        names = [value.name for value in self._model.inputs]
        return tuple(self._model.run(None, dict(zip(names, inputs, strict=True))))


class Backend(Base):
    """The divider that the option ``divider`` names."""

    @classmethod
    def prepare(cls, model: ModelProto, device: str = "CPU", *, divider: str = "", **kwargs: Any) -> Prepared:
        """Return the prepared model, which is checked first, as onnx does."""
        super().prepare(model, device, **kwargs)
        return Prepared(Model(_made(divider), model.SerializeToString()))


@cache
def _made(divider: str) -> FakeRuntime:
    return DIVIDERS[divider].made()
