"""The loader with processes, signals and threads: nothing hangs, and no thread or process remains."""

import inspect
import itertools
import os
import queue
import signal
import sys
import threading
from pathlib import Path

import pytest
from helpers.child_process import finish, python_after_import, start
from helpers.compare import assert_equal
from helpers.loader import RECIPES
from helpers.loader_checks import cuaug_threads
from helpers.thinning import thinned

from cuaug import transforms as T
from cuaug.data import Collate, ImageFiles, Loader, prefetch
from cuaug.data.prefetch import Prefetcher

pytestmark = pytest.mark.jpeg


@pytest.mark.alone
def test_collate_killed_worker_ends_data_loader(files):
    """torch raises whichever error comes first; no process remains."""
    pytest.importorskip("torch")
    program = f"""
import os, signal
from torch.utils.data import DataLoader
from cuaug import transforms as T
from cuaug.data import Collate, ImageFiles
source, collate = ImageFiles([{files[0][0]!r}] * 100000), Collate([T.RandomResizedCrop(32)])
iterator = iter(DataLoader(source, 2, collate_fn=collate, num_workers=2))
next(iterator)
print(*(worker.pid for worker in iterator._workers), flush=True)
os.kill(iterator._workers[0].pid, signal.SIGKILL)
for batch in iterator:
    pass
"""
    child = start(program)
    workers = [int(pid) for pid in child.stdout.readline().split()]
    _, errors = child.communicate(timeout=60)
    assert child.returncode != 0
    assert "Error" in errors
    assert len(workers) == 2
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


@pytest.mark.alone
def test_loader_abandoned_leaves_no_thread(files):
    loader = Loader(files * 20, 2, RECIPES["crop and flip"], library="numpy", prefetch=3)
    for count, _ in enumerate(loader):
        if count == 2:
            break
    assert not cuaug_threads()
    iterator = iter(loader)
    next(iterator)
    assert cuaug_threads()
    del iterator
    assert not cuaug_threads()


@pytest.mark.alone
@pytest.mark.parametrize("end", ["", "cycle = [it]; cycle.append(cycle)", "raise SystemExit(0)"])
def test_loader_process_may_exit_while_running(end):
    program = f"""
import numpy as np
from cuaug import io, transforms as T
from cuaug.data import Loader
file = io.encode_jpeg(np.random.default_rng(0).integers(0, 255, (400, 400, 3), "uint8"))
it = iter(Loader([file] * 2000, 8, [T.RandomResizedCrop(224)], library="numpy"))
next(it)
{end}
"""
    for _ in range(3):
        assert finish(start(program)) == ("", "")


@pytest.mark.alone
def test_loader_fork_raises_in_child():
    program = """
import os
import numpy as np
from cuaug import BackendError, io, transforms as T
from cuaug.data import Loader
file = io.encode_jpeg(np.zeros((64, 64, 3), "uint8"))
it = iter(Loader([file] * 200, 8, [T.RandomResizedCrop(32)], library="numpy"))
next(it)
child = os.fork()
if child == 0:
    try:
        next(it)
    except BackendError as error:
        os._exit(7)
    os._exit(1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert finish(start(program))[0] == "7"


@pytest.mark.alone
def test_loader_interrupt_at_any_step_ends_iteration():
    """An interrupt between a lock's acquisition and the start of its `with` block would leave both threads waiting."""
    outcomes, files = [], {inspect.getfile(module) for module in (prefetch, threading, queue)}

    def take(step):
        batches, event_count = iter(Prefetcher(itertools.count(), 2, "cuaug-test")), 0

        def interrupt(frame, event, argument):
            nonlocal event_count
            code = frame.f_code
            # The return of `__iter__` is a yield: an error raised there ends the generator without its `finally`.
            if code.co_filename in files and (event == "line" or (event == "return" and code.co_name != "__iter__")):
                event_count += 1
                if event_count == step:
                    sys.settrace(None)
                    raise KeyboardInterrupt
            return interrupt

        next(batches)
        sys.settrace(interrupt)
        try:
            outcomes.append(next(batches))
        except KeyboardInterrupt:
            outcomes.append("interrupted")
        finally:
            sys.settrace(None)
            batches.close()

    for step in itertools.count(1):
        taker = threading.Thread(target=take, args=(step,), daemon=True)
        taker.start()
        taker.join(10)
        assert not taker.is_alive(), f"after {step} steps"
        if outcomes[-1] != "interrupted":
            break
    assert outcomes.count("interrupted") >= 4
    assert not cuaug_threads()


