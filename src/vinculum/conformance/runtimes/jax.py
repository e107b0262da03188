"""JAX, called through its functions, with 64-bit types enabled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.runtimes.function_calls import Function, can_be_called, function_for
from vinculum.conformance.runtimes.options import check_names, chosen
from vinculum.conformance.runtimes.packages import check_package, versions_of
from vinculum.conformance.runtimes.programs.reproducer import operand_lines, operand_names, python_program
from vinculum.errors import ModelError
from vinculum.text import one_line


class Jax:
    """JAX.

    Parameters
    ----------
    options : Mapping of str to str
        ``platform``: where it computes, ``"cpu"`` or ``"gpu"``. ``jit``: whether the call as a whole is compiled,
        ``"false"`` or ``"true"``; otherwise JAX compiles its parts one by one.

    Raises
    ------
    AttributeValueError
        If another option or value is given.
    """

    title = "JAX"

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = dict(options)
        check_names("jax", options, ("platform", "jit"))
        self._platform = chosen("jax", "platform", options, ("cpu", "gpu"), "cpu")
        self._functions: dict[Function, Callable[..., Any]] = {}
        self._compiled = chosen("jax", "jit", options, ("true", "false"), "false") == "true"

    def check(self) -> None:
        """Raise ModelError if JAX is not installed."""
        check_package(self.title, "jax", f"{__name__}:Jax", self._options)

    def versions(self) -> Mapping[str, str]:
        """Return the versions of JAX, its compiler, and the packages that it stores arrays with."""
        return versions_of("jax", "jaxlib", "numpy", "ml_dtypes")

    def covers(self, operation: Operation) -> bool:
        """Tell whether a function call can express this."""
        return can_be_called(operation)

    def start(self) -> None:
        """Find the device."""
        self._device()

    def answer(self, operation: Operation) -> NDArray[Any]:
        """Return the result of the function."""
        import jax

        operands = [jax.device_put(operand, self._device()) for operand in operation.operands]
        return np.asarray(self._made(jax, function_for(operation))(*operands))

    def _device(self) -> Any:
        import jax

        jax.config.update("jax_enable_x64", True)
        try:
            return jax.devices(self._platform)[0]
        except RuntimeError as error:
            raise ModelError(f"JAX has no device of the platform {self._platform} here: {one_line(error)}") from None

    def _made(self, jax: Any, function: Function) -> Callable[..., Any]:
        """Return a function; each is made once, since JAX compiles every new one again."""
        if function not in self._functions:
            made = _function(jax, function)
            self._functions[function] = jax.jit(made) if self._compiled else made
        return self._functions[function]

    def reproducer(self, operation: Operation) -> str:
        """Return Python source that calls the same function."""
        call = _SPELT[function_for(operation)]
        if self._compiled:
            names = ", ".join(operand_names(operation))
            call = f"jax.jit(lambda {names}: {call})({names})"
        return python_program(
            *operand_lines(operation),
            'jax.config.update("jax_enable_x64", True)',
            f'with jax.default_device(jax.devices("{self._platform}")[0]):',
            f"    print(repr(np.asarray({call})))",
        )


_SPELT = {
    Function.DIVIDE: "jnp.divide(a, b)",
    Function.TRUNCATING_DIVIDE: "jax.lax.div(*jnp.broadcast_arrays(a, b))",
    Function.FLOOR_DIVIDE: "jnp.floor_divide(a, b)",
    Function.RECIPROCAL: "jnp.reciprocal(x)",
}


def _function(jax: Any, function: Function) -> Callable[..., Any]:
    if function is Function.TRUNCATING_DIVIDE:
        # It takes equal shapes only, and JAX has no other function that truncates.
        return lambda a, b: jax.lax.div(*jax.numpy.broadcast_arrays(a, b))
    functions: dict[Function, Callable[..., Any]] = {
        Function.DIVIDE: jax.numpy.divide,
        Function.FLOOR_DIVIDE: jax.numpy.floor_divide,
        Function.RECIPROCAL: jax.numpy.reciprocal,
    }
    return functions[function]
