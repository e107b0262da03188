"""Lazy division of Dask arrays, block by block."""
