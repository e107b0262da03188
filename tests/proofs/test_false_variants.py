"""Lists of false variants that are none are refused; tests/machine/proofs tries the variants."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofs.checking import mutants
from proofs.checking.provers import ProofError
from tests.proofs.small_proofs import VARIANT


class TestFalseVariants:
    """A variant that is proved, or that is none, is a failure; so is a file that is no list of variants."""

    @pytest.mark.parametrize(
        ("listed", "complaint"),
        [
            ("[[mutant]", "sums.toml is no list of mutants"),
            ("[[mutants]]", "'mutant'"),
            ("mutant = 3", "not iterable"),
            ("mutant = ['doubled']", "must be a mapping"),
            ("[[mutant]]\ntheorem = 'Sums.doubled'", "missing"),
            (VARIANT + "why = 'so'", "unexpected keyword argument 'why'"),
            (VARIANT.replace('"ensures { a + a = 3 * a }"', "3"), "every value is a string"),
            (VARIANT.replace("theorem", "script"), "a theorem of sums.mlw or a script in gappa"),
            (VARIANT.replace('theorem = "Sums.doubled"', ""), "a theorem of sums.mlw or a script in gappa"),
        ],
    )
    def test_a_file_that_is_no_list_of_variants(self, tmp_path: Path, listed: str, complaint: str) -> None:
        (tmp_path / "theories").mkdir()
        (tmp_path / "theories" / "sums.mlw").touch()
        (tmp_path / "mutants").mkdir()
        (tmp_path / "mutants" / "sums.toml").write_text(listed, encoding="utf-8")
        with pytest.raises(ProofError, match=r"sums\.toml is no list of mutants") as raised:
            list(mutants.mutants(tmp_path))
        assert complaint in str(raised.value)

    def test_a_theory_that_has_none(self, tmp_path: Path) -> None:
        with pytest.raises(ProofError, match="no false variants of sums are listed"):
            list(mutants.mutants(tmp_path, ["sums"]))
