"""`releases_gil` distinguishes calls that release the interpreter's lock from calls that hold it."""

import threading

from helpers.gil import releases_gil


def test_releases_gil_is_true_for_call_that_releases_lock():
    assert releases_gil(lambda: threading.Event().wait(0.05))


def test_releases_gil_is_false_for_call_that_holds_lock():
    assert not releases_gil(lambda: sum(range(3_000_000)))
