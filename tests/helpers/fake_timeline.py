"""A host clock and a device's timeline that advance by given times, with CuPy's names for events and fills."""

from types import SimpleNamespace

FILL_US, FILL_LAUNCH_US = 20.0, 3.0


class FakeTimeline:
    """Times in us. Queued work begins when the device has finished the work before, and not before it is queued."""

    def __init__(self):
        self.host = self.device_end = 0.0
        self.fills = self.max_fills = 0  # fills since the last event; the most between two events

    def clock(self):
        """In place of `time.perf_counter`."""
        return self.host * 1e-6

    def queue(self, host_us, device_us):
        self.host += host_us
        self.device_end = max(self.device_end, self.host) + device_us

    def wait(self, *_):
        self.host = max(self.host, self.device_end)

    def cuda(self):
        """In place of `cupy.cuda`, for one device with 4.9152 TB/s."""
        timeline = self

        class Event:
            def __init__(self, disable_timing=False):
                self.timed = not disable_timing

            def record(self, stream):
                self.stream = stream.ptr
                timeline.max_fills, timeline.fills = max(timeline.max_fills, timeline.fills), 0
                timeline.host += 1.0
                self.time = max(timeline.device_end, timeline.host)

            @property
            def done(self):
                return timeline.host >= self.time

            def synchronize(self):
                timeline.host = max(timeline.host, self.time)

        def elapsed_ms(start, end):
            assert start.timed
            assert end.timed
            assert start.stream == end.stream
            assert end.done
            return (end.time - start.time) / 1e3

        def fill(address, value, size, stream):
            timeline.fills += 1
            timeline.queue(FILL_LAUNCH_US, FILL_US)

        attributes = {36: 3_200_000, 37: 6144}  # kHz and bits
        return SimpleNamespace(
            Event=Event,
            Memory=lambda size: SimpleNamespace(ptr=1 << 40),
            get_elapsed_time=elapsed_ms,
            runtime=SimpleNamespace(
                getDevice=lambda: 0,
                memsetAsync=fill,
                deviceGetAttribute=lambda attribute, device: attributes[attribute],
                streamSynchronize=self.wait,
            ),
        )
