"""Where encoded images come from: folders, lists of files, tar shards, or bytes that the caller has."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._check import prefix_errors
from .._codecs import limits as _limits
from .._host import extension as _cpu

if TYPE_CHECKING:
    from .._native import EncodedFiles

EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".pgm", ".bmp", ".tif", ".tiff", ".webp", ".gif")


class ImageFiles:
    """Encoded images and their labels, a map-style dataset: ``files[i]`` is ``(bytes, label, i)``.

    Instead of bytes, a string says why a file cannot be read.

    Args:
        source: One of: a folder, whose folders are classes as in torchvision's ``ImageFolder`` (one without folders has
            no labels); a tar shard, or a list of them, of images with ``.cls`` files beside them that hold a label
            (the WebDataset convention; read in place, uncompressed); a list of paths; a list of ``bytes``; a list of
            ``(path or bytes, label)``.
        labels: One integer for each image, where the source brings none. [N]
        extensions: What counts as an image in folders and shards.

    Raises:
        FileNotFoundError: A folder or a shard is not there. (Whether each listed file can be read is known when it is.)
        ValueError: There are no images, or not one label for each.

    >>> files = ImageFiles([(b"first", 3), (b"second", 5)])
    >>> len(files), files[1]
    (2, (b'second', 5, 1))
    """

    @prefix_errors("cuaug")
    def __init__(self, source: Any, labels: Any = None, *, extensions: Sequence[str] = EXTENSIONS) -> None:
        self.classes: list[str] = []
        found: list[Any]
        own: list[int | None]
        if isinstance(source, (str, os.PathLike)) and Path(source).suffix != ".tar":
            found, own, self.classes = _folder(Path(source), tuple(extensions))
        elif shards := _shards(source):
            found, own = _members(shards, tuple(extensions))
        else:
            found, own = _listed(source)
        if not found:
            raise ValueError(f"source must hold images ({', '.join(extensions)}), got none from {_short(source)}")
        if labels is not None:
            own = [int(label) for label in labels]
        if len(own) != len(found):
            raise ValueError(f"labels must be one for each of {len(found)} images, got {len(own)}")
        if any(label is None for label in own) and any(label is not None for label in own):
            missing = own.index(None)
            raise ValueError(f"labels must be given for all images or for none, image {missing} has none")
        # Encoded data, or where they are: (path, offset, bytes or -1). Names may be no text, so paths are bytes.
        self._pieces: list[Any] = [
            each if isinstance(each, bytes) else (os.fsencode(each[0]), *each[1:]) for each in found
        ]
        if any(b"\0" in each[0] for each in self._pieces if not isinstance(each, bytes)):
            raise ValueError("source must hold paths without null characters")
        self.labels = None if own[0] is None else np.array(own, np.int64)

    def __len__(self) -> int:
        return len(self._pieces)

    def __getitem__(self, index: int) -> tuple[bytes | str, int | None, int]:
        index = range(len(self))[index]
        data = self.read([index], 1)[0]
        return (
            data if isinstance(data, bytes) else f"{self.name(index)}: {data}",
            None if self.labels is None else int(self.labels[index]),
            index,
        )

    def __repr__(self) -> str:
        classes = f", {len(self.classes)} classes" if self.classes else ""
        return f"ImageFiles({len(self)} images{classes})"

    def name(self, index: int) -> str:
        """What messages call an image: its path."""
        piece = self._pieces[index]
        if isinstance(piece, bytes):
            return f"image {index}"
        path, offset = os.fsdecode(piece[0]), piece[1]
        return path if offset == 0 else f"{path} at byte {offset}"

    def read(self, indices: Sequence[int], threads: int) -> EncodedFiles:
        """Encoded images, by several threads; a string instead says why one cannot be read.

        What holds them makes bytes of those that are asked for alone: a loader has its decoder read them as they are.
        """
        found: EncodedFiles = _cpu.extension().EncodedFiles(
            [self._pieces[i] for i in indices], _limits.MAX_BYTES, threads
        )
        return found


def _folder(root: Path, extensions: tuple[str, ...]) -> tuple[list[Any], list[int | None], list[str]]:
    if not root.is_dir():
        raise FileNotFoundError(f"source must be a folder or a .tar file, got {str(root)!r}")
    classes = sorted(entry.name for entry in os.scandir(root) if entry.is_dir())
    if not classes:
        files = _images_in(root, extensions)
        return files, [None] * len(files), []
    found: list[Any] = []
    labels: list[int | None] = []
    for label, name in enumerate(classes):
        files = _images_in(root / name, extensions)
        if not files:
            raise ValueError(f"every class must have images ({', '.join(extensions)}), got none in {root / name}")
        found += files
        labels += [label] * len(files)
    return found, labels, classes


def _images_in(folder: Path, extensions: tuple[str, ...]) -> list[tuple[str, int, int]]:
    """Of a folder and those in it, sorted."""
    found = []
    above: dict[str, frozenset[tuple[int, int]]] = {}  # folders that a link must not lead back to
    for place, folders, names in os.walk(folder, followlinks=True):
        own = Path(place).stat()
        seen = above.pop(place, frozenset())
        if (own.st_dev, own.st_ino) in seen:
            folders.clear()
            continue
        folders.sort()
        above |= {os.path.join(place, name): seen | {(own.st_dev, own.st_ino)} for name in folders}  # noqa: PTH118
        found += [(f"{place}/{name}", 0, -1) for name in sorted(names) if name.lower().endswith(extensions)]
    return found


def _shards(source: Any) -> list[str]:
    sources = [source] if isinstance(source, (str, os.PathLike)) else source
    if not isinstance(sources, Sequence) or not sources or isinstance(sources, bytes):
        return []
    names = [os.fspath(each) if isinstance(each, (str, os.PathLike)) else "" for each in sources]
    return names if all(name.endswith(".tar") for name in names) else []


def _members(shards: Sequence[str], extensions: tuple[str, ...]) -> tuple[list[Any], list[int | None]]:
    """The images in tar files, and the labels beside them."""
    found: list[Any] = []
    labels: list[int | None] = []
    for shard in shards:
        beside: dict[str, int] = {}
        images: list[tuple[str, tuple[str, int, int]]] = []
        try:
            with tarfile.open(shard, "r:") as tar:
                for member in tar:
                    folder, slash, name = member.name.rpartition("/")
                    stem, _, extension = name.partition(".")
                    stem, extension = folder + slash + stem, extension.lower()
                    if not member.isfile() or name.startswith("._"):  # what macOS adds
                        continue
                    if name.lower().endswith(extensions):
                        images.append((stem, (shard, member.offset_data, member.size)))
                    elif extension == "cls" and (file := tar.extractfile(member)) is not None:
                        beside[stem] = int(file.read())
        except (tarfile.TarError, ValueError) as error:
            raise ValueError(f"{shard} must be an uncompressed tar file of images and .cls labels: {error}") from error
        found += [piece for _, piece in images]
        labels += [beside.get(stem) for stem, _ in images]
    return found, labels


def _listed(source: Any) -> tuple[list[Any], list[int | None]]:
    if isinstance(source, bytes) or not isinstance(source, Iterable):
        raise TypeError(f"source must be a folder, .tar files, or a list of paths or bytes, got {_short(source)}")
    found: list[Any] = []
    labels: list[int | None] = []
    for each in source:
        image, label = each if isinstance(each, tuple) and len(each) == 2 else (each, None)
        if isinstance(image, (str, os.PathLike)):
            found.append((os.fspath(image), 0, -1))
        elif isinstance(image, (bytes, bytearray, memoryview)):
            found.append(bytes(image))
        else:
            raise TypeError(f"source must list paths, bytes, or (path or bytes, label), got {_short(each)}")
        labels.append(None if label is None else int(label))
    return found, labels


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 80 else f"{text[:77]}..."
