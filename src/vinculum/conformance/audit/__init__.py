"""A real model in a foreign runtime, its divisions exposed and each held against the exact quotient of its operands."""
