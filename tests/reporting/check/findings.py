"""Findings made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from vinculum.analysis.domain.abstract_tensor import BoundsFrom
from vinculum.analysis.findings import Effect, Finding, Frame, Report, Search, Severity, Witness
from vinculum.analysis.triage import Triage, sorted_out

LIBRARY = Frame("torch/nn/functional.py", 599, "mean", "total / mask.sum()", True)
OWN = Frame("/home/someone/project/export.py", 20, "main", "torch.onnx.export(model, x)", False)
BASE = Finding(
    rule="zero-over-zero",
    severity=Severity.POSSIBLE,
    node="node_div",
    operator="Div",
    scope="",
    divisor="convert_element_type",
    low=0.0,
    high=6.0,
    element_type="float32",
    bounds_from=BoundsFrom.DECLARED,
    path=("attention_mask", "sum_2", "convert_element_type"),
    frames=(OWN, LIBRARY),
    fingerprint="ca824d6f2cc3cada",
    fix="clamp(min=1) on the divisor",
    detail={},
)
AT_INPUTS = Witness(
    "model",
    {"attention_mask": np.zeros((2, 3), np.int64)},
    "attention_mask = zeros",
    ("vinculum", "onnxruntime 1.31.1"),
    effects=(Effect("linear_5", "NaN", 4),),
)
INNER = Witness("inner", {}, "zeros", ("vinculum",), tensor="pooled", value=np.zeros(3, np.float32))
HOSTILE = "x\x1b[31m\n\u202e[red]" + "y" * 300


def finding(severity: Severity = Severity.POSSIBLE, **changes: Any) -> Finding:
    return replace(BASE, severity=severity, **changes)


def triage(*findings: Finding, model: str = "models/bert.onnx", **unknown: int) -> Triage:
    return sorted_out(Report(findings, unknown, 717, 0.24), model)


ALL = (
    finding(Severity.CERTAIN, low=0.0, high=0.0, fingerprint="0" * 16),
    finding(Severity.WITNESSED, witness=AT_INPUTS, search=Search(8, 0.0), fingerprint="1" * 16),
    finding(Severity.WITNESSED_OUTSIDE, witness=replace(AT_INPUTS, kind="outside"), fingerprint="2" * 16),
    finding(Severity.POSSIBLE, witness=INNER, search=Search(200, 4.8e-6), fingerprint="3" * 16),
    finding(Severity.UNCONFIRMED, search=Search(200, 0.48, "10 s of processor time are used up"), fingerprint="4" * 16),
)
"""One of each severity."""
