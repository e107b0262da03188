"""Checks whether a runtime's package is installed, in which version, and whether the runtime starts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation
from vinculum.errors import ModelError
from vinculum.sandbox import End, Isolated, Limits
from vinculum.spec.onnx_div import DIV_14
from vinculum.text import pip_install
from vinculum.version import __version__

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
        """Raise ModelError if the package is not installed."""
        check_package(self.title, self.package, self.install)

    def versions(self) -> Mapping[str, str]:
        """Return the versions of its packages."""
        return versions_of(self.package.partition(".")[0], *self.needs)

    def start(self) -> None:
        """Divide 1 by 1 with the options."""
        self.answer(ONE_BY_ONE)

    def answer(self, operation: Operation) -> NDArray[Any]:
        """Return the quotient."""
        raise NotImplementedError


def check_package(title: str, package: str, install: str = "") -> None:
    """Check that a package is installed.

    - `title`: The runtime's name in messages.
    - `package`: The package to import.
    - `install`: What pip installs, if not the package.

    ModelError if it is not installed; the message says how to install it.
    """
    if not _is_there(package):
        advice = pip_install(package, install)
        raise ModelError(f"{title} cannot be used: the package {package} is not installed: {advice}")


def _is_there(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # The package of a module is missing.
        return False


_providers = cache(packages_distributions)  # Cached, as it reads the file lists of all installed distributions.


@cache
def versions_of(*packages: str) -> Mapping[str, str]:
    """Return the version of every distribution that provides one of the packages, by the distribution's name.

    For Vinculum it is the version of the running code, even if that is not installed.
    """
    providers = _providers()
    found: dict[str, str] = {}
    for package in packages:
        for distribution in sorted(set(providers.get(package, [package]))):
            found[distribution] = _version(distribution)
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
    - `*arguments`: The arguments of the factory.
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
