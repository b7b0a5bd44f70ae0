"""Pairwise covering arrays: few rows that together contain every pair of values of two factors."""

import itertools


def covering(factors, is_possible):
    """Rows that together contain every possible pair of values of two factors; greedy, in a fixed order.

    ``factors`` are lists of values by name. ``is_possible(row)`` takes a dict with values of some factors; no rule
    about a missing factor applies.
    """
    missing = dict.fromkeys(
        pair
        for f, g in itertools.combinations(factors, 2)
        for pair in itertools.product([(f, v) for v in factors[f]], [(g, w) for w in factors[g]])
        if is_possible(dict(pair))
    )
    rows = []
    while missing:
        row = dict(next(iter(missing)))
        for factor in sorted(set(factors) - set(row), key=lambda name: (-len(factors[name]), name)):
            choices = [{**row, factor: value} for value in factors[factor]]
            row = max(
                (choice for choice in choices if completable(choice, factors, is_possible)),
                key=lambda choice: len(missing.keys() & pairs(choice, factors)),
            )
        for pair in pairs(row, factors):
            missing.pop(pair, None)
        rows.append([row[factor] for factor in factors])
    return rows


def pairs(row, factors):
    return set(itertools.combinations([(factor, row[factor]) for factor in factors if factor in row], 2))


def completable(row, factors, is_possible):
    """Whether the row is possible, and with each missing factor too, for at least one of its values."""
    return is_possible(row) and all(
        any(is_possible({**row, f: v}) for v in factors[f]) for f in factors if f not in row
    )
