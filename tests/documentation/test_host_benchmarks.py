"""The benchmarks of small calls: two installations in turns, and single images on a CPU."""

import importlib
import json
import os
import sys
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np
import pytest
import torch
from helpers.benchmark_scripts import BENCHMARKS, report_of, run

import cuaug


def test_benchmark_compare_host_has_the_calls_of_the_tables(load, monkeypatch):
    compare_host, host_calls = load("compare_host"), load("host_calls")
    images = host_calls.Images(2)
    monkeypatch.setattr(host_calls, "Images", lambda count: images)
    threads = torch.get_num_threads()
    try:
        calls, warm_up = compare_host.calls_of("cpu")
    finally:
        torch.set_num_threads(threads)
        cuaug.set_num_threads(0)
    assert warm_up == 4
    names = [name if library == host_calls.TORCH else f"{name}, NumPy"
             for name, libraries in host_calls.single_image_calls(images).items() for library in libraries]  # fmt: skip
    assert list(calls) == [host_calls.RELU, *names]
    for name, call in calls.items():
        result = call()
        image = result["image"] if isinstance(result, dict) else result
        assert isinstance(image, np.ndarray) == name.endswith("NumPy"), name
    assert set(host_calls.function_calls(None, None, None)) <= set(host_calls.batch_calls("cpu")) & set(calls)
    assert host_calls.batch_calls("cpu")["box_iou"]().shape == (64, 64)
    row = {"name": "hflip", "ratios": [0.5, 0.6], "before_us": 10.0, "after_us": 5.0}
    assert compare_host.as_row("hflip", [[0.5, 10.0, 5.0], [0.6, 10.0, 6.0]]) == row


def test_benchmark_compare_host_rejects_cuaug_of_another_folder(load, tmp_path):
    with pytest.raises(ImportError, match=f"cuaug must be imported from {tmp_path}, got "):
        load("compare_host").Installation(tmp_path, min(os.sched_getaffinity(0)), "cpu")


@pytest.mark.slow
def test_benchmark_compare_host_compares_two_folders(tmp_path):
    extension = Path(importlib.import_module("cuaug._native").__file__)  # an editable installation keeps it elsewhere
    files = {path.name: path for path in (*Path(cuaug.__file__).parent.iterdir(), extension)}
    for folder in ("before", "after"):
        package = tmp_path / folder / "cuaug"
        package.mkdir(parents=True)
        for name, path in files.items():
            (package / name).symlink_to(path)
    out = tmp_path / "out.json"
    options = "before", "after", str(out), "--cpu", "--pairs", "1", "--seconds", "1"
    process = run(str(BENCHMARKS / "compare_host.py"), *options, cwd=tmp_path)
    assert process.returncode == 0, process.stderr
    assert {"hflip", "hflip, NumPy"} <= {row["name"] for row in json.loads(out.read_text())["rows"]}


@pytest.mark.slow
def test_benchmark_single_images_times_and_writes(tmp_path):
    rows = report_of("single_images.py", tmp_path, "--no-peers")["tables"]["cpu"]["rows"]
    names = {row["name"] for row in rows}
    assert {"hflip", "warp_affine, host matrix", "ImageNet recipe, images of 500 sizes"} <= names
    assert all(us > 0 for row in rows for us in (row["us"], *row["peers"].values()))


def test_benchmark_single_images_peers_have_rows_of_cuaug(load, monkeypatch):
    single_images, host_calls = load("single_images"), load("host_calls")
    monkeypatch.setitem(sys.modules, "torchvision", MagicMock())
    monkeypatch.setitem(sys.modules, "torchvision.transforms", MagicMock())
    monkeypatch.setitem(sys.modules, "albumentations", MagicMock())
    images = host_calls.Images(2)
    rows = single_images.torchvision_calls(images), single_images.albumentations_calls(images)
    assert [len(peer) for peer in rows] == [21, 4]
    assert set(rows[0]) | set(rows[1]) <= set(host_calls.single_image_calls(images))
    functions = {*host_calls.function_calls(None, None, None), *host_calls.resize_sizes(1, 1)}
    assert set(single_images.RECIPES) == set(rows[0]) - functions


@pytest.mark.parametrize("option", ["--quick", "--no-peers"])
def test_benchmark_single_images_partial_run_writes_nothing(load, monkeypatch, option):
    single_images = load("single_images")
    for module in (cuaug, torch):
        monkeypatch.setattr(module, "set_num_threads", lambda count: None)
    for name, result in (("measure", []), ("check", []), ("torchvision_calls", {}), ("albumentations_calls", {})):
        monkeypatch.setattr(single_images, name, lambda *_, result=result, **__: result)
    monkeypatch.setattr(single_images, "Images", lambda count, images=single_images.Images: images(2))
    monkeypatch.setattr(single_images, "write", lambda results, path: pytest.fail("wrote results"))
    monkeypatch.setattr(sys, "argv", ["single_images.py", option])
    assert single_images.main() == 0


def test_benchmark_single_images_reports_wrong_results(load):
    single_images = load("single_images")
    image = torch.zeros(3, 8, 8, dtype=torch.uint8)
    right = {"torchvision v2": lambda: image, "cuaug, torch": lambda: image + 1}
    wrong = right | {"cuaug, torch": lambda: image + 2}
    assert single_images.check({"hflip": right}) == []
    assert single_images.check({"hflip": wrong}) == ["hflip differs from torchvision's by up to 2.0"]
    assert len(single_images.check({"hflip": right | {"cuaug, torch": lambda: image[:, :4]}})) == 1
    floats = {"torchvision v2": lambda: image / 255, "cuaug, torch": lambda: image / 255 + float("nan")}
    assert single_images.check({"normalize": floats}) == ["normalize differs from torchvision's by up to nan"]
