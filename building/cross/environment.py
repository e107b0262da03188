"""A Python of another processor or version as a virtual environment, with the package and its core built for it.

Its ``bin/python`` is a script that starts that Python by an emulator or by its own loader, and that Python takes the
script for itself. Whatever starts Python again, as pytest-xdist and many tests do, starts it the same way.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from building.cross.debian import CrossError, run, unpack
from vinculum.kernels import VARIABLE

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "cross"


@dataclass(frozen=True)
class Machine:
    """A processor, as each program names it.

    Attributes
    ----------
    name : str
        As the tables show it.
    debian, meson, multiarch : str
        Debian's name, Meson's, and that of the folders that hold its libraries.
    loader : str
        The file that starts dynamic programs.
    emulator : str or None
        The program that runs its programs here; None if this processor does.
    packages : str
        Debian's, that have the emulator and the compiler.
    """

    name: str
    debian: str
    meson: str
    multiarch: str
    loader: str
    emulator: str | None = None
    packages: str = "g++"

    @property
    def compiler(self) -> str:
        """The C++ compiler that builds for it."""
        return f"{self.multiarch}-g++"


X86_64 = Machine("x86-64", "amd64", "x86_64", "x86_64-linux-gnu", "lib64/ld-linux-x86-64.so.2")
AARCH64 = Machine(
    "AArch64",
    "arm64",
    "aarch64",
    "aarch64-linux-gnu",
    "lib/ld-linux-aarch64.so.1",
    "qemu-aarch64-static",
    "qemu-user-static g++-aarch64-linux-gnu",
)


@dataclass(frozen=True)
class Environment:
    """A Python of one of Debian's suites for a processor.

    Attributes
    ----------
    name : str
        Of its folder, and on the command line.
    machine : Machine
        The processor.
    suite, version : str
        Debian's suite, and which Python of it: ``"3.14"``.
    clang : bool
        Whether clang compiles the core, as on macOS, and not GCC.
    """

    name: str
    machine: Machine
    suite: str
    version: str
    clang: bool = False

    @property
    def is_another_python(self) -> bool:
        """Whether it is one that this processor runs by itself: it is fast enough for all that `make test` runs."""
        return bool(self.version) and self.machine.emulator is None and not self.clang

    @property
    def compiler(self) -> str:
        """The C++ compiler that builds the core; clang takes the libraries of GCC's."""
        return "clang++" if self.clang else self.machine.compiler

    @property
    def folder(self) -> Path:
        """Where it lies."""
        return BUILD / self.name

    @property
    def python(self) -> Path:
        """The script that starts it."""
        return self.folder / "bin" / "python"

    @property
    def packages(self) -> Path:
        """Where its packages lie."""
        return self.folder / "lib" / f"python{self.version}" / "site-packages"

    @property
    def root(self) -> Path:
        """Where Debian's files lie."""
        return self.folder / "root"

    def make(self) -> None:
        """Make what is not there, and build the core anew where its sources have changed."""
        machine = self.machine
        missing = [
            tool for tool in (machine.emulator, machine.compiler, self.compiler) if tool and not shutil.which(tool)
        ]
        if missing:
            packages = f"{machine.packages}{' clang' if self.clang else ''}"
            raise CrossError(f"{self.name} needs {' and '.join(dict.fromkeys(missing))}: apt install {packages}")
        made = self.folder / "made"
        wanted = "\n".join([repr(self), *self._requirements()])
        if not made.exists() or made.read_text(encoding="utf-8") != wanted:
            shutil.rmtree(self.folder, ignore_errors=True)
            python = f"python{self.version}"
            needed = [f"{python}-minimal", f"lib{python}-stdlib", "libstdc++6"]
            unpack(self.root, machine.debian, self.suite, needed, alone=[f"lib{python}-dev"])
            self._write_script()
            self._install_wheels()
            made.write_text(wanted, encoding="utf-8")
        self._build()

    def _write_script(self) -> None:
        program = self.root / "usr" / "bin" / f"python{self.version}"
        if self.machine.emulator:
            start = f"{self.machine.emulator} -L '{self.root}' -0 '{self.python}'"
        else:
            libraries = f"{self.root}/usr/lib/{self.machine.multiarch}:{self.root}/usr/lib"
            start = f"'{self.root}/{self.machine.loader}' --argv0 '{self.python}' --library-path '{libraries}'"
        self.python.parent.mkdir()
        self.python.write_text(f"#!/bin/sh\nexec {start} '{program}' \"$@\"\n", encoding="utf-8")
        self.python.chmod(0o755)
        (self.folder / "pyvenv.cfg").write_text(f"home = {program.parent}\n", encoding="utf-8")

    def _install_wheels(self) -> None:
        platforms = [f"--platform=manylinux{kind}_{self.machine.meson}" for kind in ("2014", "_2_27", "_2_28")]
        run([
            *(sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--target", self.packages),
            *("--only-binary=:all:", "--implementation=cp", f"--python-version={self.version}", *platforms),
            *self._requirements(),
        ])  # fmt: skip

    def _requirements(self) -> list[str]:
        """Return what is installed from PyPI: what the package needs, and what its tests do."""
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        tests = project["optional-dependencies"]["test"]
        dividing = ("pytest", "hypothesis", "onnx==")
        return [*project["dependencies"], *(x for x in tests if self.is_another_python or x.startswith(dividing))]

    def _build(self) -> None:
        built = self.folder / "core"
        meson = [sys.executable, "-m", "mesonbuild.mesonmain"]
        programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # of which ninja is one
        variables = own_variables() | {"PATH": programs}
        if not (built / "build.ninja").exists():
            self.folder.joinpath("meson.ini").write_text(self._meson_file(), encoding="utf-8")
            options = {"core": "enabled", "werror": os.environ.get("WERROR", "false")}
            options |= dict.fromkeys(("python.purelibdir", "python.platlibdir"), str(self.packages))
            kind = "--cross-file" if self.machine.emulator else "--native-file"
            given = [f"-D{name}={value}" for name, value in options.items()]
            run([*meson, "setup", kind, self.folder / "meson.ini", *given, built, ROOT], env=variables)
        else:  # Meson lists the files of the package when it configures, and some may have gone since.
            run([*meson, "setup", "--reconfigure", built], env=variables, stdout=subprocess.DEVNULL)
            shutil.rmtree(self.packages / "vinculum", ignore_errors=True)
        run([*meson, "install", "--quiet", "-C", built], env=variables)

    def _meson_file(self) -> str:
        """Return what tells Meson of this Python: it asks it where its headers are, and how modules are named."""
        # Debian's pyconfig.h includes the processor's own, which lies in a folder beside it.
        compiler = [self.compiler, *([f"--target={self.machine.multiarch}"] if self.clang else [])]
        return f"""\
[binaries]
cpp = {compiler}
ar = '{self.machine.multiarch}-ar'
strip = '{self.machine.multiarch}-strip'
python = '{self.python}'
numpy-config = ['{self.python}', '-m', 'numpy._configtool']

[built-in options]
cpp_args = ['-idirafter', '{self.root}/usr/include']

[host_machine]
system = 'linux'
cpu_family = '{self.machine.meson}'
cpu = '{self.machine.meson}'
endian = 'little'
"""


def own_variables() -> dict[str, str]:
    """Return the variables in which each Python imports its own packages, and divides on its best target."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", VARIABLE)}


def first_line(program: str) -> str:
    """Return the first line of what a program says of its version."""
    if shutil.which(program) is None:
        return f"{program}, which is not here"
    return subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
