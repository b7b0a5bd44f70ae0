"""Whether another thread of Python runs during a call."""

import sys
import threading


def runs_during(call):
    """Whether a second thread runs between the call's beginning and its end.

    The interpreter takes the lock away from a thread only after its switch interval, here longer than any call: the
    second thread runs before the call returns if the call itself gives the lock up.
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
