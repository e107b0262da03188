from typing import Literal

from vinculum.kernels.contract import Arithmetic, Division

def division(
    target: str, arithmetic: Arithmetic, operation: Literal["truncating", "floor", "exclusive or"], /
) -> Division: ...
def targets() -> tuple[str, ...]: ...
