"""Covering sets: few rows in which each value of a factor meets each value of every other factor."""

import itertools


def covering(factors, exists):
    """Rows that hold every pair of two factors' values for which ``exists``; greedy, in a fixed order.

    ``exists(row)`` takes a dict of some factors, and judges by those alone.
    """
    missing = dict.fromkeys(
        pair
        for f, g in itertools.combinations(factors, 2)
        for pair in itertools.product([(f, v) for v in factors[f]], [(g, w) for w in factors[g]])
        if exists(dict(pair))
    )
    rows = []
    while missing:
        row = dict(next(iter(missing)))
        for factor in sorted(set(factors) - set(row), key=lambda name: (-len(factors[name]), name)):
            choices = [{**row, factor: value} for value in factors[factor]]
            row = max(
                (choice for choice in choices if completable(choice, factors, exists)),
                key=lambda choice: len(missing.keys() & pairs(choice, factors)),
            )
        for pair in pairs(row, factors):
            missing.pop(pair, None)
        rows.append([row[factor] for factor in factors])
    return rows


def pairs(row, factors):
    return set(itertools.combinations([(factor, row[factor]) for factor in factors if factor in row], 2))


def completable(row, factors, exists):
    """Whether each factor that the row lacks has a value that may stand beside the row's values."""
    return exists(row) and all(any(exists({**row, f: v}) for v in factors[f]) for f in factors if f not in row)
