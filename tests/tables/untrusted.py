"""Untrusted descriptions and states: valid ones with an entry replaced, removed or added.

What `from_dict` accepts must run, or raise TypeError or ValueError, in little time and memory.
"""

import faulthandler
import json
import resource
import time
from pathlib import Path

import numpy as np

from cuaug import transforms as T
from cuaug.transforms.transform import Transform

IMAGES = np.random.default_rng(3).integers(0, 256, (2, 12, 10, 3), np.uint8)  # N, H, W, C
CPU_SECONDS = 2.0  # of the process, for one description
MEMORY = 3 << 30  # bytes of address space, beyond that at the start; threads reserve some


def nested(levels):
    inner = 0
    for _ in range(levels):
        inner = [inner]
    return inner


def nested_recipe(levels, name="RandomApply"):
    description = {"name": "Identity"}
    for _ in range(levels):
        description = {"name": name, "transforms": [description]}
    return description


IDENTITY = {"name": "Identity"}
VALUES = (
    *(None, True, [], {}, "", "x" * 1000, float("nan"), float("inf"), -1, 0, 0.5, 7, 2**63, 10**400, 1e308, -1e308),
    *(10**5, 10**9, nested(1000), [0.5] * 10**5, [IDENTITY] * 10**6, [1e308] * 2, [0, 1e308], [10**5, 10**5], [3, 3]),
    *(IDENTITY, {"name": "Params"}, {"name": "Boxes"}, nested_recipe(1000), [nested_recipe(40)], [[0, 10**9]]),
    [{"name": "RandomOrder", "transforms": [{"name": "Compose", "transforms": [IDENTITY] * 60}] * 60}],
    *("px" + "+px" * 27000, "(" * 500 + "px" + ")" * 500, "px*u+" * 300 + "px"),
)


def mutations(value):
    """Copies of a dict or list in which one entry, at any depth, is replaced, removed or added. [(change, copy)]"""
    yield ("another key", {**value, "further": 1}) if isinstance(value, dict) else ("another entry", [*value, 1])
    keys = list(value) if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield f"without {key!r}", _without(value, key)
        for new in VALUES:
            yield f"{key!r} is {shown(new)}", _with(value, key, new)
        if isinstance(value[key], (dict, list)):
            yield from ((f"{key!r}: {change}", _with(value, key, new)) for change, new in mutations(value[key]))


def shown(value):
    """The beginning of the value; `repr` of a deep list raises RecursionError."""
    return (
        repr(value)[:60] if not isinstance(value, (dict, list)) else f"a {type(value).__name__} of length {len(value)}"
    )


def _with(value, key, new):
    copy = value.copy()
    copy[key] = new
    return copy


def _without(value, key):
    copy = value.copy()
    del copy[key]
    return copy


def check(descriptions):
    """The number of mutations of these JSON texts with each `outcome`. Fails if one takes too much time or memory."""
    T.Compose([T.RandomRotation(3.0)])(IMAGES)  # starts the threads
    limit, (_, hard_limit) = _address_bytes() + MEMORY, resource.getrlimit(resource.RLIMIT_AS)
    limit = limit if hard_limit == resource.RLIM_INFINITY else min(limit, hard_limit)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard_limit))
    counts = {"refused": 0, "accepted": 0, "run": 0}
    with np.errstate(all="ignore"):
        for text in descriptions:
            description = json.loads(text)
            faulthandler.dump_traceback_later(60, exit=True)  # ends an endless loop
            for change, mutated in mutations(description):
                start = time.process_time()
                try:
                    counts[outcome(mutated)] += 1
                except BaseException as error:
                    raise AssertionError(f"{description['name']}, {change}: {type(error).__name__}") from error
                seconds = time.process_time() - start
                assert seconds < CPU_SECONDS, f"{description['name']}, {change}: {seconds:.1f} s"
    faulthandler.cancel_dump_traceback_later()
    return counts


def outcome(description):
    """``refused`` by from_dict; ``accepted``, but no transform or one that rejects `IMAGES`; or ``run``."""
    try:
        restored = T.from_dict(description)
    except (TypeError, ValueError):
        return "refused"
    if not isinstance(restored, Transform):
        return "accepted"
    try:
        aug = T.Compose([restored], seed=1)
        params = aug.draw(IMAGES)
        result = aug(IMAGES)
    except (TypeError, ValueError):
        return "accepted"
    assert params.samples == len(result) == len(IMAGES)
    return "run"


def _address_bytes():
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
