"""Bytes changed at random places: flipped, inserted, cut, doubled, exchanged."""

from __future__ import annotations

from random import Random

TELLING = (b"\x00", b"\xff", b"\x7f", b"\x80", b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f", b"\x80" * 10, b"<", b'"', b"&")


def mutate_bytes(content: bytes, random: Random) -> bytes:
    """Return the content with one to a few changes."""
    for _ in range(random.randint(1, 4)):
        start = random.randint(0, len(content))
        end = min(len(content), start + random.choice((1, 1, 2, 4, 8, 50)))
        piece = content[start:end]
        new = random.choice((_flipped, _other, _doubled, _cut))(piece, random)
        content = content[:start] + new + content[end:]
    return content[: random.randint(0, len(content))] if random.randint(0, 9) == 0 else content


def _flipped(piece: bytes, random: Random) -> bytes:
    return bytes([piece[0] ^ 1 << random.randint(0, 7)]) + piece[1:] if piece else piece


def _other(piece: bytes, random: Random) -> bytes:
    return random.choice(TELLING) + piece[1:]


def _doubled(piece: bytes, random: Random) -> bytes:
    return piece * random.choice((2, 3, 100))


def _cut(piece: bytes, random: Random) -> bytes:
    return b""
