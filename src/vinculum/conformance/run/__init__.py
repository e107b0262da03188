"""A run of the suite: planned, asked in subprocesses, judged, kept in a file, and compared with another."""
