"""Parameter lists of which ``make test`` runs a part, and ``make slow`` the rest."""

import pytest


def thinned(rows, is_quick):
    """The rows (tuples of arguments); those for which ``is_quick(*row)`` is false are marked slow."""
    return [pytest.param(*row, marks=[] if is_quick(*row) else pytest.mark.slow) for row in rows]
