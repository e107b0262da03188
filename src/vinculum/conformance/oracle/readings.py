"""Deviations from our own reading of a specification, where its document is silent."""

from __future__ import annotations

from collections.abc import Mapping

from vinculum.conformance.oracle.verdict import Kind

READINGS: Mapping[str, tuple[Kind, ...]] = {
    "ieee-754": (Kind.ULPS,),
    "special-values": (Kind.ULPS, Kind.WRONG_VALUE),
    "f8e4m3-without-infinity": (Kind.WRONG_VALUE,),
    "regular-division": (Kind.WRONG_VALUE,),
    "empty-result-divides-nothing": (Kind.REFUSED,),
    "any-numeric-type": (Kind.REFUSED,),
    "pdpd-axis": (Kind.REFUSED,),
    "negative-axis-undefined": (Kind.ACCEPTED,),
}
"""By the clause that a case tests, the verdicts that contradict nothing but the reading."""
