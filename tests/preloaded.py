"""Imports the modules of sandbox processes, in the server of `tests.warm_processes` from which they are forked."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import sys
from pathlib import Path

from tests import fake_runtime

_IMPORTED = (
    "onnx.reference",
    "tests.warm_processes",
    "vinculum.analysis.tracing.trace",
    "vinculum.analysis.witness.search",
    "vinculum.conformance.audit.audit",
    "vinculum.conformance.audit.onnx_subject",
    "vinculum.conformance.audit.openvino_subject",
    "vinculum.conformance.run.suite",
    "vinculum.conformance.runtimes.onnx_loaders",
    "vinculum.conformance.runtimes.onnxruntime",
    "vinculum.conformance.runtimes.openvino",
    "vinculum.conformance.runtimes.vinculum_itself",
    "vinculum.models.engines.model_runner",
    "vinculum.models.engines.openvino.reading",
)
_FOREIGN = ("openvino", "torch", "jax.numpy")
"""Also imported in tests of real runtimes, but for ONNX Runtime, whose import starts a thread that forks lack."""

fake_runtime.hide_runtimes()
sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]  # it forks and uses the network
for name in (*_IMPORTED, *(name for name in _FOREIGN if importlib.util.find_spec(name.partition(".")[0]))):
    importlib.import_module(name)
gc.freeze()
THREADED = len(list(Path("/proc/self/task").iterdir())) > 1
"""Whether these imports have started threads, which forks lack."""
