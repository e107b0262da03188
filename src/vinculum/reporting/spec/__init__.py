"""Rows of the specification, and differences of versions."""
