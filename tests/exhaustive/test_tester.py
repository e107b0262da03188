"""The enumerations are tested: their exact quotients are the reference's, and they find almost right divisions."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import vinculum
from tests.exhaustive.exact_16 import FORMATS, wrong_floats, wrong_integers
from tests.exhaustive.exact_64 import draw, signed, wrong_signed, wrong_unsigned
from tests.exhaustive.recording import RECORDED, ROOT, Recorder, digests, sources
from tests.exhaustive.sixteen_bits import Enumeration
from tests.exhaustive.sixty_four_bits import Adversary
from tests.kernels.comparing import DTYPES, is_nan, random_encodings
from vinculum import reference
from vinculum.spec.element_types import BFLOAT16, FLOAT16, INT16, INT64, UINT16, UINT64, ElementType
from vinculum.spec.model import IntegerRounding

Array = npt.NDArray[Any]

roundings = pytest.mark.parametrize("rounding", IntegerRounding)


class TestExactQuotients:
    """The checks accept the quotients of the reference, and refuse their neighbours."""

    @pytest.mark.parametrize("element_type", [FLOAT16, BFLOAT16], ids=str)
    def test_floats(self, element_type: ElementType) -> None:
        """Random ones; then ties between subnormal quotients, and quotients on both sides of the overflow threshold."""
        fmt = FORMATS[element_type.name]
        a, b = (random_encodings(element_type.name, (5000,), seed).copy() for seed in (0, 1))
        a.view(np.uint16)[::2] &= 0x87FF  # so that many quotients are subnormal
        self.check_floats(a, b, element_type)
        powers = np.arange(1, 1 << fmt.exponent_bits) << fmt.fraction
        near = (powers[:, None] + np.arange(-2, 3)).reshape(-1)
        few = np.array([*range(20), fmt.infinity - 1, fmt.infinity, fmt.infinity + 1, fmt.sign - 1])
        every = np.concatenate([few, near, few + fmt.sign]).astype(np.uint16).view(DTYPES[element_type.name])
        a, b = (x.reshape(-1) for x in np.meshgrid(every, every[:: len(every) // 40]))
        self.check_floats(a, b, element_type)

    @staticmethod
    def check_floats(a: Array, b: Array, element_type: ElementType) -> None:
        fmt = FORMATS[element_type.name]
        quotients = reference.divide(a, b, element_type)
        bits = [x.view(np.uint16) for x in (a, b, quotients)]
        assert not wrong_floats(fmt, *bits).any()
        for change in (1, 0xFFFF, 0x8000):
            changed = np.where(is_nan(quotients), 0, bits[2] ^ change if change == 0x8000 else bits[2] + change)
            assert wrong_floats(fmt, bits[0], bits[1], changed.astype(np.uint16)).all()

    @pytest.mark.parametrize("element_type", [INT16, UINT16], ids=str)
    @roundings
    def test_integers_of_16_bits(self, element_type: ElementType, rounding: IntegerRounding) -> None:
        a, b = (random_encodings(element_type.name, (5000,), seed) for seed in (0, 1))
        b[:3], a[:2] = 0, [0, 1]
        a[3], b[3] = element_type.minimum, -1 if element_type is INT16 else 1
        quotients = reference.divide(a, b, element_type, rounding=rounding, zero_divisor="saturate")
        floor = rounding is IntegerRounding.FLOOR
        assert not wrong_integers(a, b, quotients, floor).any()
        one = quotients.dtype.type(1)
        assert wrong_integers(a, b, quotients + one, floor).all()
        assert wrong_integers(a, b, quotients - one, floor).all()

    @pytest.mark.parametrize("element_type", [INT64, UINT64], ids=str)
    @roundings
    def test_integers_of_64_bits(self, element_type: ElementType, rounding: IntegerRounding) -> None:
        a: Array
        b: Array
        a, b = draw(1, 5000, 5000)
        arguments: tuple[bool, ...] = ()
        wrong: Callable[..., Array] = wrong_unsigned
        if element_type is INT64:
            a, b, wrong, arguments = signed(1, a), signed(2, b), wrong_signed, (rounding is IntegerRounding.FLOOR,)
        a[0], b[0] = element_type.minimum, -1 if element_type is INT64 else 1
        quotients = reference.divide(a, b, element_type, rounding=rounding)
        assert not wrong(a, b, quotients, *arguments).any()
        one = quotients.dtype.type(1)
        assert wrong(a, b, quotients + one, *arguments).all()
        assert wrong(a, b, quotients - one, *arguments).all()

    def test_the_pairs_are_adversarial(self) -> None:
        """They have every length, about half lie next to a multiple, and some are halfway cases in binary64."""
        a, b = draw(1, 20_000, 20_000)
        lengths = {int(x).bit_length() for x in b}
        assert lengths == set(range(1, 65))
        remainders = a % b
        beside = (remainders == 0) | (remainders == 1) | (remainders == b - np.uint64(1))
        assert beside.mean() > 0.45
        halfway = [int(v).bit_length() > 53 and int(v) & -int(v) == 1 << int(v).bit_length() - 54 for v in b]
        assert np.mean(halfway) > 0.01
        numbers = signed(1, a)
        assert (numbers != 0).all()
        assert 0.4 < (numbers < 0).mean() < 0.6
        assert (numbers == np.iinfo(np.int64).min).any()


EVERY_LOOP: list[tuple[Enumeration | Adversary, str]] = [
    *((Enumeration("uint16", {}), loop) for loop in ("equal_shapes", "row", "scalar_divisor")),
    *((Enumeration("float16", {}), loop) for loop in ("equal_shapes", "row", "scalar_divisor")),
    *((Adversary("uint64", {}), loop) for loop in ("equal_shapes", "scalar_divisor")),
]


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize(("pairs", "loop"), EVERY_LOOP)
def test_a_wrong_division_among_several_is_named(pairs: Enumeration | Adversary, loop: str, place: int) -> None:
    """All are checked, although quotients equal to checked ones are not checked again."""

    def right(a: Array, b: Array) -> Array:
        return vinculum.div(a, b, zero_divisor="saturate")

    def wrong(a: Array, b: Array) -> Array:
        quotients = right(a, b)
        quotients.view(f"u{quotients.itemsize}").reshape(-1)[5] ^= 1
        return quotients

    names = ["first", "second", "third"]
    divisions = dict.fromkeys(names, right)
    assert getattr(replace(pairs, divisions=divisions), loop)(1) is None
    told = getattr(replace(pairs, divisions=divisions | {names[place]: wrong}), loop)(1)
    assert told.startswith(f"{names[place]}: ")


class TestRecord:
    """The record names the enumerations that passed, and their sources."""

    def record(self, file: Path, passed: str, one_in: int = 1, also: str = "passed") -> list[str]:
        recorder = Recorder(["x86-64-v3"], one_in, file)
        for test, outcome in ((f"tests/exhaustive/{passed}", "passed"), ("tests/exhaustive/test_all.py::test", also)):
            report: Any = pytest.TestReport(test, ("", 0, ""), {}, outcome, None, "call", (), 2.5)  # type: ignore[arg-type]
            recorder.pytest_runtest_logreport(report)
        recorder.pytest_sessionfinish()
        return [line for line in file.read_text("utf-8").splitlines() if "::" in line or "x86" in line]

    def test_enumerations_that_passed(self, tmp_path: Path) -> None:
        """Records of other sources are dropped."""
        file = tmp_path / "recorded.txt"
        run, one, every = self.record(file, "test_one.py::test")
        assert run.endswith(": x86-64-v3")
        assert [one, every] == ["#     2.5 s  test_one.py::test", "#     2.5 s  test_all.py::test"]
        assert digests(file) == sources()
        part = self.record(file, "test_two.py::test", one_in=64)
        assert part == [run, one, every, f"{run}, one part in 64", one.replace("one", "two"), every]
        assert digests(file) == sources()
        *lines, last = file.read_text("utf-8").splitlines()
        file.write_text("\n".join([*lines, "0" * 64 + last[64:], ""]), encoding="utf-8")
        assert self.record(file, "test_one.py::test") == [run, one, every]

    def test_nothing_after_a_failure(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            self.record(tmp_path / "recorded.txt", "test_one.py::test", also="failed")


def test_the_record_is_of_the_present_sources() -> None:
    now, then = sources(), digests()
    changed = sorted(name for name in {*now, *then} if now.get(name) != then.get(name))
    assert changed == [], (
        "tests/exhaustive/recorded.txt is of other versions of these sources: `make exhaustive RECORD=--record`, "
        "or, in a minute, of a part, `.venv/bin/pytest tests/exhaustive -m exhaustive --record --one-in 64`"
    )


def test_the_safety_manual_says_which_part_was_run() -> None:
    manual = (ROOT / "docs" / "reference" / "safety-manual.md").read_text("utf-8")
    said, recorded = (set(re.findall(r"one part in \d+", text)) for text in (manual, RECORDED.read_text("utf-8")))
    assert said == recorded
