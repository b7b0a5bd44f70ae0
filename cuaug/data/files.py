"""Sources of encoded images: folders, lists of files, tar shards, or bytes in memory."""

from __future__ import annotations

import glob
import operator
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from .._check import prefix_errors
from .._codecs.limits import MAX_BYTES
from .._host.extension import extension
from .._integers import has_positions
from .._value_text import value_text
from ..typing import AnyArray
from .labels import integer_label
from .path_names import entry_of_path, normal_path
from .shards import Image, read_shards, shard_paths

if TYPE_CHECKING:
    from .._native import EncodedFiles

_Path: TypeAlias = str | os.PathLike[str]
Source: TypeAlias = _Path | Sequence[_Path | bytes] | Sequence[tuple[_Path | bytes, int]]  # of `ImageFiles`
# Of `ImageFiles`: one target for each image, or a dict or a function from its path or index.
TargetSource: TypeAlias = Sequence[Any] | Mapping[Any, Any] | Callable[[Any], Any]
EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".pgm", ".bmp", ".tif", ".tiff", ".webp", ".gif")


class Dataset(Protocol):
    """What a loader reads: :class:`ImageFiles`, or another class with its `read`, `name` and `labels`."""

    @property
    def labels(self) -> Any:
        """For each image a class index, or other real numbers of at most 64 bits; or None. [N, ...]"""
        ...

    def __len__(self) -> int: ...

    def name(self, index: int) -> str:
        """The name of an image in messages."""
        ...

    def read(self, indices: Sequence[int], threads: int) -> Any:
        """The encoded images; a string with the reason replaces an image that cannot be read."""
        ...


