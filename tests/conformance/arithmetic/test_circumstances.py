"""The places of elements that may decide what becomes of them, against their definition."""

from __future__ import annotations

import numpy as np

from vinculum.conformance.arithmetic.circumstances import PLACES, mask


def test_every_place_in_tensors_of_every_small_size() -> None:
    for size in range(70):
        every = list(range(size))
        expected = {
            "the first element": every[:1],
            "the last element": every[-1:],
            "the first of several elements": every[:1] if size > 1 else [],
            "the last of several elements": every[-1:] if size > 1 else [],
        }
        for width in (2, 4, 8, 16, 32):
            whole = size // width * width
            expected |= {f"packets of {width}": every[:whole]}
            expected |= {f"the remainder after packets of {width}": every[whole:]}
            for rest in range(width) if width < 32 else ():
                words = f"tensors of {width} k + {rest} elements" if rest else f"tensors of {width} k elements"
                expected[words] = every if size - whole == rest else []
        assert {name: np.flatnonzero(mask(name, size)).tolist() for name in PLACES} == expected
