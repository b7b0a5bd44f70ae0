"""The installed loaders that do the same work.

``makers`` has a function for each: it builds the loader and returns a function that iterates over one epoch.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from report import TORCHVISION_IMPORT_ERRORS

SIZE, MEAN, STD = 224, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
Maker = Callable[[str, argparse.Namespace], Callable[[], Iterator[Any]]]


def makers(device: str) -> dict[str, Maker]:
    loaders: dict[str, Maker] = {}
    try:
        import torchvision  # noqa: F401

        loaders["DataLoader, torchvision"] = dataloader
    except TORCHVISION_IMPORT_ERRORS:
        loaders["DataLoader, Pillow as torchvision uses it"] = dataloader
    try:
        import nvidia.dali  # noqa: F401

        if device != "cpu":
            loaders["DALI mixed"] = partial(dali, "mixed")
        loaders["DALI cpu" if device == "cpu" else "DALI, decoded by the CPU"] = partial(dali, "cpu")
    except ImportError:
        pass
    return loaders


class Files:
    """A map-style dataset of torchvision's reference pipeline, with Pillow alone if torchvision is not installed."""

    def __init__(self, files: list[str]) -> None:
        self.files = files
        try:
            from torchvision import transforms as v1

            self.transform = v1.Compose([
                v1.RandomResizedCrop(SIZE), v1.RandomHorizontalFlip(), v1.ToTensor(), v1.Normalize(MEAN, STD)
            ])  # fmt: skip
        except TORCHVISION_IMPORT_ERRORS:
            self.transform = pillow_transform

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, i: int) -> Any:
        from PIL import Image

        with Image.open(self.files[i]) as image:
            return self.transform(image.convert("RGB")), 0


def pillow_transform(image: Any) -> Any:
    """The calls of torchvision's transforms on a Pillow image."""
    import numpy as np
    import torch
    from PIL import Image

    top, left, height, width = box(image.height, image.width)
    image = image.crop((left, top, left + width, top + height)).resize((SIZE, SIZE), Image.Resampling.BILINEAR)
    if random.random() < 0.5:
        image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    tensor = torch.from_numpy(np.array(image)).permute(2, 0, 1).contiguous().float().div(255)
    mean, std = (torch.tensor(numbers)[:, None, None] for numbers in (MEAN, STD))
    return tensor.sub_(mean).div_(std)


def box(height: int, width: int) -> tuple[int, int, int, int]:
    for _ in range(10):
        area = height * width * random.uniform(0.08, 1)
        ratio = math.exp(random.uniform(math.log(3 / 4), math.log(4 / 3)))
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            return random.randint(0, height - h), random.randint(0, width - w), h, w
    return 0, 0, height, width


def dataloader(device: str, options: argparse.Namespace) -> Callable[[], Iterator[Any]]:
    from torch.utils.data import DataLoader

    # For a GPU, the process that copies takes the place of one worker.
    workers, on_gpu = max(options.threads - 1, 1) if device != "cpu" else options.threads, device != "cpu"
    loader = DataLoader(
        Files(options.paths), options.batch, shuffle=True, num_workers=workers, pin_memory=on_gpu, prefetch_factor=4,
        persistent_workers=True,
    )  # fmt: skip

    def epoch() -> Iterator[Any]:
        for images, labels in loader:
            yield (images.to(device, non_blocking=True).half(), labels) if on_gpu else (images, labels)

    return epoch


def dali(decoder: str, device: str, options: argparse.Namespace) -> Callable[[], Iterator[Any]]:
    samples = [(path, 0) for path in options.paths]
    batches = dali_batches(decoder, device, samples, options.batch, options.threads, "PARTIAL")

    def epoch() -> Iterator[Any]:
        for (entry,) in batches:
            yield entry["images"], entry["labels"]

    return epoch


def dali_batches(
    decoder: str, device: str, samples: list[tuple[str, int]], batch: int, threads: int, last_batch: str
) -> Any:
    """DALI's iterator over the batches of one epoch of (path, label) pairs; each `for` loop runs the next epoch.

    `decoder`: "mixed" (nvJPEG) or "cpu"; `device`: of the batches, float16 on a GPU and float32 on the CPU, and of all
    operators behind the decoder; `last_batch`: a name of DALI's LastBatchPolicy.
    """
    from nvidia.dali import fn, pipeline_def, types
    from nvidia.dali.plugin.pytorch import DALIGenericIterator, LastBatchPolicy

    on_gpu = device != "cpu"
    files, labels_of_files = map(list, zip(*samples, strict=True))

    @pipeline_def(batch_size=batch, num_threads=threads, device_id=0 if on_gpu else None, seed=0)
    def pipeline() -> Any:
        encoded, labels = fn.readers.file(files=files, labels=labels_of_files, random_shuffle=True, name="files")
        images = fn.decoders.image_random_crop(
            encoded, device=decoder, output_type=types.RGB, random_area=[0.08, 1.0], random_aspect_ratio=[3 / 4, 4 / 3]
        )
        if on_gpu and decoder == "cpu":
            images = images.gpu()
        images = fn.resize(images, resize_x=SIZE, resize_y=SIZE, interp_type=types.INTERP_LINEAR, antialias=True)
        images = fn.crop_mirror_normalize(
            images,
            dtype=types.FLOAT16 if on_gpu else types.FLOAT,
            output_layout="CHW",
            mean=[255 * m for m in MEAN],
            std=[255 * s for s in STD],
            mirror=fn.random.coin_flip(),
        )
        return images, labels

    dali_pipeline = pipeline()
    dali_pipeline.build()
    policy = LastBatchPolicy[last_batch]
    return DALIGenericIterator(
        [dali_pipeline], ["images", "labels"], reader_name="files", last_batch_policy=policy, auto_reset=True
    )
