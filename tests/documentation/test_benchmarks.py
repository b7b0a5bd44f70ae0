"""The benchmark scripts run, check the results that they time, and report."""

import argparse
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def run(*command, **options):
    """The finished process of a command of Python."""
    return subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, timeout=300, check=False, **options
    )


def report_of(script, folder, *arguments):
    """The report that a script writes in a quick run, which must succeed."""
    path = folder / "results.json"
    process = run(str(BENCHMARKS / script), "--quick", "--json", str(path), *arguments)
    assert process.returncode == 0, process.stdout + process.stderr
    return json.loads(path.read_text())


def test_benchmark_warp_checks_results_and_writes_times(tmp_path):
    report = report_of("warp.py", tmp_path, "--cpu", "--no-peers", "--only", "hflip u8 NHWC")
    assert {"date", "commit", "machine", "versions"} <= set(report)
    rows = report["tables"]["cpu"]["rows"]
    assert rows
    assert all(row["name"] == "hflip u8 NHWC" and row["check"] == "ok" and row["us"] > 0 for row in rows)


def test_benchmark_warp_wrong_result_fails(tmp_path):
    """The reference is replaced by one that mirrors the images that `flip` leaves, and only these."""
    program = (
        "import sys, runpy; sys.argv = sys.argv[1:]; sys.path.insert(0, sys.argv.pop(1))\n"
        "from tables import warp_reference as reference\n"
        "reference.hflip = lambda image, flip: image[:, ::-1] if not flip else image\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    arguments = "--cpu", "--quick", "--no-peers", "--only", "hflip"
    tests = str(Path(__file__).parents[1])
    process = run("-c", program, str(BENCHMARKS / "warp.py"), tests, *arguments, cwd=tmp_path)
    assert process.returncode == 1, process.stdout + process.stderr
    assert "FAILED: hflip u8 NHWC" in process.stdout


def test_benchmark_warp_no_row_fails():
    process = run(str(BENCHMARKS / "warp.py"), "--cpu", "--quick", "--no-peers", "--only", "no such row")
    assert process.returncode == 1


@pytest.fixture
def benchmark_modules(monkeypatch):
    """benchmarks/transforms.py and recipe_peers.py, as modules."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("transforms"), importlib.import_module("recipe_peers")


IMAGES = np.random.default_rng(0).integers(0, 256, (4, 16, 16, 3)).astype(np.uint8)


def lightened(images):
    """Each sample gets its own draw."""
    return images.transpose(0, 3, 1, 2) / 255 + np.random.default_rng().uniform(0, 0.2, (len(images), 1, 1, 1))


@pytest.mark.parametrize(
    ("peer", "message"),
    [
        (lambda images: lightened(images)[:, :, :8], "a result of"),
        (lambda images: 255 * lightened(images), "the mean is"),
        (lambda images: 0.2 * lightened(images), "the standard deviation is"),
        (lambda images: lightened(images) * np.inf, "not finite"),
    ],
    ids=["size", "levels", "contrast", "infinite"],
)
def test_benchmark_transforms_skips_peer_with_other_work(benchmark_modules, peer, message):
    with pytest.raises(ValueError, match=f"other work.*{message}"):
        benchmark_modules[1].check(peer, IMAGES, lightened(IMAGES))


def test_benchmark_transforms_notes_peer_draws(benchmark_modules):
    check = benchmark_modules[1].check
    assert check(lightened, IMAGES, lightened(IMAGES)) == "each sample"
    assert check(lambda images: images / 255 + 0.1, IMAGES, lightened(IMAGES)) == "the batch"


def test_benchmark_transforms_reports_peer_crash(benchmark_modules, monkeypatch):
    transforms, _ = benchmark_modules
    options = argparse.Namespace(only="", quick=True)
    times, outcome = transforms.run_in_process("no such peer", options)
    assert not times
    assert outcome.startswith("ended with 1: ")
    monkeypatch.setattr(transforms, "PEER_TIMEOUT", 0.01)
    assert transforms.run_in_process("no such peer", options) == ({}, "not done after 0.01 s")


@pytest.mark.slow
def test_benchmark_transforms_times_and_writes(tmp_path):
    report = report_of("transforms.py", tmp_path, "--cpu", "--no-peers", "--only", "augment")
    rows = report["tables"]["cpu"]["rows"]
    assert {row["name"].partition(",")[0] for row in rows} == {"randaugment", "trivialaugment"}
    assert all(row["us"] > 0 for row in rows)


def test_benchmark_single_images_times_and_writes(tmp_path):
    rows = report_of("single_images.py", tmp_path, "--no-peers")["tables"]["cpu"]["rows"]
    assert {"hflip", "warp_affine, host matrix", "ImageNet recipe, images of 500 sizes"} <= {
        row["name"] for row in rows
    }
    assert all(us > 0 for row in rows for us in (row["us"], *row["peers"].values()))


def test_benchmark_single_images_reports_wrong_results(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    single_images = importlib.import_module("single_images")
    image = torch.zeros(3, 8, 8, dtype=torch.uint8)
    right = {"torchvision v2": lambda: image, "cuaug, torch": lambda: image + 1}
    wrong = right | {"cuaug, torch": lambda: image + 2}
    assert single_images.check({"hflip": right}) == []
    assert single_images.check({"hflip": wrong}) == ["hflip differs from torchvision's by up to 2.0"]
    assert len(single_images.check({"hflip": right | {"cuaug, torch": lambda: image[:, :4]}})) == 1


@pytest.mark.slow
def test_benchmark_detection_times_and_writes(tmp_path):
    rows = report_of("detection.py", tmp_path, "--cpu", "--no-peers")["tables"]["cpu"]["rows"]
    suppression = ["nms 200", "batched_nms 200", "nms 2000", "batched_nms 2000"]
    assert [row["name"] for row in rows] == [*suppression, "roi_align 50, planes", "roi_align 50, channels last"]
    assert all(row["us"] > 0 for row in rows)


@pytest.mark.slow
@pytest.mark.jpeg
def test_benchmark_loader_times_and_writes(tmp_path):
    rows = report_of("loader.py", tmp_path, "--cpu")["tables"]["cpu"]["rows"]
    assert rows[0]["name"] == "cuaug"
    assert any(row["name"].startswith("DataLoader") for row in rows)
    assert all(row["images_per_s"] > 0 and row["processor_us"] > 0 for row in rows)


@pytest.mark.slow
@pytest.mark.jpeg
def test_benchmark_training_trains_with_every_loader(tmp_path):
    pytest.importorskip("torch")
    counts = sorted({len(os.sched_getaffinity(0)), 1}, reverse=True)
    tables = report_of("training.py", tmp_path, "--cpus", *map(str, counts))["tables"]
    assert list(tables) == [f"training, {count} processors" for count in counts]
    assert [table["cpus"] for table in tables.values()] == counts
    for table in tables.values():
        names = [row["name"] for row in table["rows"]]
        assert names[:2] == ["the step alone", "cuaug Loader"]
        assert "DataLoader, cuaug in Collate" in names
        assert all(row["images_per_s"] > 0 for row in table["rows"])


@pytest.mark.slow
@pytest.mark.jpeg
def test_benchmark_decode_compares_results_and_writes_times(tmp_path):
    rows = report_of("decode.py", tmp_path)["tables"]["cpu"]["rows"]
    assert {row["name"] for row in rows} == {"whole", "crop 256x256", "half the size"}
    assert all(row["images_per_s"] > 0 and row["cpu_us"] > 0 for row in rows)
    assert all({"cv2", "Pillow"} <= set(row["peers"]) for row in rows if row["name"] != "half the size")
