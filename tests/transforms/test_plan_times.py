"""`Compose.plan(images, measure=True)`: the times of a call, beside the passes."""

import html
from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers.arrays import noise
from PIL import Image

from cuaug import transforms as T
from cuaug.transforms import call_time, plan_report

AUG = T.Compose([T.RandomResizedCrop(8), T.RandomHorizontalFlip()], seed=0)
IMAGES = noise((4, 9, 11, 3))


@pytest.mark.parametrize(
    ("images", "samples"),
    [
        (IMAGES, 4),
        (IMAGES[0], 1),
        (torch.from_numpy(IMAGES).permute(0, 3, 1, 2), 4),
        ([IMAGES[0], IMAGES[1, 1:]], 2),
        ((IMAGES[0], IMAGES[1, 1:]), 2),
        ([IMAGES[0], IMAGES[1], IMAGES[2, 1:]], 3),
        (Image.fromarray(IMAGES[0]), 1),
        ([Image.fromarray(IMAGES[0]), Image.fromarray(IMAGES[1])], 2),
    ],
    ids=["batch", "image", "torch", "list", "tuple", "sizes", "Pillow", "Pillow list"],
)
def test_compose_plan_measures_a_call(images, samples, monkeypatch):
    monkeypatch.setattr(call_time, "_SECONDS", 0.001)
    aug = T.Compose(AUG.transforms, seed=3)
    expected = T.Compose(AUG.transforms, seed=3)(IMAGES)
    plan, unmeasured = aug.plan(images, measure=True), aug.plan(images)
    assert plan.host_us > 0
    assert plan.device_us is plan.peak_bandwidth is plan.memory_us is None
    assert plan.samples == samples
    title, times, *passes = str(plan).splitlines()
    assert [title, *passes] == str(unmeasured).splitlines()
    assert times.startswith(f"a call of {samples} sample")
    assert (" us a sample" in times) == (samples > 1)
    assert np.array_equal(aug(IMAGES), expected)  # the step is still 0


def test_compose_plan_measures_the_call_of_the_images(monkeypatch):
    """The timed call is the recipe's, with these images, their layout and the next step."""
    calls, results = [], []

    def time_call(call, image, launches):
        calls.append((image.axes.layout, launches))
        results.append([call() for _ in range(2)])
        return call_time.CallTime(10.0)

    monkeypatch.setattr(plan_report, "time_call", time_call)
    aug = T.Compose(AUG.transforms, seed=3)
    aug(IMAGES)
    plan = aug.plan(IMAGES.transpose(0, 3, 1, 2), layout="NCHW", measure=True)
    expected = aug(IMAGES.transpose(0, 3, 1, 2), layout="NCHW", step=1)
    assert all(np.array_equal(result, expected) for result in results[0])
    assert plan.times == "a call of 4 samples: 10.0 us, 2.5 us a sample"
    sizes = [IMAGES[0], IMAGES[1, 1:]]
    plan = aug.plan(sizes, measure=True)
    assert all(np.array_equal(one, other) for one, other in zip(results[1][0], aug(sizes, step=1), strict=True))
    assert calls == [("NCHW", 2), ("HWC", plan.launches)]
    assert aug.state_dict()["step"] == 1


def test_compose_plan_runs_nothing_unless_asked(monkeypatch):
    monkeypatch.setattr(T.Compose, "__call__", None)
    plan = AUG.plan(IMAGES)
    assert plan.host_us is plan.device_us is None
    assert plan.times == ""


def test_compose_plan_measure_needs_images():
    with pytest.raises(
        ValueError,
        match=r"^cuaug.transforms.Compose.plan: measure=True needs images: pass an array or a list of arrays",
    ):
        AUG.plan(size=(9, 9), measure=True)


def test_compose_plan_times_text_and_html(monkeypatch):
    monkeypatch.setattr(plan_report, "time_call", lambda *_: call_time.CallTime(1234.5, 71.25, 4e12))
    plan = AUG.plan(IMAGES, measure=True)
    line = "a call of 4 samples: host 1,234 us, device 71.2 us; its bytes take 0.00 us at the memory's peak of "
    line += "4.00 TB/s"
    assert plan.times == line
    assert f"<br>{html.escape(line)}</caption>" in plan._repr_html_()
    unknown = call_time.CallTime(1.0, 2.0, 0.0)  # some drivers do not know the memory's clock
    monkeypatch.setattr(plan_report, "time_call", lambda *_: unknown)
    assert AUG.plan(IMAGES, measure=True).times == "a call of 4 samples: host 1.0 us, device 2.0 us"


def test_compose_plan_of_several_batches_has_no_memory_time():
    """The bytes are those of the largest batch, and the times those of the call."""
    measured = {"host_us": 50.0, "device_us": 20.0, "peak_bandwidth": 1e12}
    lists = [noise((40, 50, 3)), noise((40, 50, 3))], [noise((40, 50, 3)), noise((9, 11, 3))]
    one_batch, two_batches = (replace(T.Compose([T.RandomInvert()]).plan(images), **measured) for images in lists)
    assert one_batch.memory_us == pytest.approx(2 * 2 * 40 * 50 * 3 / 1e6)
    assert "its bytes take" in one_batch.times
    assert two_batches.memory_us is None
    assert two_batches.times == "a call of 2 samples: host 50.0 us, device 20.0 us"
