"""What is known of a tensor without running: a box of intervals, zeros, NaN, and relations to other tensors."""
