"""What can be said of a model without running it: bounds of every value, and hazards where it divides."""

from vinculum.analysis.checker import check
from vinculum.analysis.findings import Finding, Frame, Report, Severity, Witness

__all__ = ["Finding", "Frame", "Report", "Severity", "Witness", "check"]
