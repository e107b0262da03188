"""How long a quotient takes: in Vinculum, in other packages, and in a plain pass over memory, the lower bound."""
