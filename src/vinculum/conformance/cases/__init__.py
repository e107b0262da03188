"""Test cases generated from the rows of the specification: operands, shapes, placements, and required refusals."""
