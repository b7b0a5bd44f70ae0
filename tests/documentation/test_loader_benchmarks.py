"""The benchmark scripts that read JPEG files run, and measure what their tables say."""

import multiprocessing
import os
import sys
import time
from unittest.mock import MagicMock

import pytest
from helpers.benchmark_scripts import report_of


@pytest.mark.slow
@pytest.mark.jpeg
def test_benchmark_loader_times_and_writes(tmp_path):
    rows = report_of("loader.py", tmp_path, "--cpu")["tables"]["cpu"]["rows"]
    assert rows[0]["name"] == "cuaug"
    assert any(row["name"].startswith("DataLoader") for row in rows)
    assert all(row["images_per_s"] > 0 and row["processor_us"] > 100 for row in rows)


def use_processor(seconds, connection):
    while time.process_time() < seconds:
        pass
    connection.send("done")
    connection.recv()


def test_benchmark_loader_counts_processor_time_of_running_workers(load):
    """The workers of a DataLoader live as long as the DataLoader."""
    loader, context = load("loader"), multiprocessing.get_context("spawn")
    connection, other = context.Pipe()
    start = loader.processor_seconds()
    worker = context.Process(target=use_processor, args=(2.0, other), daemon=True)
    worker.start()
    assert connection.recv() == "done"
    running = loader.processor_seconds() - start
    connection.send("end")
    worker.join()
    assert running > 1.9
    assert loader.processor_seconds() - start == pytest.approx(running, abs=1.0)


@pytest.mark.parametrize("script", ["loader", "training"])
def test_benchmark_loader_and_training_find_jpeg_files_by_suffix(load, monkeypatch, capsys, tmp_path, script):
    module, names = load(script), ["a.JPEG", "b.jpg", "c.png"]
    monkeypatch.setattr(sys, "argv", [f"{script}.py", "--quick", "--files", str(tmp_path)])
    with pytest.raises(SystemExit, match="2"):
        module.main()
    assert "--files must be a folder with JPEG files" in capsys.readouterr().err
    for name in names:
        (tmp_path / name).touch()
    assert [path.name for path in module.jpeg_files(tmp_path)] == names[:2]


@pytest.mark.parametrize(("decoder", "device"), [("mixed", "cuda"), ("cpu", "cuda"), ("cpu", "cpu")])
def test_benchmark_loader_dali_batches_are_on_the_device_of_the_table(load, monkeypatch, decoder, device):
    """Whatever decodes, all other work of a GPU table is done on the GPU, in float16. DALI is replaced."""
    dali, settings = MagicMock(), {}

    def pipeline_def(**options):
        settings.update(options)
        return lambda define: lambda: MagicMock(outputs=define())

    dali.pipeline_def = pipeline_def
    dali.fn.readers.file.return_value = MagicMock(), MagicMock()
    modules = {"nvidia": MagicMock(dali=dali), "nvidia.dali": dali, "nvidia.dali.plugin.pytorch": MagicMock()}
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    load("loader_peers").dali_batches(decoder, device, [("a.jpg", 0)], 1, 1, "PARTIAL")
    decoded = dali.fn.decoders.image_random_crop.return_value
    assert dali.fn.resize.call_args.args == (decoded.gpu() if (decoder, device) == ("cpu", "cuda") else decoded,)
    dtype = dali.types.FLOAT if device == "cpu" else dali.types.FLOAT16
    assert dali.fn.crop_mirror_normalize.call_args.kwargs["dtype"] is dtype
    assert settings["device_id"] == (None if device == "cpu" else 0)


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
