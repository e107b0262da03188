"""Arrays in files, `.npy`, Zarr and HDF5, divided in little memory by jobs that may be killed and run again."""

from vinculum.stored.division import Report, divide

__all__ = ["Report", "divide"]
