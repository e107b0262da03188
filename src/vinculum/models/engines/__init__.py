"""What runs a model whose divisions are ours."""
