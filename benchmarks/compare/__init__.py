"""Divisions in Vinculum and in other packages, and a plain pass over memory as the lower bound of their times."""