@pytest.mark.alone
def test_loader_interrupt_ends_iteration():
    program = """
import signal, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a shell runs this in the background
import numpy as np
from PIL import Image
import io
from cuaug import transforms as T
from cuaug.data import Loader
out = io.BytesIO()
Image.fromarray(np.random.default_rng(0).integers(0, 255, (300, 300, 3), "uint8")).save(out, "JPEG")
try:
    for number, batch in enumerate(Loader([out.getvalue()] * 100000, 8, [T.RandomResizedCrop(64)], library="numpy")):
        if number == 2:
            print("ready", flush=True)
except KeyboardInterrupt:
    print([t.name for t in threading.enumerate() if t.name.startswith("cuaug")])
"""
    child = start(program)
    assert child.stdout.readline().strip() == "ready"
    child.send_signal(signal.SIGINT)
    output, errors = child.communicate(timeout=60)
    assert (child.returncode, output.strip()) == (0, "[]"), errors


@pytest.mark.alone
@pytest.mark.slow
def test_loader_memory_stays_flat(files):
    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    loader = Loader(files * 8, 32, RECIPES["crop and flip"], shuffle=True, library="numpy")
    for epoch in range(50):
        for _ in loader:
            pass
        if epoch == 3:
            before = resident()
    assert resident() - before < 32 << 20


@pytest.mark.alone
@pytest.mark.filterwarnings("ignore:.*fork")  # JAX and Python warn of threads lost in a fork: the workers need none
@pytest.mark.parametrize(
    ("workers", "context", "persistent"),
    thinned(
        [
            (0, None, False),  # torch refuses persistent workers without any
            *itertools.product([1, 2], ["fork"], [False, True]),
            *itertools.product([2], ["forkserver", "spawn"], [False, True]),
        ],
        lambda workers, context, persistent: workers == 0 or (context == "fork" and persistent == (workers == 2)),
    ),
)
def test_collate_in_workers_equals_loader(files, workers, context, persistent):
    torch_data = pytest.importorskip("torch.utils.data")
    recipe = T.Compose(RECIPES["crop and flip"], seed=9)
    collate = Collate(recipe)
    options = {"num_workers": workers, "multiprocessing_context": context, "persistent_workers": persistent}
    loader = torch_data.DataLoader(ImageFiles(files), 6, collate_fn=collate, **options)
    expected_loader = Loader(files, 6, recipe)
    for epoch in range(3):
        collate.set_epoch(epoch)
        for batch, expected in zip(loader, expected_loader, strict=True):
            assert isinstance(batch, type(expected))
            assert_equal(batch.images, expected.images)
            assert batch.labels.tolist() == expected.labels.tolist()
            assert batch.ids.tolist() == expected.ids.tolist()


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize(("name", "warnings"), [("crop and flip", 1), ("random crop", 1), ("validation", 0)])
def test_collate_without_epoch_warns_once(name, warnings, workers):
    """Without ``set_epoch`` all epochs are equal: one warning in all processes, none if nothing is drawn."""
    pytest.importorskip("torch")
    program = f"""
import time
import numpy as np
from torch.utils.data import DataLoader
from cuaug.data import Collate, ImageFiles
from cuaug.io import encode_jpeg
from helpers.loader import RECIPES

class Files(ImageFiles):
    def __getitem__(self, index):
        for _ in range(10_000 * (index >= 2)):  # the second worker begins after the first has warned
            if not collate._epoch_missing:
                break
            time.sleep(0.001)
        return super().__getitem__(index)

collate = Collate(RECIPES[{name!r}])
files = Files([encode_jpeg(np.random.default_rng(0).integers(0, 255, (90, 80, 3), "uint8"))] * 5)
loader = DataLoader(files, 2, collate_fn=collate, num_workers={workers})
first, second, third = (list(loader)[0].images for _ in range(3))
print((first == second).all() and (second == third).all())
"""
    output, errors = python_after_import(["torch.utils.data"], program, PYTHONWARNINGS="always::RuntimeWarning")
    assert output == "tensor(True)"
    assert errors.count("RuntimeWarning: cuaug.data.Collate:") == warnings
    assert errors.count("set_epoch(epoch) before each epoch") == warnings


def test_collate_warning_names_the_line_of_the_call():
    pytest.importorskip("torch")
    program = """
from cuaug.data import Collate
from cuaug.io import encode_jpeg
from helpers.loader import RECIPES
import numpy as np
Collate(RECIPES["random crop"])([(encode_jpeg(np.zeros((90, 80, 3), "uint8")), None, 0)])
"""
    _, errors = python_after_import(["torch.utils.data"], program, PYTHONWARNINGS="always::RuntimeWarning")
    assert errors.startswith("<string>:6: RuntimeWarning: cuaug.data.Collate: ")
