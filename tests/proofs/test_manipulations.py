"""Whoever makes a theorem prove less, or a proof prove nothing, is noticed: the ways that we could think of.

Those here need no prover. What a session claims is tried in `test_forgeries.py` of tests/machine/proofs, what provers
must refuse in its `test_replay.py`, and extracted headers in its `test_rules.py`; digests in `test_recorded.py`.
"""

from __future__ import annotations

import re
import shutil
from functools import cache
from pathlib import Path

import pytest

from proofs.checking.provers import ProofError
from proofs.checking.recorded import changes, digests, record
from proofs.checking.statements import TRACED, Statements, require_traced
from proofs.checking.trusted import require_listed, require_read
from tests.copies import copied

PROOFS = Path(__file__).parents[2] / "proofs"
# All but the last make `a = a + 1` provable, and Why3 is content with each.
ABSURD = "lemma impossible: forall a: int. a = a + 1"
BOUNDS = "constant minimum: int = 1  constant maximum: int = 0"
IMPOSSIBLE = {
    "a clone that keeps every axiom": f"{BOUNDS} clone export integer_division.MachineInteger with "
    f"constant minimum, constant maximum, axiom .  {ABSURD}",
    "a clone that keeps one axiom": f"{BOUNDS} clone export integer_division.MachineInteger with "
    f"constant minimum, constant maximum, axiom bounds, lemma .  {ABSURD}",
    "a clone that hides what it keeps": f"{BOUNDS} clone export integer_division.MachineInteger with "
    f"constant minimum, constant maximum, (* goal bounds, *) axiom .  {ABSURD}",
    "a clone of another name": f"{BOUNDS} clone integer_division.MachineInteger as Bounds with "
    f"constant minimum = minimum, constant maximum = maximum, axiom .  {ABSURD}",
    "a clone that leaves a contract to nobody": "predicate no (a b q: int) = false  predicate yes (a b: int) = true "
    "clone c_broadcast.Broadcast with type element = int, predicate accepted = yes, predicate is_quotient = no "
    f"let lemma none (a b: int) ensures {{ false }} = let q = divide a b in assert {{ no a b q }}  {ABSURD}",
    "an axiom": f"axiom odd: 1 = 2  {ABSURD}",
    "an axiom between what looks like comments": "lemma a [@(*]: true  axiom odd: 1 = 2  lemma b [@*)]: true",
    "a value that nobody has": "val odd (a: int) : unit ensures { false }  "
    f"let lemma none (a: int) ensures {{ false }} = odd a  {ABSURD}",
    "an assumption": "let lemma none (a: int) ensures { false } = assume { false }",
    "a program that never ends": "let rec none (a: int) : unit ensures { false } diverges = none a",
}
# A file, what is replaced and by what, and a theorem whose words or definitions that changes.
WEAKENED = {
    "one more precondition": (
        "theories/two_step_kernels.mlw",
        "floor_i64 [@extraction:c_static_inline] (dividend divisor: int64) : int64\n",
        "floor_i64 [@extraction:c_static_inline] (dividend divisor: int64) : int64\n    requires { 0 <= dividend }\n",
        "two_step_kernels.Quotients.floor_i64",
    ),
    "one postcondition less": (
        "theories/c_integer_loops_signed.mlw",
        "    ensures { Type.is_quotient_of (integers s a) (integers s b) (integers s c) }\n"
        "    ensures { Result.unchanged_from n (old c) c }\n  = Truncating.divide_each s a b c n\n\n"
        "  (** The same, and the dividends are overwritten. *)\n"
        "  let sonnx_div_in_place_int64",
        "    ensures { Result.unchanged_from n (old c) c }\n  = Truncating.divide_each s a b c n\n\n"
        "  let sonnx_div_in_place_int64",
        "c_integer_loops_signed.Int64.sonnx_div_int64",
    ),
    "a contract that no clause names": (
        "theories/c_broadcast_loops_signed.mlw",
        "(coordinates: Result.result_buffer int64) : unit\n",
        "(coordinates: Result.result_buffer int64) : unit\n    requires { n < 0 }\n",
        "c_broadcast_loops_signed.Int8.vinculum_div_broadcast_int8",
    ),
    "a contract on trust that says more": (
        "theories/float_operations.mlw",
        "  val multiply (x y: t) : t\n    requires { is_finite x.datum /\\ is_finite y.datum }\n",
        "  val multiply (x y: t) : t\n",
        "float_operations.Arithmetic.multiply",
    ),
    "an axiom that says more": (
        "theories/integer_division.mlw",
        "axiom bounds: (minimum = 0 \\/ minimum = - maximum - 1) /\\ maximum > 0",
        "axiom bounds: minimum = - maximum - 1 /\\ maximum > 0 /\\ maximum < 0",
        "integer_division.MachineInteger.bounds",
    ),
    "an operator that means another": (
        "theories/c_buffers.mlw",
        "  val ([]) (b: buffer 'a) (i: int64) : 'a\n",
        "  val ([]) (b: buffer 'a) (i: int64) : 'a\n    ensures { false }\n",
        "c_integer_loops_signed.Int64.sonnx_div_int64",
    ),
    "a definition that holds of everything": (
        "theories/integer_division.mlw",
        "(b > 0 -> 0 <= a - b * q < b) /\\ (b < 0 -> b < a - b * q <= 0)",
        "true",
        "integer_division.Floor.floor_of_truncated",
    ),
    "a definition in a theory that is used": (
        "theories/tensor.mlw",
        "a.shape = b.shape",
        "true",
        "integer_division.MachineInteger.exact_in_domain",
    ),
    "a type with fewer numbers": (
        "theories/integer_division.mlw",
        "let constant maximum : int = 0x7fff_ffff_ffff_ffff",
        "let constant maximum : int = 0x7fff_ffff_ffff_fffe",
        "two_step_kernels.Quotients.truncating_i64",
    ),
    "another division of the same name": (
        "theories/two_step_division.mlw",
        "use int.ComputerDivision",
        "use int.EuclideanDivision",
        "two_step_division.Scheme.one_correction_is_enough",
    ),
    "one more assumption of a lemma": (
        "theories/real_division.mlw",
        "lemma quotient_characterised: forall x y q: real. y <> 0.0 ->",
        "lemma quotient_characterised: forall x y q: real. y > 0.0 ->",
        "real_division.RealDivision.quotient_characterised",
    ),
    "a wider bound of a script": (
        "gappa/two_step.gappa",
        "estimate -/ quotient in [-25b-54, -3b-53]",
        "estimate -/ quotient in [-25b-3, -3b-53]",
        "gappa.two_step",
    ),
    "rounding of a script that is left out": (
        "gappa/two_step.gappa",
        "estimate = rnd(dividend * reciprocal);",
        "estimate = dividend * reciprocal;",
        "gappa.two_step",
    ),
}
# What would not be seen, or not for what it is: the same, and what is said of it.
HIDDEN = {
    "a theorem that is gone": ("lemma quotient_characterised: ", "lemma some_quotient: ", "stated 0 times"),
    "a theorem behind a comment": (
        "lemma quotient_characterised: ",
        "(* lemma *) lemma q: ",
        "is declared where it is hidden",
    ),
    "a definition inside of another": (
        "  lemma quotient_characterised: ",
        "  lemma true_one: true\n    predicate same_shape (a b: tensor real) = true\n  lemma quotient_characterised: ",
        "is declared where it is hidden",
    ),
    "a definition that begins a line": (
        "  lemma quotient_characterised: ",
        "  lemma true_one: true predicate same_shape (a b: tensor real) = true\n  lemma quotient_characterised: ",
        "is declared where it is hidden",
    ),
    "a definition at the margin": (
        "module RealDivision\n",
        "module RealDivision predicate same_shape (a b: tensor real) = true\n",
        "stands outside of the declarations",
    ),
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the texts of the proofs."""
    folder = tmp_path_factory.mktemp("manipulated") / "proofs"
    sessions = shutil.ignore_patterns("why3session.xml", "why3shapes*", "checking")
    return copied(PROOFS, folder, ignore=sessions)


@pytest.fixture
def proofs(copy: Path, tmp_path: Path) -> Path:
    """Return a copy of its own for a test."""
    return copied(copy, tmp_path / "proofs")


def replaced(file: Path, old: str, new: str) -> None:
    """Replace what stands in a file."""
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_nothing_is_said_of_what_nobody_manipulated(proofs: Path) -> None:
    require_listed(proofs)
    require_read(proofs)
    require_traced(proofs)


class TestImpossible:
    """What is taken on trust and not listed is refused, whatever was recorded afterwards."""

    @pytest.mark.parametrize("module", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
    def test_a_module_that_proves_anything(self, proofs: Path, module: str) -> None:
        with (proofs / "theories" / "real_division.mlw").open("a", encoding="utf-8") as theory:
            theory.write(f"\nmodule Impossible\n  use int.Int\n  {module}\nend\n")
        record(proofs, digests(proofs))
        with pytest.raises(ProofError, match=r"not listed with a reason .*: real_division\.Impossible\."):
            require_listed(proofs)

    def test_a_clone_beside_the_original(self, proofs: Path) -> None:
        clone = "clone export MachineInteger with constant minimum, constant maximum,"
        replaced(proofs / "theories" / "integer_division.mlw", f"{clone} goal bounds, axiom .", f"{clone} axiom .")
        with pytest.raises(ProofError, match=r"integer_division\.Int8\.MachineInteger\.bounds axiom"):
            require_listed(proofs)


class TestWeakened:
    """A statement that says less, or of something else, has another digest, and mostly another text."""

    @pytest.mark.parametrize(("file", "old", "new", "theorem"), WEAKENED.values(), ids=WEAKENED)
    def test_the_digest_is_another(self, proofs: Path, file: str, old: str, new: str, theorem: str) -> None:
        replaced(proofs / file, old, new)
        right = ours().of(theorem).digest
        assert Statements(proofs).of(theorem).digest != right
        assert f"{right}  {theorem}\n" in (PROOFS / TRACED).read_text(encoding="utf-8")

    def test_it_is_told_by_name(self, proofs: Path) -> None:
        replaced(proofs / "theories" / "two_step_kernels.mlw", *WEAKENED["one more precondition"][1:3])
        record(proofs, digests(proofs))
        with pytest.raises(ProofError, match=r"do not say what .*: two_step_kernels\.Quotients\.floor_i64; if they"):
            require_traced(proofs)

    @pytest.mark.parametrize(("old", "new", "complaint"), HIDDEN.values(), ids=HIDDEN)
    def test_it_cannot_be_hidden(self, proofs: Path, old: str, new: str, complaint: str) -> None:
        replaced(proofs / "theories" / "real_division.mlw", old, new)
        with pytest.raises(ProofError, match=complaint):
            Statements(proofs).of("real_division.RealDivision.quotient_characterised")

    def test_how_it_is_proved_is_no_part_of_it(self, proofs: Path) -> None:
        replaced(proofs / "theories" / "integer_division.mlw", "    quotient_magnitude a b;\n", "    ();\n")
        theorem = "integer_division.Truncation.only_overflow"
        assert Statements(proofs).of(theorem) == ours().of(theorem)


class TestByHand:
    """What is written by hand and becomes C is trusted; no command takes another text for it."""

    @pytest.mark.parametrize(
        ("file", "old", "new"),
        [
            ("two_step.drv", "%1 >= %2", "%1 > %2"),
            ("types.drv", '"%1 / %2"', '"%1 * %2"'),
            ("sonnx_div.h", " *   - Integers: no divisor is zero.", " *   - Integers: any divisor."),
            ("contract.h", "FLT_EVAL_METHOD != 0", "FLT_EVAL_METHOD > 2"),
        ],
    )
    def test_an_edit(self, proofs: Path, file: str, old: str, new: str) -> None:
        replaced(proofs / "c" / file, old, new)
        with pytest.raises(ProofError, match=rf"not as proofs/README.md has them: c/{re.escape(file)} [0-9a-f]{{16}}$"):
            require_read(proofs)

    def test_one_more_file_and_one_that_is_gone(self, proofs: Path) -> None:
        (proofs / "c" / "direct.drv").rename(proofs / "c" / "other.drv")
        with pytest.raises(ProofError, match=r"c/direct\.drv is gone, c/other\.drv [0-9a-f]{16}$"):
            require_read(proofs)

    def test_a_row_that_does_not_say_what_was_read(self, proofs: Path) -> None:
        readme = proofs / "README.md"
        text = readme.read_text(encoding="utf-8")
        said = re.search(r"(?<=\| `c/types\.drv` \| `).*", text)
        assert said is not None
        replaced(readme, said[0], f"{said[0][:16]}` | |")
        with pytest.raises(ProofError, match=r"c/types\.drv"):
            require_read(proofs)


class TestRecorded:
    """A record that was cut, or made for what is manipulated, differs from what is there."""

    @pytest.mark.parametrize("file", ["theories/tensor.mlw", "mutants/tensor.toml", "gappa/two_step.gappa"])
    def test_a_line_that_is_gone(self, proofs: Path, file: str) -> None:
        record(proofs, digests(proofs))
        assert changes(proofs, digests(proofs)) == []
        lines = (proofs / "recorded.txt").read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if not line.endswith(f"  {file}\n")]
        assert len(kept) == len(lines) - 1
        (proofs / "recorded.txt").write_text("".join(kept), encoding="utf-8")
        assert changes(proofs, digests(proofs)) == [file]


@cache
def ours() -> Statements:
    return Statements(PROOFS)
