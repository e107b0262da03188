"""Fixtures of the audit's tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from typing import Any

import pytest
from onnx import ModelProto, shape_inference

from tests.fake_runtime import VARIABLE, FakeRuntime, installed
from vinculum.conformance.audit.audit import Auditor
from vinculum.conformance.audit.record import Audit
from vinculum.sandbox import Isolated, Limits


@pytest.fixture
def examples() -> Path:
    """Return the folder of the examples."""
    return Path(__file__).parents[3] / "examples"


@pytest.fixture(scope="session")
def kept_processes() -> Iterator[Callable[..., AbstractContextManager[Isolated]]]:
    """Return a substitute for `Isolated` that keeps its processes, as importing a runtime takes a second."""
    with ExitStack() as stack:
        processes: dict[tuple[object, ...], Isolated] = {}

        def isolated(factory: str, *arguments: object, limits: Limits) -> AbstractContextManager[Isolated]:
            key = (factory, repr(arguments), limits, os.environ.get(VARIABLE))
            if key not in processes:
                processes[key] = stack.enter_context(Isolated(factory, *arguments, limits=limits))
            return nullcontext(processes[key])

        yield isolated


@pytest.fixture
def audited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept_processes: Callable[..., Any]
) -> Callable[..., Audit]:
    """Return a function that audits a model, given as a message or as the path of its file, in a runtime by its name.

    A class of fakes is installed as ONNX Runtime, and that is audited.
    """
    monkeypatch.setattr("vinculum.conformance.audit.audit.Isolated", kept_processes)

    def run(
        model: ModelProto | Path,
        backend: str | type[FakeRuntime],
        inputs: Mapping[str, Any],
        seconds: float = 100.0,
        edges: Iterable[Mapping[str, Any]] = (),
        *,
        expand: bool = False,
    ) -> Audit:
        file = tmp_path / "model.onnx"
        if isinstance(model, Path):
            file = model
        else:
            file.write_bytes(model.SerializeToString())
        with nullcontext() if isinstance(backend, str) else installed(onnxruntime=backend):
            name = backend if isinstance(backend, str) else "onnxruntime"
            auditor = Auditor(file, name, Limits(seconds=seconds), expand=expand)
            if auditor.subject.exposed is not None:  # The runtime that stands in is laxer than real ones.
                shape_inference.infer_shapes(auditor.subject.exposed, strict_mode=True)
            return auditor.audit(inputs, edges)

    return run
