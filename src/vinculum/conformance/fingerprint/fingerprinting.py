"""The fingerprint of a runtime: running some of the suite's cases, and inferring from the answers how it computes."""

from __future__ import annotations

import time
from collections.abc import Sequence

from vinculum.conformance.arithmetic.circumstances import why_refused
from vinculum.conformance.cases.case import Advance, Case, Level
from vinculum.conformance.cases.enumeration import cases
from vinculum.conformance.cases.operation import Operation, rounding_asked
from vinculum.conformance.execute.suite import ask
from vinculum.conformance.fingerprint.finding import Fingerprint
from vinculum.conformance.fingerprint.findings import findings
from vinculum.conformance.runtimes.protocol import Runtime
from vinculum.conformance.runtimes.registry import STARTED, runtime
from vinculum.sandbox import Limits
from vinculum.spec.element_types import FLOAT, INT32, INT64
from vinculum.spec.model import IntegerRounding
from vinculum.spec.onnx_div import DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_13
from vinculum.spec.openvino_divide import DIVIDE_1

_TELLING = 64  # Elements; fewer reveal little about how constants are divided.


def fingerprint(
    backend: str,
    chosen: Sequence[Case] | None = None,
    *,
    workers: int = 2,
    limits: Limits | None = None,
    advance: Advance | None = None,
) -> Fingerprint:
    """Return how a runtime computes its quotients.

    Parameters
    ----------
    backend : str
        As `vinculum.conformance.runtimes.registry.runtime` takes it: ``"openvino"``, ``"torch[device=cuda]"``.
    chosen : sequence of Case, optional
        The cases to run; if None, those that `selected` returns.
    workers : int, keyword-only
        How many processes answer side by side.
    limits : Limits, keyword-only
        The limits of a single case.
    advance : callable, keyword-only
        Called from any thread, one call at a time.

    Raises
    ------
    VinculumError
        If there is no such runtime, or its package is not installed.
    """
    start, asked = time.perf_counter(), runtime(backend)
    asked.check()
    answered = ask(
        None,
        selected(asked) if chosen is None else chosen,
        STARTED,
        backend,
        workers=workers,
        limits=limits,
        advance=advance,
    )
    found = tuple(findings(answered))
    return Fingerprint(backend, asked.title, dict(asked.versions()), found, time.perf_counter() - start)


def selected(asked: Runtime) -> list[Case]:
    """Return the cases of the suite's default level that reveal most about how a runtime computes."""
    covered = [case for case in cases(Level.DEFAULT) if asked.covers(case.operation)]
    onnx = {case.element_type for case in covered if case.operation.spec is DIV_14}
    return [case for case in covered if _tells(case, case.element_type in onnx)]


def _tells(case: Case, onnx: bool) -> bool:
    """Tell whether a case is worth its time; Divide-1 is used for what ONNX's operator does not reveal."""
    operation, quick, whole = case.operation, case.level is Level.QUICK, case.element_type.is_integer
    if operation.constant == (True, False) or case.element_type not in DIV_14.element_types:
        return False
    size, folded = max(operand.size for operand in operation.operands), any(operation.constant)
    if onnx and operation.spec is DIVIDE_1:
        if not whole:
            return case.element_type is FLOAT and not folded and ("axis" in operation.attributes or _illegal(operation))
        usual = case.element_type in (INT32, INT64)
        if quick:
            return usual or rounding_asked(operation) is IntegerRounding.FLOOR
        return usual and all(operation.constant) and size >= _TELLING
    if operation.spec not in (DIV_14, RECIPROCAL_13, DIVIDE_1):
        return case.element_type is FLOAT and not folded and (quick or "axis" in operation.attributes)
    if _illegal(operation):
        mixed = len({operand.dtype for operand in operation.operands}) > 1
        return not folded and (mixed or case.element_type in (FLOAT, INT32))
    if whole and operation.operands[0].shape == operation.operands[-1].shape and size:
        # x / 0 and MIN / -1 may end the process where the whole tensor is one such division.
        return quick or folded or size == 1 or not operation.operands[-1].any()
    return quick or (size >= _TELLING and (folded or (not whole and operation.operands[-1].ndim == 0)))


def _illegal(operation: Operation) -> bool:
    return why_refused(operation) is not None
