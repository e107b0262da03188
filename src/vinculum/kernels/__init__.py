"""The fast twin: scalar rules and flat loops in numba; knows nothing of specifications."""
