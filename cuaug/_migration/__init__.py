"""``python -m cuaug migrate``: the edits that make a recipe of another library one of cuaug. Parses, never executes."""
