"""Transfer functions by subject; each module ends in its table."""
