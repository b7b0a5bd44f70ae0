"""Resizes a folder of images with Ray Data, which scales beyond one machine.

    pip install "ray[data]"
    python examples/preprocess_ray.py [--actors 2] [--device cuda]

With ``--device cuda`` each actor has its own GPU. An actor decodes batches of images at the resolution that the result
needs.
"""

import argparse
import tempfile
from pathlib import Path

import ray
from photographs import write_crops

import cuaug
from cuaug import transforms as T
from cuaug.data import Loader

SIZE = 96


class Preprocess:
    """One actor: takes encoded images and returns smaller encoded images."""

    def __init__(self, device):
        self.device = device

    def __call__(self, batch):
        files = [bytes(data) for data in batch["bytes"]]
        recipe = [T.Resize(SIZE), T.CenterCrop(SIZE)]
        ((images, _),) = Loader(files, len(files), recipe, device=self.device, library="torch")
        images = images.permute(0, 2, 3, 1).cpu().numpy()
        return {"path": batch["path"], "bytes": cuaug.io.encode_jpeg(list(images), quality=90)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--actors", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as workspace:
        source, target = write_crops(f"{workspace}/large", 10, (400, 600)), Path(workspace) / "small"
        target.mkdir()
        files = ray.data.read_binary_files(str(source), include_paths=True)
        gpus = 0 if options.device == "cpu" else 1
        resized = files.map_batches(
            Preprocess,
            fn_constructor_args=[options.device],
            batch_size=16,
            compute=ray.data.ActorPoolStrategy(size=options.actors),
            num_cpus=0.5,  # the tasks that read files need a CPU too
            num_gpus=gpus,
        )
        for row in resized.iter_rows():
            path = Path(row["path"])
            (target / f"{path.parent.name}-{path.name}").write_bytes(row["bytes"])
        before, after = (sum(file.stat().st_size for file in folder.rglob("*.jpg")) for folder in (source, target))
        headers = cuaug.io.read_header(sorted(target.iterdir()))
        assert {(header.height, header.width) for header in headers} == {(SIZE, SIZE)}
        print(f"{len(headers)} images of {SIZE}x{SIZE}: {before / 1e6:.1f} MB became {after / 1e6:.2f}")


if __name__ == "__main__":
    main()
