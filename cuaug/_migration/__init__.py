"""``python -m cuaug migrate``: the edits that turn another library's recipe into one of cuaug. Parses, never executes."""
