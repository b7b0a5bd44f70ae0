"""The benchmark scripts run, check the results that they time, and report."""

import argparse
import itertools
import json
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from helpers.benchmark_scripts import BENCHMARKS, report_of, run

import cuaug


@pytest.mark.slow
def test_benchmark_warp_checks_results_and_writes_times(tmp_path):
    report = report_of("warp.py", tmp_path, "--cpu", "--no-peers", "--only", "hflip u8 NHWC")
    assert {"date", "commit", "machine", "versions"} <= set(report)
    rows = report["tables"]["cpu"]["rows"]
    assert rows
    assert all(row["name"] == "hflip u8 NHWC" and row["check"] == "ok" and row["us"] > 0 for row in rows)


@pytest.mark.slow
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


@pytest.mark.slow
def test_benchmark_warp_no_row_fails():
    process = run(str(BENCHMARKS / "warp.py"), "--cpu", "--quick", "--no-peers", "--only", "no such row")
    assert process.returncode == 1
    assert "warp on" in process.stdout
    assert "Traceback" not in process.stderr


@pytest.fixture
def cpu_as_gpu(load, monkeypatch):
    """GPU tables on a CPU: tensors stay where they are. Device times are 100 us, host times 8, 9, 10, ... us."""
    clocks, host_times = load("clocks"), itertools.count(8.0)

    def host_us(call, wait, seconds=1.0):
        wait()
        call()
        return next(host_times)

    monkeypatch.setattr(clocks, "host_us", host_us)
    monkeypatch.setattr(clocks, "gpu", lambda run, buffers, capture: (run(0), clocks.Time(100.0, 110.0, "graph"))[1])
    monkeypatch.setattr(clocks, "bandwidth", lambda: 4e12)
    monkeypatch.setattr(cuaug, "is_available", lambda: True)
    monkeypatch.setattr(torch.Tensor, "cuda", lambda tensor: tensor)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "a GPU")


@pytest.mark.slow
def test_benchmark_scripts_run_in_safe_path_mode_with_the_options_of_make(tmp_path):
    """`make bench` sets PYTHONSAFEPATH on a GPU machine, and passes ARGS=--gpu to all scripts but the last."""
    recipe = (BENCHMARKS.parent / "Makefile").read_text().partition("\nbench:")[2].partition("\n\n")[0]
    scripts = re.search(r"for name in (.*?);", recipe)[1].split()
    assert {"warp", "host", "single_images"} <= set(scripts)
    for script in scripts:
        environment = {**os.environ, "PYTHONSAFEPATH": "1", "PYTHONPATH": str(Path(cuaug.__file__).parents[1])}
        process = run(str(BENCHMARKS / f"{script}.py"), "--help", cwd=tmp_path, env=environment)
        assert process.returncode == 0, process.stderr
        assert {"--gpu", "--cpu", "--quick", "--json"} <= set(re.findall(r"--\w+", process.stdout)), script


@pytest.mark.parametrize(("call_us", "calls"), [(5.0, 2000), (5e4, 300)], ids=["100 groups", "15 groups"])
def test_benchmark_host_time_is_the_minimum_of_groups(load, monkeypatch, call_us, calls):
    clocks, times, events = load("clocks"), [0.0], []

    def call():
        times[0] += (call_us if len(events) > 100 else 1000 * call_us) * 1e-6  # the first calls plan and compile
        events.append("call")

    monkeypatch.setattr(clocks, "time", SimpleNamespace(perf_counter=lambda: times[0]))
    assert clocks.host_us(call, lambda: events.append("wait")) == pytest.approx(call_us)
    assert events.count("call") == calls
    assert " ".join(events).startswith(" ".join(["wait", *["call"] * 20] * 3))
    assert events[-1] == "wait"


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
def test_benchmark_transforms_skips_peer_with_other_work(load, peer, message):
    with pytest.raises(ValueError, match=f"other work.*{message}"):
        load("recipe_peers").check(peer, IMAGES, lightened(IMAGES))


def test_benchmark_transforms_notes_peer_draws(load):
    check = load("recipe_peers").check
    assert check(lightened, IMAGES, lightened(IMAGES)) == "each sample"
    assert check(lambda images: images / 255 + 0.1, IMAGES, lightened(IMAGES)) == "the batch"


