"""Arrays in files, `.npy`, Zarr and HDF5, divided in bounded memory by jobs that can be interrupted and resumed."""

from vinculum.stored.division import Report, divide

__all__ = ["Report", "divide"]
