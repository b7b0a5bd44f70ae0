"""The clocks of `Compose.plan(measure=True)`, on a simulated timeline of host and device."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.fake_timeline import FakeTimeline
from helpers.replace import replace_everywhere

from cuaug import transforms as T
from cuaug._arrays.images import describe_images
from cuaug._gpu import cupy_import, device_time, devices, streams
from cuaug.transforms import call_time


@pytest.fixture
def timeline(monkeypatch):
    timeline = FakeTimeline()
    clock = SimpleNamespace(perf_counter=timeline.clock)
    monkeypatch.setattr(call_time, "time", clock)
    monkeypatch.setattr(device_time, "time", clock)
    return timeline


@pytest.fixture
def fake_cuda(timeline, monkeypatch):
    cuda = timeline.cuda()
    replace_everywhere(monkeypatch, cupy_import, "cupy", lambda: SimpleNamespace(cuda=cuda))
    monkeypatch.setattr(devices.thread_state, "devices", {0})
    devices.peak_bandwidth.cache_clear()
    yield cuda
    devices.peak_bandwidth.cache_clear()


def test_host_time_is_the_median_without_first_calls(timeline):
    """The first two calls plan and record; every tenth call is disturbed."""
    calls = []

    def call():
        timeline.host += 9000.0 if len(calls) < 2 else 5000.0 if len(calls) % 10 == 0 else 50.0
        calls.append(timeline.host)

    image = describe_images(np.zeros((1, 2, 2, 3), np.uint8))
    assert call_time.time_call(call, image, 1) == (pytest.approx(50.0), None, None)
    assert calls[-1] < 0.125e6  # us: calls start for 0.1 s


def test_host_time_of_a_slow_call_takes_three_calls(timeline):
    counts = []

    def call():
        timeline.host += 2e6
        counts.append(1)

    image = describe_images(np.zeros((1, 2, 2, 3), np.uint8))
    assert call_time.time_call(call, image, 1).host_us == pytest.approx(2e6)
    assert len(counts) == 3


@pytest.mark.parametrize(("host_us", "device_us"), [(25.0, 4.0), (25.0, 400.0), (300.0, 150.0), (2.0, 0.5)])
def test_device_time_excludes_the_wait_for_the_host(timeline, fake_cuda, host_us, device_us):
    """A device that is faster than the host would wait between the events."""
    median_us = device_time.median_device_us(
        lambda: timeline.queue(host_us, device_us), calls_per_group=20, stream=7, device=0, seconds=0.1
    )
    assert median_us == pytest.approx(device_us, abs=0.06)  # if the queue is empty, the second event comes 1 us late


def test_device_time_of_a_call_that_waits_ends(timeline, fake_cuda):
    """Fills of memory delay the device; their number is limited, so that the launches fit into the queue."""

    def call():
        timeline.queue(10.0, 5.0)
        timeline.wait()

    median_us = device_time.median_device_us(call, calls_per_group=20, stream=7, device=0, seconds=0.1)
    assert median_us == pytest.approx(15.0, abs=0.6)
    assert timeline.max_fills == 512


@pytest.mark.parametrize(("launches", "device_us", "expected"), [(2, 10.0, 20), (100, 10.0, 5), (2, 5000.0, 3)])
def test_calls_between_waits_fit_the_queue_and_the_time(
    timeline, fake_cuda, monkeypatch, launches, device_us, expected
):
    queued, host_groups, device_groups = [0], set(), set()
    record_event = streams.record_event

    def call():
        queued[0] += 1
        timeline.queue(20.0, device_us)

    def end_group(groups):
        groups.add(queued[0])
        queued[0] = 0

    def wait(stream, device):
        assert (stream, device) == (7, 0)
        end_group(host_groups)
        timeline.wait()

    def record(stream, disable_timing):
        end_group(device_groups)
        return record_event(stream, disable_timing)

    replace_everywhere(monkeypatch, streams, "synchronize_stream", wait)
    replace_everywhere(monkeypatch, streams, "record_event", record)
    library = SimpleNamespace(current_stream=lambda device: 7)
    image = describe_images(np.zeros((1, 2, 2, 3), np.uint8))._replace(device=0, library=library)
    times = call_time.time_call(call, image, launches)
    assert times == (pytest.approx(20.0), pytest.approx(device_us, abs=0.4), 4.9152e12)
    assert max(host_groups) == expected
    assert device_groups == {0, expected}  # 0 calls before a group's first event
    assert timeline.host < 0.35e6


class TimedLaunches(list):
    """The launches of a fake driver; each takes 3 us on the host and 40 us on the device."""

    def __init__(self, timeline):
        super().__init__()
        self.timeline = timeline

    def append(self, launch):
        super().append(launch)
        self.timeline.queue(3.0, 40.0)


def test_compose_plan_measures_a_call_on_a_gpu(timeline, gpu, monkeypatch):
    torch = pytest.importorskip("torch")
    cuda = timeline.cuda()
    cuda.driver = cupy_import.cupy().cuda.driver
    replace_everywhere(monkeypatch, cupy_import, "cupy", lambda: SimpleNamespace(cuda=cuda))
    replace_everywhere(monkeypatch, streams, "synchronize_stream", timeline.wait)
    replace_everywhere(monkeypatch, devices, "peak_bandwidth", lambda device: 4.9152e12)
    gpu.launches = TimedLaunches(timeline)
    aug = T.Compose([T.RandomHorizontalFlip(), T.GaussianBlur(5)], seed=0)
    images = torch.zeros((4, 3, 32, 32), dtype=torch.uint8)
    plan = aug.plan(images, measure=True)
    assert plan.launches == 3
    assert (plan.host_us, plan.device_us) == (pytest.approx(9.0), pytest.approx(120.0))
    assert plan.memory_us == pytest.approx(4 * 4 * 32 * 32 * 3 / 4.9152e6)  # two passes read and write four samples
    assert str(plan).splitlines()[1] == (
        "a call of 4 samples: host 9.0 us, device 120.0 us; its bytes take 0.01 us at the memory's peak of 4.92 TB/s"
    )
    assert aug.state_dict()["step"] == 0
    launches = len(gpu.launches)
    assert aug.plan(images).device_us is None
    assert len(gpu.launches) == launches
