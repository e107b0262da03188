"""A run of the suite: planning it, executing it in subprocesses, saving it to a file, and comparing two runs."""
