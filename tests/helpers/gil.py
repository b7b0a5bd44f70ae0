"""Whether a call releases the interpreter's lock."""

import sys
import threading


def releases_gil(call):
    """Whether the main thread runs while another thread makes the call.

    The interpreter switches threads only after its switch interval, which is longer than any call here. So the main
    thread runs before the call returns only if the call releases the lock.
    """
    started, main_ran, answer = threading.Event(), threading.Event(), []

    def work():
        started.set()
        call()
        answer.append(main_ran.is_set())

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        caller = threading.Thread(target=work)
        caller.start()
        started.wait()
        main_ran.set()
        caller.join()
    finally:
        sys.setswitchinterval(interval)
    return answer[0]
