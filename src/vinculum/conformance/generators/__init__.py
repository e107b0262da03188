"""Cases, generated from the rows of the specification: operands, shapes, deliveries, and what must be refused."""