class ImageFiles:
    """Encoded images and their labels, a map-style dataset: ``files[i]`` is ``(bytes, label, i)``.

    For a file that cannot be read, a string with the reason replaces the bytes.

    Args:
        source: One of: a folder whose subfolders are classes as in torchvision's ``ImageFolder`` (without subfolders,
            images have no labels); a tar shard, or a list of them, of images with ``.cls`` files beside them that hold
            a label (the WebDataset convention; read in place, uncompressed); a list of paths; a list of ``bytes``; a
            list of ``(path or bytes, label)``.
        labels: One integer for each image, in place of the source's labels. [N]
        targets: What belongs to the images, in place of labels: a sequence with one target for each; a dict from an
            image's path, or the end of it, such as its file name; or a function from its path, a str, which a loader
            calls in the thread that reads. Bytes and images in shards have their index in place of a path. A target is
            an integer, or a dict as torchvision's detection models take: ``boxes`` [B, 4], ``labels`` [B], ``masks``
            [B, H, W], ``keypoints`` [B, P, 2 or 3], and any other entries.
        extensions: File names that count as images in folders and shards.

    Raises:
        FileNotFoundError: A folder or a shard does not exist. (Listed files are opened when they are read.)
        TypeError: The source or the targets are of another type.
        ValueError: There are no images, or not one label or target for each.

    >>> files = ImageFiles([(b"first", 3), (b"second", 5)])
    >>> len(files), files[1]
    (2, (b'second', 5, 1))
    """

    @prefix_errors
    def __init__(
        self,
        source: Source,
        labels: Sequence[int] | AnyArray | None = None,
        *,
        targets: TargetSource | None = None,
        extensions: Sequence[str] = EXTENSIONS,
    ) -> None:
        self.classes: list[str] = []
        if isinstance(extensions, str) or not isinstance(extensions, Iterable):
            raise TypeError(f"extensions must be a list such as ['.jpg', '.png'], got {value_text(extensions)}")
        suffixes = tuple(str(extension).lower() for extension in extensions)
        images: list[Image]
        image_labels: list[int | None]
        if isinstance(source, (str, os.PathLike)) and Path(source).suffix != ".tar":
            images, image_labels, self.classes = _read_folder(Path(source), suffixes)
        elif shards := shard_paths(source):
            images, image_labels = read_shards(shards, suffixes)
        else:
            images, image_labels = _read_list(source)
        if not images:
            raise ValueError(f"source must hold images ({', '.join(suffixes)}), got none from {value_text(source)}")
        if labels is not None:
            given_labels: Any = labels
            if not has_positions(given_labels):  # a set has no order, and a dict would give its keys
                raise TypeError(f"labels must be a list of integers, got {value_text(labels)}")
            image_labels = [integer_label(label) for label in given_labels]
        if targets is not None:
            if labels is not None:
                raise ValueError("labels must not be given beside targets")
            image_labels = [None] * len(images)
        if len(image_labels) != len(images):
            raise ValueError(f"labels must be one for each of {len(images)} images, got {len(image_labels)}")
        if any(label is None for label in image_labels) and any(label is not None for label in image_labels):
            missing = image_labels.index(None)
            raise ValueError(f"labels must be given for all images or for none, image {missing} has none")
        # Paths as bytes: a file name need not be valid text.
        self._images: list[Any] = [
            image if isinstance(image, bytes) else (os.fsencode(image[0]), *image[1:]) for image in images
        ]
        if any(b"\0" in image[0] for image in self._images if not isinstance(image, bytes)):
            raise ValueError("source must hold paths without null characters")
        self.labels: npt.NDArray[np.int64] | None = (
            None if image_labels[0] is None else np.array(image_labels, np.int64)
        )
        self.targets: Sequence[Any] | Callable[[Any], Any] | None = self._checked_targets(targets)

    def __len__(self) -> int:
        return len(self._images)

    def __getitem__(self, index: int) -> tuple[bytes | str, Any, int]:
        index = range(len(self))[operator.index(index)]
        data = self.read([index], 1)[0]
        return (
            data if isinstance(data, bytes) else f"{self.name(index)}: {data}",
            self.target(index),
            index,
        )

    def __repr__(self) -> str:
        classes = f", {len(self.classes)} classes" if self.classes else ""
        return f"ImageFiles({len(self)} images{classes})"

    def name(self, index: int) -> str:
        """The name of an image in messages: its path, in a shard the shard's path and the byte; "image 3" for bytes."""
        image = self._images[index]
        if isinstance(image, bytes):
            return f"image {index}"
        path, offset = os.fsdecode(image[0]), image[1]
        return path if offset == 0 else f"{path} at byte {offset}"

    def target(self, index: int) -> Any:
        """The label or target of an image; None if no image has one. A ValueError if only this one has none."""
        if self.targets is None:
            return None if self.labels is None else int(self.labels[index])
        target = self.targets(self._target_key(index)) if callable(self.targets) else self.targets[index]
        if target is None:
            raise ValueError(_missing_target(self.name(index)))
        return target

    def _target_key(self, index: int) -> str | int:
        """What a function of `targets` is called with: the path, or the index of an image without a file of its own."""
        image = self._images[index]
        return os.fsdecode(image[0]) if not isinstance(image, bytes) and image[2] < 0 else index

    def _checked_targets(self, targets: Any) -> Sequence[Any] | Callable[[Any], Any] | None:
        """A function, or one target for each image; None if no image has one."""
        if targets is None or callable(targets):
            return targets
        if isinstance(targets, Mapping):
            targets = self._targets_of_mapping(targets)
        if isinstance(targets, (str, bytes)) or not hasattr(targets, "__getitem__") or not hasattr(targets, "__len__"):
            raise TypeError(f"targets must be a function, a dict or a sequence, got {type(targets).__name__}")
        if len(targets) != len(self):
            raise ValueError(f"targets must be one for each of {len(self)} images, got {len(targets)}")
        # Sequences of other types are not checked here: they may read a file for each target.
        missing = [i for i, target in enumerate(targets) if target is None] if type(targets) in (list, tuple) else []
        if missing and len(missing) < len(self):
            raise ValueError(_missing_target(self.name(missing[0])))
        result: Sequence[Any] | None = None if missing else targets
        return result

    def _targets_of_mapping(self, targets: Mapping[Any, Any]) -> list[Any]:
        """A target for each image, from a dict by path, by the end of a path, or by index."""
        keys = [self._target_key(i) for i in range(len(self))]
        by_name = {normal_path(os.fspath(key)): key for key in targets if isinstance(key, (str, os.PathLike))}
        entries: list[Any] = []
        for i, key in enumerate(keys):
            entry = entry_of_path(by_name, key) if isinstance(key, str) else key
            if entry is None or entry not in targets:
                rule = "the end of its path, such as the file name," if isinstance(key, str) else "its index"
                given = ", ".join(map(repr, [*targets][:3]))
                raise ValueError(
                    f"targets must have {rule} as a key for each image, not for {self.name(i)}, got {given}"
                )
            entries.append(targets[entry])
        return entries

    def read(self, indices: Sequence[int], threads: int) -> EncodedFiles:
        """Reads images in several threads; a string with the reason replaces an image that cannot be read.

        The result is a sequence that builds a ``bytes`` object only when an item is taken. The decoder reads its memory
        directly.
        """
        files: EncodedFiles = extension().EncodedFiles([self._images[i] for i in indices], MAX_BYTES, threads)
        return files


