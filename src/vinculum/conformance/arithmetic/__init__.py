"""Why a run's answers deviate: ways to divide that reproduce the bits, and rules that predict the outcome."""

from __future__ import annotations

from vinculum.conformance.arithmetic.answered import Answered, Explained, Explanation, Predictor
from vinculum.conformance.arithmetic.explain import explain, predicts, written

__all__ = ["Answered", "Explained", "Explanation", "Predictor", "explain", "predicts", "written"]
