"""Parametrisations of which ``make test`` runs a part, and ``make test-all`` everything."""

import pytest


def thinned(rows, is_quick):
    """The rows, tuples of arguments, with those marked slow of which ``is_quick(*row)`` is false."""
    return [pytest.param(*row, marks=[] if is_quick(*row) else pytest.mark.slow) for row in rows]
