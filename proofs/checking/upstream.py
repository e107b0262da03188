"""Div on SONNX's own libraries: ``python -m proofs.checking.upstream FOLDER`` replays ``sonnx_upstream/div.mlw``.

FOLDER is a checkout of the working group's repository at `COMMIT`, of which nothing is copied here. One lemma there is
proved by what Why3 has since 1.6 only, and is believed by what rests on it: two tensors are equal if they have the same
elements. Our theory does not use it.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from proofs.checking.ending import Arguments, ended
from proofs.checking.prove import search
from proofs.checking.provers import ProofError, configure
from proofs.checking.sessions import SESSION, Session
from proofs.checking.trusted import trusted

PROOFS = Path(__file__).parents[1]
OURS = PROOFS / "sonnx_upstream" / "div.mlw"
COMMIT = "652b76b8a6611585f4aaa9c1be56699b8629b0c0"
LIBRARIES = Path("safety-related-profile", "sonnx", "ops", "spec", "formal", "common", "libs", "tensor")
DIGESTS = {
    "std.mlw": "69ae47852ed6228ca41592721680c6e9cdda3d2d5d8da7a80ba1c008850bb5e2",
    "tensor.mlw": "33a22ce45c7be91459deabc7573994b0da791779aa9dcb4d6f56a8538d27158f",
    "layout.mlw": "55738d219d0cb00f0d6cfb132e3002e712c436d72adb20bbe301ef46df8dd8a5",
    "libvector.mlw": "f3bab2747725c3a3dcfc4a86e417691e26d37624e7cc00d399f50f3bfd695eb9",
}
# Of the text of ours whose proofs are stored: who changes what it says proves it again, and puts this here.
STATED = "fa8b0dfad7b3a6083c20fa0e3f69c585461b09937393fefb3bcb1b0a25f9e986"
# All that it takes on trust: each clone fills in a program that is proved, or the processor's `/`.
TRUSTED = ["div.CDiv.divide val"]
# What Why3 1.5.1 does not know, a name for the equality of records.
_UNKNOWN = "by tensor'eq a b"
_PLAN = "split_vc z3:1 cvc5-nofp:1 cvc4-nofp:2 compute_in_goal z3:2 cvc5-nofp:4 cvc4-nofp:4 cvc5:6"


class _OnLibraries(Session):
    """The session of a theory that has libraries in folders beside it."""

    def copied_bare(self, folder: Path) -> Path:
        """Copy all that is beside the theory."""
        shutil.copytree(self.theory.parent, folder, ignore=lambda *_: [self.theory.stem], dirs_exist_ok=True)
        return folder / self.theory.name


def require_stated(theory: Path = OURS) -> None:
    """Check that the file about Div assumes nothing more, and says what it said when it was proved.

    Raises
    ------
    ProofError
        If it does not.
    """
    if (assumed := trusted(theory)) != TRUSTED:
        raise ProofError(f"{theory.name} takes on trust {', '.join(assumed)}, and may {', '.join(TRUSTED)} only")
    digest = hashlib.sha256(theory.read_bytes()).hexdigest()
    if digest != STATED:
        raise ProofError(f"{theory.name} is another text than the one that was proved; its SHA-256 is {digest}")


def laid_out(checkout: Path, folder: Path) -> Path:
    """Copy their libraries, our theories and the file about Div into a folder; return the file's path there.

    Raises
    ------
    ProofError
        If a library is missing or is not that of the commit.
    """
    (folder / "tensor").mkdir()
    for name, digest in DIGESTS.items():
        source = checkout / LIBRARIES / name
        if not source.is_file():
            raise ProofError(
                f"{source} is not there; FOLDER is a checkout of github.com/onnx/working-groups at {COMMIT[:8]}"
            )
        content = source.read_bytes()
        if hashlib.sha256(content).hexdigest() != digest:
            raise ProofError(f"{name} is not that of commit {COMMIT[:8]}")
        (folder / "tensor" / name).write_text(content.decode("utf-8").replace(_UNKNOWN, ""), encoding="utf-8")
    theory = folder / OURS.name
    shutil.copyfile(OURS, theory)
    for own in sorted((PROOFS / "theories").glob("*.mlw")):
        shutil.copyfile(own, folder / own.name)
    stored = OURS.with_suffix("") / SESSION
    if stored.is_file():
        (folder / OURS.stem).mkdir()
        shutil.copyfile(stored, folder / OURS.stem / SESSION)
    return theory


def replay(checkout: Path, *, prove: bool = False) -> int:
    """Replay the stored proofs, or search for them and store them; return how many goals there are, all of them proved.

    Raises
    ------
    ProofError
        If one is not proved.
    """
    with tempfile.TemporaryDirectory() as working:
        folder = Path(working)
        configuration = configure(folder / "why3")
        (folder / "library").mkdir()
        session = _OnLibraries(laid_out(checkout, folder / "library"), configuration)
        if session.path.is_file():
            session.read()
        if not prove:
            require_stated()
        else:
            search(session, _PLAN, lambda line: print(f"  {line}", flush=True))
        session.prune()
        session.run()
        theorems = session.theorems()
        if prove:
            stored = OURS.with_suffix("") / SESSION
            stored.parent.mkdir(exist_ok=True)
            shutil.copyfile(session.path, stored)
    if unproved := [theorem.title for theorem in theorems if not (theorem.proved and theorem.provers)]:
        raise ProofError(f"not proved: {', '.join(unproved)}")
    if not theorems:
        raise ProofError(f"{OURS.name} has no goal at all")
    return len(theorems)


def main(arguments: Sequence[str] | None = None) -> int:
    """Replay on a checkout; return 2 if something is not as it must be."""
    parser = Arguments(prog="python -m proofs.checking.upstream", description=__doc__)
    parser.add_argument("checkout", type=Path, metavar="FOLDER", help="of the working group's repository")
    parser.add_argument("--prove", action="store_true", help="search for proofs, and store them")
    given = parser.parse_args(arguments)

    def replayed() -> int:
        goals = replay(given.checkout, prove=given.prove)
        print(f"all {goals} goals of Div are proved on SONNX's libraries")
        return 0

    return ended(replayed)


if __name__ == "__main__":
    sys.exit(main())
