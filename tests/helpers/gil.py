"""Whether a call releases the interpreter's lock."""

import sys
import threading


def releases_gil(call):
    """Whether a second thread runs between the call's start and its end.

    The interpreter switches threads only after its switch interval, which is longer than any call here. So the second
    thread runs before the call returns only if the call releases the lock.
    """
    started, other_ran, answer = threading.Event(), threading.Event(), []

    def work():
        started.set()
        call()
        answer.append(other_ran.is_set())

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        caller = threading.Thread(target=work)
        caller.start()
        started.wait()
        other_ran.set()
        caller.join()
    finally:
        sys.setswitchinterval(interval)
    return answer[0]
