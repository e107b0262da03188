"""The twelve rows, and functions that find a row by operator, operator set and dialect."""

from __future__ import annotations

from difflib import get_close_matches
from operator import index

from vinculum.errors import SpecLookupError
from vinculum.spec.model import Dialect, OperatorSpec
from vinculum.spec.onnx_div import DIV_1, DIV_6, DIV_7, DIV_13, DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_1, RECIPROCAL_6, RECIPROCAL_13
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.spec.sonnx_div import DIV_FLOAT, DIV_INT, DIV_REAL

ROWS = (
    DIV_1, DIV_6, DIV_7, DIV_13, DIV_14,
    RECIPROCAL_1, RECIPROCAL_6, RECIPROCAL_13,
    DIVIDE_1,
    DIV_REAL, DIV_FLOAT, DIV_INT,
)  # fmt: skip

NEWEST_OPERATOR_SET = 28
"""The newest of ONNX that the rows cover; newer ones may change division."""


def find(
    name: str,
    *,
    opset: int | None = None,
    dialect: str | Dialect | None = None,
    variant: str | None = None,
) -> OperatorSpec:
    """Return the row of an operator that is in force in an operator set.

    An operator set is what a model imports: 10 selects Div-7, None the newest version. Without a dialect the name
    decides, and ``"Div"`` is ONNX's; a variant is one of SONNX's three operators. Case matters, as it does in models.

    SpecLookupError if there is no such row; the line says what was given and what is allowed.
    """
    rows = versions(name, dialect=dialect)
    if rows[0].dialect is Dialect.SONNX:
        if opset is not None:
            raise SpecLookupError(f"SONNX {name} is in no numbered operator set, opset={opset!r} given; leave it out")
        return _variant(rows, variant)
    _refuse_variant(rows[0], variant)
    if opset is None:
        return rows[-1]
    number = _from_one(opset, "an operator-set version")
    if number > NEWEST_OPERATOR_SET:
        raise SpecLookupError(f"operator set {number} is not known; allowed: 1 to {NEWEST_OPERATOR_SET}")
    return next(row for row in reversed(rows) if row.since_version <= number)


def find_version(
    name: str,
    version: int,
    *,
    dialect: str | Dialect | None = None,
    variant: str | None = None,
) -> OperatorSpec:
    """Return the row of an operator by its version: 6 is Div-6, and there is no Div-10.

    SpecLookupError if there is no such row; the line says which versions there are.
    """
    rows = versions(name, dialect=dialect)
    if rows[0].dialect is Dialect.SONNX:
        raise SpecLookupError(f"SONNX does not number the versions of {name}, version {version!r} given; leave it out")
    _refuse_variant(rows[0], variant)
    number = _from_one(version, "a version")
    for row in rows:
        if row.since_version == number:
            return row
    allowed = ", ".join(str(row.since_version) for row in rows)
    used = ""
    if number <= NEWEST_OPERATOR_SET:
        used = f" (operator set {number} uses {find(name, opset=number, dialect=dialect).title})"
    raise SpecLookupError(f"{name} has no version {number}; allowed: {allowed}{used}")


def versions(name: str, *, dialect: str | Dialect | None = None) -> tuple[OperatorSpec, ...]:
    """Return every row of an operator, oldest first; of SONNX Div its three variants.

    SpecLookupError if no document of the dialect has the operator.
    """
    rows = [row for row in rows_of(dialect) if row.name == name]
    if not rows:
        raise SpecLookupError(_unknown_name(name, None if dialect is None else Dialect(dialect)))
    return tuple(row for row in rows if row.dialect is rows[0].dialect)


def rows_of(dialect: str | Dialect | None = None) -> tuple[OperatorSpec, ...]:
    """Return every row of a dialect, or of all three; SpecLookupError if there is no such dialect."""
    chosen = None if dialect is None else _dialect(dialect)
    return tuple(row for row in ROWS if chosen in (None, row.dialect))


def _dialect(given: str | Dialect) -> Dialect:
    try:
        return Dialect(given)
    except ValueError:
        allowed = ", ".join(d.value for d in Dialect)
        raise SpecLookupError(f"no dialect is called {given!r}; allowed: {allowed}") from None


def _unknown_name(name: str, dialect: Dialect | None) -> str:
    here = list(dict.fromkeys(row.name for row in ROWS if dialect in (None, row.dialect)))
    elsewhere = [row.dialect.standard for row in ROWS if row.name == name]
    subject = f"{dialect.standard} has" if dialect else "there is"
    message = f"{subject} no operator {name!r} that divides; allowed: {', '.join(here)}"
    if elsewhere:
        return f"{message} ({name!r} is of {elsewhere[0]})"
    lowered = {known.lower(): known for known in here}
    close = get_close_matches(str(name).lower(), lowered, n=1)
    return f"{message}; did you mean {lowered[close[0]]!r}?" if close else message


def _variant(rows: tuple[OperatorSpec, ...], variant: str | None) -> OperatorSpec:
    for row in rows:
        if row.variant == variant:
            return row
    allowed = ", ".join(str(row.variant) for row in rows)
    given = "no variant" if variant is None else f"variant {variant!r}"
    raise SpecLookupError(f"SONNX has {len(rows)} operators called {rows[0].name}, {given} given; allowed: {allowed}")


def _refuse_variant(row: OperatorSpec, variant: str | None) -> None:
    if variant is not None:
        raise SpecLookupError(
            f"{row.dialect.standard} {row.name} has no variants, variant {variant!r} given; leave it out, "
            "or choose the dialect 'sonnx'"
        )


def whole_number(value: object) -> int | None:
    """Return a whole number of any class as an int; None for anything else, truth values included."""
    try:
        return None if type(value).__name__ in ("bool", "bool_") else index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def _from_one(given: int, what: str) -> int:
    number = whole_number(given)
    if number is None or number < 1:
        raise SpecLookupError(f"{given!r} is not {what}; allowed: a whole number from 1 on")
    return number
