"""Risky divisions rewritten so that a runtime computes what the standard says, and does not crash."""
