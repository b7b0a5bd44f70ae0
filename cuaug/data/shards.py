"""Tar shards of images and labels, as WebDataset has them."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .labels import integer_label

Image = bytes | tuple[Any, int, int]  # encoded data; or path, offset, and length (-1: to the end of the file)


def shard_paths(source: Any) -> list[str]:
    """The paths of tar files; empty if the source is something else."""
    sources = [source] if isinstance(source, (str, os.PathLike)) else source
    if not isinstance(sources, Sequence) or not sources or isinstance(sources, bytes):
        return []
    paths = [os.fspath(path) if isinstance(path, (str, os.PathLike)) else "" for path in sources]
    return paths if all(path.endswith(".tar") for path in paths) else []


@dataclass
class _ShardSample:
    """Consecutive members of a tar file that have one name up to the first dot."""

    stem: str
    images: list[Image] = field(default_factory=list)
    label: int | None = None


def read_shards(shards: Sequence[str], extensions: tuple[str, ...]) -> tuple[list[Image], list[int | None]]:
    """The images in tar files, and the labels beside them."""
    images: list[Image] = []
    labels: list[int | None] = []
    for shard in shards:
        if not Path(shard).is_file():
            fact = "is no file" if Path(shard).exists() else "does not exist"
            raise FileNotFoundError(f"source must be existing .tar files, got {shard!r}, which {fact}")
        try:
            samples = _read_shard(shard, extensions)
            label_of = _labels_without_images(samples)
        except (tarfile.TarError, ValueError) as error:
            raise ValueError(f"{shard} must be an uncompressed tar file of images and .cls labels: {error}") from error
        for sample in samples:
            images += sample.images
            label = label_of.get(sample.stem) if sample.label is None else sample.label
            labels += [label] * len(sample.images)
    return images, labels


def _read_shard(shard: str, extensions: tuple[str, ...]) -> list[_ShardSample]:
    samples: list[_ShardSample] = []
    files: dict[str, tarfile.TarInfo] = {}  # by name: the members so far, to which hard links refer
    with tarfile.open(shard, "r:") as tar:
        for member in tar:
            folder, slash, name = member.name.rpartition("/")
            stem, _, extension = name.partition(".")
            stem = folder + slash + stem
            is_image, is_label = name.lower().endswith(extensions), extension.lower() == "cls"
            file = files.get(member.linkname) if member.islnk() else member
            if file is None and (is_image or is_label):
                raise ValueError(f"{member.name} is a link to {member.linkname}, which is not an earlier member")
            if file is None or not file.isfile() or name.startswith("._"):  # metadata that macOS adds
                continue
            files[member.name] = file
            if not samples or samples[-1].stem != stem:
                samples.append(_ShardSample(stem))
            if is_image:
                samples[-1].images.append((shard, file.offset_data, file.size))
            elif is_label and (content := tar.extractfile(file)) is not None:
                if samples[-1].label is not None:
                    raise ValueError(f"{member.name} is a second label of one image")
                samples[-1].label = _shard_label(member.name, content.read())
    return samples


def _shard_label(name: str, content: bytes) -> int:
    try:
        return integer_label(int(content))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def _labels_without_images(samples: list[_ShardSample]) -> dict[str, int]:
    """By stem: the labels that are not next to their images, as other members lie between them."""
    label_of: dict[str, int] = {}
    for sample in samples:
        if sample.label is not None and not sample.images:
            if sample.stem in label_of:
                raise ValueError(f"{sample.stem} has two labels that are not beside an image")
            label_of[sample.stem] = sample.label
    return label_of
