"""Classes of operands, each with an English name and the subject that it tests."""