def test_benchmark_transforms_reports_peer_crash(load, monkeypatch):
    transforms, options = load("transforms"), argparse.Namespace(only="", quick=True)
    times, outcome = transforms.run_in_process("no such peer", options)
    assert not times
    assert outcome.startswith("ended with 1: ")
    monkeypatch.setattr(transforms, "PEER_TIMEOUT", 0.01)
    assert transforms.run_in_process("no such peer", options) == ({}, "not done after 0.01 s")


def test_benchmark_warp_gpu_table_has_host_times(load, cpu_as_gpu, monkeypatch):
    warp, rows = load("warp"), load("rows")
    row = rows.row("hflip", shape=(2, 3, 8, 8))
    monkeypatch.setattr(warp, "prepare", lambda row, device, quick: (warp.Work(row, "cpu"), ""))
    result = warp.gpu_row(row, 4e12, True, {}, {})
    assert (result["us"], result["wall_us"], result["host_us"]) == (100.0, 110.0, 8.0)
    assert {"us": "100", "wall us": "110", "host us": "8.00"}.items() <= warp.gpu_cells(result).items()


def test_benchmark_transforms_gpu_table_has_host_times(load, cpu_as_gpu, monkeypatch, capsys):
    transforms = load("transforms")
    monkeypatch.setattr(transforms, "LIST_RECIPES", ("crop and flip",))
    options = argparse.Namespace(only="crop and flip", quick=True, no_peers=True, peers="")
    rows = transforms.gpu_table(options)["rows"]
    assert [row["name"] for row in rows] == ["crop and flip", "crop and flip, list"]
    assert [(row["us"], row["host_us"]) for row in rows] == [(100.0, 8.0), (100.0, 9.0)]
    assert "host us" in capsys.readouterr().out


def test_benchmark_transforms_ratio_compares_the_longer_times(load, cpu_as_gpu, monkeypatch):
    """The longer of device and wall time on both sides: cuaug's are 100 and 110 us."""
    transforms = load("transforms")
    times = {"crop and flip": {"us": 200.0, "wall_us": 220.0, "method": "graph", "draws": "the batch"}}
    monkeypatch.setattr(transforms, "LIST_RECIPES", ())
    monkeypatch.setattr(transforms, "peers_for", lambda options, on_gpu: {"a peer": None})
    monkeypatch.setattr(transforms, "run_in_process", lambda peer, options: (times, "done"))
    options = argparse.Namespace(only="crop and flip", quick=True, no_peers=False, peers="")
    (row,) = transforms.gpu_table(options)["rows"]
    assert row["peers"]["a peer"]["ratio"] == 2.0


@pytest.mark.parametrize(
    ("script", "arguments", "message"),
    [
        *((script, "--gpu --cpu", "not allowed with argument") for script in ("transforms", "detection", "loader")),
        ("transforms", "--peer kornia", "--peer needs --json"),
    ],
)
def test_benchmark_scripts_reject_contradicting_options(load, monkeypatch, capsys, script, arguments, message):
    monkeypatch.setattr(sys, "argv", [f"{script}.py", "--quick", *arguments.split()])
    with pytest.raises(SystemExit, match="2"):
        load(script).main()
    assert message in capsys.readouterr().err


def test_benchmark_detection_gpu_table_has_host_times(load, cpu_as_gpu, monkeypatch, capsys):
    """A call that waits for the device has no host time of its own."""
    detection = load("detection")
    call = lambda: torch.zeros(3)  # noqa: E731
    rows = [detection.Row("roi", call, None, False), detection.Row("nms", call, None)]
    monkeypatch.setattr(detection, "rows", lambda device, options: rows)
    pooling, nms = detection.table("gpu", "a GPU", argparse.Namespace(quick=True))["rows"]
    assert (pooling["us"], pooling["host_us"]) == (100.0, 8.0)
    assert "host_us" not in nms
    printed = [line.split() for line in capsys.readouterr().out.splitlines() if line[:3] in ("box", "roi", "nms")]
    assert printed == [["boxes", "us", "host", "us"], ["roi", "100", "8.00"], ["nms", detection.number(nms["us"]), "-"]]


