"""The operators: one pipeline, one explicit function for each."""
