"""A process that imports modules once and runs each program in a fork of itself, where the modules are imported."""

import importlib
import json
import os
import selectors
import signal
import sys
import time


def next_program(modules):
    """Returns in each fork, with the program that the fork runs; the server ends with its standard input.

    A request is a line of JSON: the program and its time limit in seconds. The reply is a line, too: the exit code,
    None after the limit, and the texts of standard output and standard error.
    """
    for module in modules:
        importlib.import_module(module)
    for request in sys.stdin:
        program, timeout = json.loads(request)
        (output, child_output), (errors, child_errors) = os.pipe(), os.pipe()
        child = os.fork()
        if child == 0:
            os.setsid()
            os.close(output)  # so that writing fails, rather than waits, after the server has died
            os.close(errors)
            for source, target in ((os.open(os.devnull, os.O_RDONLY), 0), (child_output, 1), (child_errors, 2)):
                os.dup2(source, target)
                os.close(source)
            return program
        os.close(child_output)
        os.close(child_errors)
        texts, ended = read_to_end((output, errors), time.monotonic() + timeout)
        if not ended:
            os.killpg(child, signal.SIGKILL)
        exit_code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(json.dumps([exit_code if ended else None, *texts]), flush=True)
    raise SystemExit


def read_to_end(pipes, deadline):
    """The texts of the pipes, and whether all processes that write to them ended in time."""
    texts = dict.fromkeys(pipes, b"")
    with selectors.DefaultSelector() as selector:
        for pipe in pipes:
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map() and (seconds := deadline - time.monotonic()) > 0:
            for pipe in (key.fd for key, _ in selector.select(seconds)):
                part = os.read(pipe, 1 << 16)
                texts[pipe] += part
                if not part:
                    selector.unregister(pipe)
        ended = not selector.get_map()
    for pipe in pipes:
        os.close(pipe)
    return [text.decode(errors="replace") for text in texts.values()], ended
