"""The ways to feed a training step from JPEG files: each maker returns an endless iterator over (images, labels)."""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Callable, Iterator
from typing import Any

from loader_peers import MEAN, SIZE, STD
from report import TORCHVISION_IMPORT_ERRORS

from cuaug import transforms as T
from cuaug.data import Collate, ImageFiles, Loader

CLASSES = 1000


def cuaug_recipe(device: str) -> list[Any]:
    dtype = "float16" if device == "cuda" else "float32"
    return [
        T.RandomResizedCrop(SIZE),
        T.RandomHorizontalFlip(),
        T.ToDtype(dtype, scale=True),
        T.Normalize(MEAN, STD),
    ]


def cuaug_loader(device: str, options: argparse.Namespace, decoder: str = "cpu") -> Iterator[Any]:
    loader = Loader(
        options.samples, options.batch, cuaug_recipe(device), device=device, shuffle=True, seed=0, last="drop",
        threads=options.cpus, library="torch", decoder=decoder,
    )  # fmt: skip
    while True:
        yield from loader


def hybrid_loader(device: str, options: argparse.Namespace) -> Iterator[Any]:
    return cuaug_loader(device, options, "hybrid")


def dataloader(dataset: Any, device: str, options: argparse.Namespace, collate: Any = None) -> Iterator[Any]:
    from torch.utils.data import DataLoader

    workers = 0 if options.quick else options.cpus
    loader = DataLoader(
        dataset, options.batch, shuffle=True, drop_last=True, num_workers=workers, pin_memory=device == "cuda",
        prefetch_factor=4 if workers else None, persistent_workers=workers > 0, collate_fn=collate,
    )  # fmt: skip
    epoch = 0
    while True:
        if collate is not None:
            collate.set_epoch(epoch)
        for images, labels in loader:
            yield images.to(device, non_blocking=True), labels.to(device, non_blocking=True)
        epoch += 1


def collate_loader(device: str, options: argparse.Namespace) -> Iterator[Any]:
    return dataloader(ImageFiles(options.samples), device, options, Collate(cuaug_recipe("cpu"), seed=0))


class TorchvisionFiles:
    """A map-style dataset with torchvision v2's transforms on Pillow images, as in torchvision's references."""

    def __init__(self, samples: list[tuple[str, int]]) -> None:
        import torch
        from torchvision.transforms import v2

        self.samples = samples
        self.transform = v2.Compose([
            v2.RandomResizedCrop(SIZE), v2.RandomHorizontalFlip(), v2.PILToTensor(),
            v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD),
        ])  # fmt: skip

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, i: int) -> Any:
        from PIL import Image

        path, label = self.samples[i]
        with Image.open(path) as image:
            return self.transform(image.convert("RGB")), label


def torchvision_loader(device: str, options: argparse.Namespace) -> Iterator[Any]:
    return dataloader(TorchvisionFiles(options.samples), device, options)


def dali_loader(device: str, options: argparse.Namespace) -> Iterator[Any]:
    from nvidia.dali import fn, pipeline_def, types
    from nvidia.dali.plugin.pytorch import DALIGenericIterator, LastBatchPolicy

    @pipeline_def(batch_size=options.batch, num_threads=options.cpus, device_id=0, seed=0)
    def pipeline() -> Any:
        files, labels = zip(*options.samples, strict=True)
        encoded, label = fn.readers.file(files=list(files), labels=list(labels), random_shuffle=True, name="files")
        images = fn.decoders.image_random_crop(
            encoded, device="mixed", output_type=types.RGB, random_area=[0.08, 1.0], random_aspect_ratio=[3 / 4, 4 / 3]
        )
        images = fn.resize(images, resize_x=SIZE, resize_y=SIZE, interp_type=types.INTERP_LINEAR, antialias=True)
        images = fn.crop_mirror_normalize(
            images, dtype=types.FLOAT16, output_layout="CHW", mirror=fn.random.coin_flip(),
            mean=[255 * m for m in MEAN], std=[255 * s for s in STD],
        )  # fmt: skip
        return images, label

    built = pipeline()
    built.build()
    iterator = DALIGenericIterator(
        [built], ["images", "labels"], reader_name="files", last_batch_policy=LastBatchPolicy.DROP, auto_reset=True
    )
    while True:
        for (entry,) in iterator:
            yield entry["images"], entry["labels"][:, 0].long().to(device, non_blocking=True)


def _makers() -> dict[str, Callable[[str, argparse.Namespace], Iterator[Any]]]:
    import cuaug

    makers: dict[str, Callable[[str, argparse.Namespace], Iterator[Any]]] = {"cuaug Loader": cuaug_loader}
    if cuaug.is_available() and cuaug.info()["nvjpeg"]:
        makers["cuaug Loader, hybrid"] = hybrid_loader
    makers["DataLoader, cuaug in Collate"] = collate_loader
    try:
        import torchvision  # noqa: F401

        makers["DataLoader, torchvision v2"] = torchvision_loader
    except TORCHVISION_IMPORT_ERRORS:
        pass
    if cuaug.is_available() and importlib.util.find_spec("nvidia.dali"):
        makers["DALI"] = dali_loader
    return makers


MAKERS = _makers()
