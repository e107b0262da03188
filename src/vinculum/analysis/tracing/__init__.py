"""Where a run goes wrong: the node that makes the first NaN, infinity or zero divisor, and why."""
