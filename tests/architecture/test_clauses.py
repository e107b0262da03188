"""The markers that `clause_markers` describes: each is found, and names clauses that there are."""

from __future__ import annotations

from tests.architecture.clause_markers import ClauseMarker, every_marker
from vinculum.spec.rows import ROWS

TAGS = {row.title: {clause.tag for clause in row.clauses} for row in ROWS}


def test_no_test_names_a_clause_that_no_row_has() -> None:
    def is_known(marker: ClauseMarker) -> bool:
        tags = [TAGS[row] for row in marker.rows] or [set().union(*TAGS.values())]
        return bool(marker.tags) and all(set(marker.tags) <= known for known in tags)

    assert [marker for marker in every_marker() if not is_known(marker)] == []
