"""What the processor that kernels are compiled for can do, and every choice between kernels that hangs on it."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from functools import cache

import numba
from llvmlite import binding

ON_X86 = platform.machine().lower() in ("x86_64", "amd64")


@cache
def processor_has(feature: str) -> bool:
    """Whether the processor that kernels are compiled for has an instruction-set extension, in LLVM's words.

    Numba compiles for the processor at hand unless its settings name another; then only the extensions that they name
    count.
    """
    if numba.config.CPU_NAME is not None or numba.config.CPU_FEATURES is not None:
        return f"+{feature}" in (numba.config.CPU_FEATURES or "").split(",")
    return bool(binding.get_host_cpu_features().get(feature, False))


@dataclass(frozen=True)
class Choice:
    """A choice between two kernels that give the same quotients.

    Attributes
    ----------
    of : str
        What is chosen.
    features : tuple of str
        The extensions one of which is needed for the first kernel.
    with_them, without : str
        What the two kernels use.
    """

    of: str
    features: tuple[str, ...]
    with_them: str
    without: str

    @property
    def first(self) -> bool:
        """Whether the processor has what the first kernel needs."""
        return any(processor_has(feature) for feature in self.features)

    def __str__(self) -> str:
        features = " or ".join(self.features)
        chosen, has = (self.with_them, "has") if self.first else (self.without, "lacks")
        return f"{chosen} (the processor {has} {features})"


# The conversions between 64-bit integers and binary64 are vector instructions only there; without them the two steps
# take twice as long as the processor's division.
QUOTIENTS_OF_64_BITS = Choice(
    "quotients of 64-bit integers", ("avx512dq",), "two rounded steps", "the processor's division"
)
# Without them LLVM would call library routines that Numba does not carry.
CONVERSIONS_OF_BINARY16 = Choice(
    "conversions of binary16", ("f16c", "fullfp16"), "the processor's", "arithmetic on integers"
)
CHOICES = (QUOTIENTS_OF_64_BITS, CONVERSIONS_OF_BINARY16)
