"""``python -m cuaug migrate``: the edits that turn a foreign recipe into one of cuaug. Parses, never executes."""
