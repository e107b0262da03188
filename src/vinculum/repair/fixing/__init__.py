"""Fixing of findings: the least guard for each is written into the model, which is then checked again."""

from vinculum.repair.fixing.comparison import Comparison
from vinculum.repair.fixing.remedies import Remedy
from vinculum.repair.fixing.rounds import Fix, Fixed, fix, fixed, write_fixed

__all__ = ["Comparison", "Fix", "Fixed", "Remedy", "fix", "fixed", "write_fixed"]
