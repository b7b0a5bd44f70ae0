"""``python -m cuaug scan``: names that are not text, wrong arguments, a missing library, and the memory of a scan."""

import os
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest
from helpers.loader import encoded_file
from helpers.replace import replace_everywhere

from cuaug import io
from cuaug.__main__ import main
from cuaug.data import scan
from cuaug.data.decode_threads import DecodeThreads

pytestmark = pytest.mark.jpeg
IMAGE = np.zeros((9, 7, 3), np.uint8)


def test_scan_writes_names_that_are_not_text(tmp_path, capsys):
    folder, output = tmp_path / "images", tmp_path / "bad.txt"
    folder.mkdir()
    path = os.fsencode(folder) + b"/\xff.jpg"
    Path(os.fsdecode(path)).write_bytes(b"")
    assert main(["scan", str(folder), "--output", str(output)]) == 1
    assert output.read_bytes() == path + b"\n"
    assert capsys.readouterr().out.startswith(f"{folder}/\\udcff.jpg: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--output", "missing/bad.txt"], "No such file or directory: 'missing/bad.txt'"),
        (["--max-pixels", "0"], "max_pixels must be at least 1, got 0"),
    ],
)
def test_scan_refuses_arguments_before_it_begins(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    Path("bad.jpg").write_bytes(b"")
    assert main(["scan", ".", *arguments]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_scan_names_a_missing_library(tmp_path, monkeypatch, capsys):
    (tmp_path / "image.tif").write_bytes(encoded_file(IMAGE, format="TIFF"))
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    monkeypatch.setitem(sys.modules, "cv2", None)
    assert main(["scan", str(tmp_path)]) == 2
    assert "decoding TIFF needs Pillow: pip install pillow" in capsys.readouterr().err


def test_scan_drops_pixels_after_decoding(tmp_path, monkeypatch, capsys):
    """A scan of other formats than JPEG needs memory for one image per thread, not for all images of a batch."""
    results, alive_counts, decode = [], [], io.decode_image

    def decode_and_count(*args, **options):
        alive_counts.append(sum(image() is not None for image in results))
        image = decode(*args, **options)
        results.append(weakref.ref(image))
        return image

    replace_everywhere(monkeypatch, io, "decode_image", decode_and_count)
    monkeypatch.setattr(scan, "DecodeThreads", lambda maximum: DecodeThreads(1))
    for i in range(8):
        (tmp_path / f"{i}.png").write_bytes(encoded_file(IMAGE, format="PNG"))
    (tmp_path / "bad.png").write_bytes(encoded_file(IMAGE, format="PNG")[:40])
    assert main(["scan", str(tmp_path)]) == 1
    assert "1 of 9 images are bad" in capsys.readouterr().out
    assert alive_counts == [0] * 9
