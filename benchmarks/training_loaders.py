"""The ways to feed a training step from JPEG files: each maker returns an endless iterator over (images, labels)."""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Callable, Iterator
from typing import Any

from loader_peers import MEAN, SIZE, STD, dali_batches
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
        multiprocessing_context="fork" if workers else None,  # this process was spawned, so it would spawn them, too
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
    batches = dali_batches("mixed", device, options.samples, options.batch, options.cpus, "DROP")
    while True:
        for (entry,) in batches:
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