def checked_dataset(source: Any) -> Dataset:
    """The source of a loader: a dataset of the user's, or one of files."""
    if not hasattr(source, "read"):
        return ImageFiles(source)
    has_targets = getattr(source, "targets", None) is not None
    missing = [name for name in ("name", "labels", "__len__") if not hasattr(source, name)]
    missing += ["target"] if has_targets and not hasattr(source, "target") else []
    if missing:
        rule = "read, name, labels and a length, and target if it has targets"
        raise TypeError(f"source must have {rule}, got one without {', '.join(missing)}")
    if not len(source):
        raise ValueError("source must have samples, got none")
    dataset: Dataset = source
    return dataset


def _missing_target(name: str) -> str:
    return f'targets must be given for all images, got None for {name}: an image without objects has {{"boxes": []}}'


def _read_folder(root: Path, extensions: tuple[str, ...]) -> tuple[list[Image], list[int | None], list[str]]:
    """Images, their labels, and the names of the classes."""
    if not root.is_dir():
        fact = "is another file: pass a list of files" if root.exists() else "does not exist"
        if not root.exists() and glob.has_magic(str(root)):
            fact += f": for a pattern pass the list sorted(glob.glob({str(root)!r}))"
        raise FileNotFoundError(f"source must be a folder or a .tar file, got {str(root)!r}, which {fact}")
    classes = sorted(entry.name for entry in os.scandir(root) if entry.is_dir())
    if not classes:
        files = _images_in(root, extensions)
        return files, [None] * len(files), []
    images: list[Image] = []
    labels: list[int | None] = []
    for label, name in enumerate(classes):
        files = _images_in(root / name, extensions)
        if not files:
            raise ValueError(f"every class must have images ({', '.join(extensions)}), got none in {root / name}")
        images += files
        labels += [label] * len(files)
    return images, labels, classes


def _images_in(root: Path, extensions: tuple[str, ...]) -> list[Image]:
    """The images of a folder and its subfolders, sorted."""
    images: list[Image] = []
    # Device and inode of the folders above each folder. A link to one of them would make the walk endless.
    ancestors: dict[str, frozenset[tuple[int, int]]] = {}
    for folder, subfolders, names in os.walk(root, followlinks=True):
        stat = Path(folder).stat()
        identity = stat.st_dev, stat.st_ino
        folder_ancestors = ancestors.pop(folder, frozenset())
        if identity in folder_ancestors:
            subfolders.clear()
            continue
        subfolders.sort()
        paths = [os.path.join(folder, name) for name in subfolders]  # noqa: PTH118
        ancestors |= dict.fromkeys(paths, folder_ancestors | {identity})
        images += [(f"{folder}/{name}", 0, -1) for name in sorted(names) if name.lower().endswith(extensions)]
    return images


def _read_list(source: Any) -> tuple[list[Image], list[int | None]]:
    """The images of a list of paths, bytes, or pairs with a label."""
    # A dict from path to label would lose its labels, and a set has another order in every process.
    if isinstance(source, (bytes, Mapping, set, frozenset)) or not isinstance(source, Iterable):
        raise TypeError(f"source must be a folder, .tar files, or a list of paths or bytes, got {value_text(source)}")
    images: list[Image] = []
    labels: list[int | None] = []
    for item in source:
        image, label = item if isinstance(item, tuple) and len(item) == 2 else (item, None)
        if isinstance(image, (str, os.PathLike)):
            images.append((os.fspath(image), 0, -1))
        elif isinstance(image, (bytes, bytearray, memoryview)):
            images.append(bytes(image))
        else:
            raise TypeError(f"source must list paths, bytes, or (path or bytes, label), got {value_text(item)}")
        labels.append(None if label is None else integer_label(label))
    return images, labels
