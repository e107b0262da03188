"""Instructions an element of AArch64: how they are counted, and what is said where nothing can be compiled."""

from __future__ import annotations

import pytest

from benchmarks import aarch64


def test_the_instructions_between_two_marks_are_counted() -> None:
    def call(instructions: int) -> list[str]:
        other, mark = "Trace 0: 0x7f [00/0000000000400b00/00/ff] run", "Trace 0: 0x7f [00/0000000000400a00/00/ff] mark"
        return [other, mark, *[other] * (instructions - 1), mark, "IN: no address"]

    log = [line for n in (100, 100 + 3 * aarch64.COUNTED, 50, 50 + aarch64.COUNTED // 2) for line in call(n)]
    assert aarch64.per_element(log, "0000000000400a00") == [3, 0.5]


def test_without_a_compiler_a_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aarch64, "COMPILER", "no-such-compiler")
    with pytest.raises(SystemExit) as ended:
        aarch64.main()
    assert "no-such-compiler" in str(ended.value)
    assert str(ended.value).endswith(": on Debian, apt install qemu-user-static g++-aarch64-linux-gnu")
