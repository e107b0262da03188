"""Which numbers are divided: classes of operands, each with an English name and the thing that it is after."""
