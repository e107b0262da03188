"""Cases, generated from the rows of the specification: operands, shapes, placements, and what must be refused."""
