"""Drawing inputs for a model, and comparing outputs bit for bit."""
