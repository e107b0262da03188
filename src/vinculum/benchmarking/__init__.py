"""How long a quotient takes: ours, those of other packages, and the plain pass over memory that nobody can beat."""
