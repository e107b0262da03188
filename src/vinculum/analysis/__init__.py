"""Analysis of a model without running it: bounds of every value, and hazards of its divisions."""

from vinculum.analysis.checker import check
from vinculum.analysis.findings import Blocked, Effect, Finding, Frame, Report, Search, Severity, Witness
from vinculum.analysis.tracing.record import EngineTrace, Event, TraceReport
from vinculum.analysis.tracing.trace import trace

__all__ = [
    "Blocked",
    "Effect",
    "EngineTrace",
    "Event",
    "Finding",
    "Frame",
    "Report",
    "Search",
    "Severity",
    "TraceReport",
    "Witness",
    "check",
    "trace",
]
