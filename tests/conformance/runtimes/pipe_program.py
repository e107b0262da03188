"""A program behind `command:`, written from the documented bytes alone; its argument says how it misbehaves."""

from __future__ import annotations

import os
import signal
import struct
import sys
import time
from typing import BinaryIO

FORMATS = {1: "f", 2: "B", 3: "b", 5: "h", 6: "i", 7: "q", 9: "?", 11: "d"}
GARBAGE = b"hello, world\n"


def answer(status: int, words: str) -> bytes:
    return struct.pack("<QIIII", 16 + len(words), status, 0, 0, 0) + words.encode()


def tensor(data: bytes, at: int) -> tuple[int, list[int], list[float], int]:
    code, _, rank, _ = struct.unpack_from("<IIII", data, at)
    dims = list(struct.unpack_from(f"<{rank}q", data, at + 16))
    count = 1
    for size in dims:
        count *= size
    form = f"<{count}{FORMATS[code]}"
    at += 16 + 8 * rank
    return code, dims, list(struct.unpack_from(form, data, at)), at + (struct.calcsize(form) + 7) // 8 * 8


def divided(data: bytes) -> bytes:
    """Return the answer to an operation: quotients of doubles, or a description of the message."""
    standard, name, version, rounding, attributes, operands = struct.unpack_from("<16s16sIIII", data)
    at, told = 48, []
    for _ in range(attributes):
        label, kind, count = struct.unpack_from("<32sII", data, at)
        size = count if kind == 3 else 8 * count
        value = data[at + 40 : at + 40 + size]
        told.append((label.strip(b"\0").decode(), value.decode() if kind == 3 else struct.unpack(f"<{count}q", value)))
        at += 40 + (size + 7) // 8 * 8
    tensors = []
    for _ in range(operands):
        tensors.append(tensor(data, at))
        at = tensors[-1][3]
    assert at == len(data)
    if attributes:
        return answer(2, f"{standard.decode()} {name.decode()} {version} {rounding} {told} {tensors[0][:3]}")
    if tensors[0][0] != 11:
        return answer(1, "nothing\nbut double")
    (code, dims, a, _), (_, _, b, _) = tensors
    quotients = struct.pack(f"<{len(a)}d", *(x / y for x, y in zip(a, b, strict=True)))
    head = struct.pack(f"<IIII{len(dims)}q", 0, code, len(dims), 0, *dims)
    return struct.pack("<Q", len(head + quotients)) + head + quotients


def misbehave(way: str, out: BinaryIO) -> None:
    if way == "--signal":
        os.kill(os.getpid(), signal.SIGFPE)
    if way == "--half":
        out.write(struct.pack("<Q", 64) + b"half")
        out.flush()
        os._exit(7)
    if way == "--close":
        os.close(1)
        time.sleep(600)
    out.write(GARBAGE)
    out.flush()


def main() -> None:
    """Answer until the input ends; misbehave from the second operation on."""
    source, out = sys.stdin.buffer, sys.stdout.buffer
    way = sys.argv[1] if len(sys.argv) > 1 else ""
    count = 0
    while head := source.read(8):
        data = source.read(*struct.unpack("<Q", head))
        count += 1
        if count > 1 and way:
            misbehave(way, out)
            continue
        out.write(divided(data))
        out.flush()


if __name__ == "__main__":
    main()
