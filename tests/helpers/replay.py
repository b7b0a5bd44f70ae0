"""Functions without their replayed calls."""


def undecorated(function):
    """A public function without `prefix_errors` and `replayed`."""
    return function.__wrapped__.__wrapped__
