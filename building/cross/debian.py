"""Files of Debian's packages in a folder of their own, of any architecture and suite; nothing is installed.

apt-get is told folders for all that it keeps, so that it reads nothing of this machine but where its mirrors are and
which keys it trusts.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


class CrossError(Exception):
    """What is missing or has failed, in one line."""


def unpack(root: Path, architecture: str, suite: str, packages: Iterable[str], alone: Iterable[str] = ()) -> None:
    """Unpack packages into a folder.

    Parameters
    ----------
    root : Path
        The folder. Beside it, another keeps what apt-get needs.
    architecture, suite : str
        As Debian names them: ``"arm64"``, ``"bookworm"``.
    packages : iterable of str
        Unpacked with all that they depend on.
    alone : iterable of str
        Unpacked without that.
    """
    apt = root.with_name(root.name + ".apt")
    archives = apt / "cache" / "archives"
    for folder in (archives / "partial", apt / "lists" / "partial"):
        folder.mkdir(parents=True, exist_ok=True)
    (apt / "status").touch()  # nothing is installed there
    (apt / "sources.list").write_text(f"deb {_mirror()} {suite} main\n", encoding="utf-8")
    options = {
        "APT::Architecture": architecture,
        "APT::Architectures": architecture,
        "APT::Sandbox::User": "root",  # another user may not read these folders
        "Debug::NoLocking": "1",
        "Dir::State": apt,
        "Dir::State::lists": apt / "lists",
        "Dir::State::status": apt / "status",
        "Dir::Cache": apt / "cache",
        "Dir::Etc::sourcelist": apt / "sources.list",
        "Dir::Etc::sourceparts": "/dev/null",
    }
    get = ["apt-get", "-qq", *(word for name, value in options.items() for word in ("-o", f"{name}={value}"))]
    run([*get, "update"])
    run([*get, "install", "--download-only", "-y", "--no-install-recommends", *packages])
    run([*get, "download", *alone], cwd=archives)

    # Packages of before and after /usr was merged lie in the same folders so.
    for name in ("bin", "lib", "lib64", "sbin"):
        (root / "usr" / name).mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(f"usr/{name}")
    for package in sorted(archives.glob("*.deb")):
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as files:
            tar = ["tar", "--extract", "--keep-directory-symlink", "--no-same-owner", f"--directory={root}"]
            run(tar, stdin=files.stdout)


def run(command: Sequence[str | Path], **options: Any) -> None:
    """Run a program to its end; raise `CrossError` if it fails."""
    code = subprocess.run(command, **{"stdin": subprocess.DEVNULL, "check": False} | options).returncode
    if code != 0:
        raise CrossError(f"exit code {code}: {' '.join(map(str, command))}")


def _mirror() -> str:
    """Return where this machine gets Debian's packages from."""
    command = ["apt-get", "indextargets", "--no-release-info", "--format", "$(RELEASE) $(COMPONENT) $(REPO_URI)"]
    listed = subprocess.run([*command, "Created-By: Packages"], capture_output=True, text=True, check=False).stdout
    for line in listed.splitlines():
        release, component, address = line.split()
        if component == "main" and "-" not in release:  # not such as bookworm-security, which hold little
            return address
    raise CrossError("apt-get knows no mirror of Debian here; see /etc/apt/sources.list.d")
