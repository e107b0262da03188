"""A run of the suite: planned, asked in other processes, recorded, kept as a file and compared with another."""