def test_benchmark_detection_fails_if_results_differ(load, monkeypatch, capsys):
    """A result in float16 is compared with the peer's in float32, if there is one."""
    detection = load("detection")
    right, wrong = (lambda value=value: torch.full((3,), value) for value in (1.0, 2.0))
    row = detection.Row("roi_align, float16", right, wrong)
    monkeypatch.setattr(sys, "argv", ["detection.py", "--cpu", "--quick"])
    monkeypatch.setattr(detection, "rows", lambda device, options: [row])
    assert detection.main() == 1
    assert "FAILED: roi_align, float16 differs from the peer" in capsys.readouterr().out
    monkeypatch.setattr(detection, "rows", lambda device, options: [row._replace(float32_peer=right)])
    assert detection.main() == 0
    assert "0.0% of the values are the peer's in float16, 100.0% in float32" in capsys.readouterr().out


def test_benchmark_warp_notes_peers_with_other_pixels(load):
    peers = {"a": {"difference": 0.004}, "b": {"difference": None}, "c": {"difference": 0.02}}
    (note,) = load("warp").difference_notes([{"name": "hflip u8", "peers": peers}])
    assert note.startswith("c, hflip u8: its pixels differ from the reference by 0.020")


def test_benchmark_warp_torch_has_the_pixels_of_the_reference(load):
    """With coordinates in half precision, pixels would be 0.01 off."""
    correct, rows, torch_peers, work = (load(name) for name in ("correct", "rows", "torch_peers", "work"))
    warp = work.Work(rows.row("warp_affine", "float16", shape=(1, 3, 224, 224)), "cpu")
    peer = torch_peers.torch(warp)
    assert correct.difference(warp, peer.sample(peer.run(0), 0)) < 0.001


def test_benchmark_results_are_written_without_git_and_beside_others(load, monkeypatch, tmp_path):
    report = load("report")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(report, "HERE", tmp_path)
    results = report.document({"cpu": {"device": "A CPU"}}, "host")
    assert results["commit"] is None
    paths = []
    for _ in range(3):
        paths.append(report.default_path(results))
        report.write(results, paths[-1])
    name = f"{results['date'][:10]}-a-cpu-host"
    assert [path.name for path in paths] == [f"{name}.json", f"{name}-2.json", f"{name}-3.json"]


def test_benchmark_host_times_calls_on_both_devices(load, cpu_as_gpu, monkeypatch, tmp_path):
    host, path = load("host"), tmp_path / "results.json"
    batch_calls = host.batch_calls
    monkeypatch.setattr(host, "batch_calls", lambda device: batch_calls("cpu"))
    monkeypatch.setattr(sys, "argv", ["host.py", "--quick", "--json", str(path)])
    assert host.main() == 0
    tables = json.loads(path.read_text())["tables"]
    assert list(tables) == ["gpu", "cpu"]
    assert tables["gpu"]["device"] == "a GPU"
    names, first = list(batch_calls("cpu")), 8.0
    for table in tables.values():
        assert [row["name"] for row in table["rows"]] == names
        assert [row["host_us"] for row in table["rows"]] == [first + i for i in range(len(names))]
        assert [row["ratio"] for row in table["rows"]] == [(first + i) / first for i in range(len(names))]
        first += len(names)


@pytest.mark.slow
def test_benchmark_transforms_times_and_writes(tmp_path):
    report = report_of("transforms.py", tmp_path, "--cpu", "--no-peers", "--only", "augment")
    rows = report["tables"]["cpu"]["rows"]
    assert {row["name"].partition(",")[0] for row in rows} == {"randaugment", "trivialaugment"}
    assert all(row["us"] > 0 for row in rows)


@pytest.mark.slow
def test_benchmark_detection_times_and_writes(tmp_path):
    rows = report_of("detection.py", tmp_path, "--cpu", "--no-peers")["tables"]["cpu"]["rows"]
    suppression = ["nms 200", "batched_nms 200", "nms 2000", "batched_nms 2000"]
    overlaps = ["box_iou 200 x 1000", "complete_box_iou 200 x 1000"]
    pooling = ["roi_align 50, planes", "roi_align 50, channels last"]
    assert [row["name"] for row in rows] == suppression + overlaps + pooling
    assert all(row["us"] > 0 for row in rows)
