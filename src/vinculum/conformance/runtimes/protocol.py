"""The protocol of runtimes, and what they have in common: their options, packages and versions, and how they start.

A plug-in, ``module:attribute``, needs less: see `vinculum.testing`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation
from vinculum.errors import AttributeValueError, ModelError
from vinculum.sandbox import End, Isolated, Limits
from vinculum.spec.onnx_div import DIV_14
from vinculum.text import did_you_mean, pip_install, quoted
from vinculum.version import __version__


class Runtime(Protocol):
    """A runtime that divides. One that also runs whole models is a `ModelRuntime`.

    It is made by calling its class with the options, ``Runtime(options: Mapping[str, str])``, both in our process,
    where only `check`, `covers`, `versions` and `reproducer` are called, and in the subprocess, where `start` is called
    before the first `answer`. Making one imports nothing foreign; an unknown option raises `AttributeValueError`.
    One that answers as well in a forked copy of its process may say so by a true ``survives_fork``.
    """

    title: str
    """The name in sentences: ``"ONNX Runtime"``."""

    def check(self) -> None:
        """Raise ModelError, with one line on how to install it, if its package is not installed."""

    def versions(self) -> Mapping[str, str]:
        """Return the versions of the packages that its answers depend on, without importing them."""

    def covers(self, operation: Operation) -> bool:
        """Tell whether the runtime's interface can express this operation; others are not run."""

    def start(self) -> None:
        """Import the runtime before any operation is timed; raise ModelError if it is not available as requested."""

    def answer(self, operation: Operation) -> NDArray[Any]:
        """Return the quotient as the array that the runtime returns.

        UnsupportedError if the runtime reports that it lacks the operator version or element type; any other exception
        counts as a refusal.
        """

    def reproducer(self, operation: Operation) -> str:
        """Return a short, complete Python program that executes the operation in the runtime and prints the result."""


@runtime_checkable
class ModelRuntime(Runtime, Protocol):
    """A runtime that runs any ONNX model."""

    def run_model(self, file: Path, inputs: Mapping[str, Any]) -> list[Any]:
        """Return all outputs of the model in a file, in its order; raises the same errors as `answer`."""


_SECONDS = 60.0  # Importing a runtime takes seconds.
_DEATHS = ("SIG", "signal ", "exit code ")  # The beginnings of messages about a process that died.
_ONE = np.ones(1, np.float32)

ONE_BY_ONE = Operation(DIV_14, {}, (_ONE, _ONE), (False, False))
"""The division 1 / 1, which every runtime can execute."""


class Packaged:
    """A runtime of an installed package: what is the same for all of them."""

    title: str
    package: str  # The package to import.
    needs: tuple[str, ...] = ()  # Other packages on which its answers depend.
    install: str = ""  # What pip installs, if not the package.

    def check(self) -> None:
        """Raise ModelError if the package is not installed; the message tells how to install it."""
        try:
            found = find_spec(self.package)
        except ModuleNotFoundError:  # The package of a module is missing.
            found = None
        if found is None:
            advice = pip_install(self.package, self.install)
            raise ModelError(f"{self.title} cannot be used: the package {self.package} is not installed: {advice}")

    def versions(self) -> Mapping[str, str]:
        """Return the versions of its packages."""
        return versions_of(self.package.partition(".")[0], *self.needs)

    def start(self) -> None:
        """Divide 1 by 1 with the options."""
        self.answer(ONE_BY_ONE)

    def answer(self, operation: Operation) -> NDArray[Any]:
        """Return the quotient."""
        raise NotImplementedError


_providers = cache(packages_distributions)  # Cached, as it reads the file lists of all installed distributions.


@cache
def versions_of(*packages: str) -> Mapping[str, str]:
    """Return the version of every distribution that provides one of the packages, by the distribution's name.

    For Vinculum it is the version of the running code, by the package's name, whether that is installed or not.
    """
    found: dict[str, str] = {}
    for package in packages:
        own = [package] if package == "vinculum" else sorted(set(_providers().get(package, [package])))
        found |= {distribution: _version(distribution) for distribution in own}
    return found


def _version(distribution: str) -> str:
    if distribution == "vinculum":
        return __version__
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"


def asked_elsewhere(method: str, factory: str, *arguments: object, called: str) -> Any:
    """Return the result of a runtime's method, called in a subprocess that is started for this call only.

    - `method`: The name of a method without arguments.
    - `factory`: ``"package.module:attribute"``, which makes the runtime in the subprocess.
    - `called`: The runtime's name in messages.

    VinculumError if the runtime cannot be made. ModelError if the method raises an error, or the process dies.
    """
    with Isolated(factory, *arguments, limits=Limits(seconds=_SECONDS), called=called) as elsewhere:
        answer = elsewhere.call(method)
    if answer.end is End.RETURNED:
        return answer.value
    words = answer.words
    if answer.end is End.REFUSED and words.startswith(called):  # Our own message, which is complete.
        raise ModelError(words)
    died = answer.end is End.CRASHED and words.startswith(_DEATHS)
    raise ModelError(f"{called} cannot be started: {'the process ended: ' if died else ''}{words}")


_MOST = 1024


def check_names(title: str, options: Mapping[str, str], allowed: Sequence[str]) -> None:
    """Check that all options have allowed names.

    AttributeValueError if one has not; the message names it and the allowed ones.
    """
    for name in options:
        if name not in allowed:
            known = f"allowed: {', '.join(allowed)}" if allowed else "it takes no options"
            raise AttributeValueError(f"{title} has no option {quoted(name)}; {known}{did_you_mean(name, allowed)}")


def chosen(title: str, name: str, options: Mapping[str, str], allowed: Sequence[str], default: str) -> str:
    """Return the value of an option with a fixed set of allowed values.

    AttributeValueError if the value is not allowed.
    """
    value = options.get(name, default)
    if value not in allowed:
        raise AttributeValueError(f"{name} of {title} is {quoted(value)}; allowed: {', '.join(allowed)}")
    return value


def whole_number(title: str, name: str, options: Mapping[str, str], default: int) -> int:
    """Return the value of an option that is an integer from 0 to 1024, the largest number of threads.

    AttributeValueError if the value is not such a number.
    """
    value = options.get(name, str(default))
    if not (value.isascii() and value.isdigit() and len(value) <= 4 and int(value) <= _MOST):
        raise AttributeValueError(f"{name} of {title} is {quoted(value)}; allowed: a whole number from 0 to {_MOST}")
    return int(value)
