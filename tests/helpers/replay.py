"""Public functions without their decorators, so that no call is replayed."""


def undecorated(function):
    """A public function without `prefix_errors` and `replayed`."""
    return function.__wrapped__.__wrapped__
