"""Division of arrays in the memory of a CUDA device."""
