"""What comes of an attempt to divide plain arrays (see `few_elements`); knows nothing of Numba."""

REFUSED = 0  # something is out of the ordinary, or an element is exceptional
DONE = 1  # the quotients are in the result
PLAIN = 2  # more than few elements, which threads may share
