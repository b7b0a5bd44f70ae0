"""`runs_during` distinguishes calls that release the interpreter's lock from calls that hold it."""

import threading

from helpers.gil import runs_during


def test_runs_during_is_true_for_call_that_releases_lock():
    assert runs_during(lambda: threading.Event().wait(0.05))


def test_runs_during_is_false_for_call_that_holds_lock():
    assert not runs_during(lambda: sum(range(3_000_000)))
