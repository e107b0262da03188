"""The fast twin: scalar rules in numba, the loops and threads that apply them; knows nothing of specifications."""
