"""Transfer functions: bounds of each operator's results from those of its operands, in tables by subject."""
