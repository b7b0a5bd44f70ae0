"""`coco`: targets from an annotation file in COCO's format."""

from __future__ import annotations

import importlib
import json
import os
from pathlib import Path
from reprlib import repr  # shortens: a value may be long
from typing import Any, TypeVar

import numpy as np

from .. import _check
from .._check import BackendError, prefix_errors
from .._detection.box_formats import XYXYBoxes
from .path_names import checked_path, entry_of_path, normal_path

__all__ = ["CocoTargets", "coco"]

T = TypeVar("T")


class CocoTargets:
    """A function from an image's path to its target, with the names of the classes in `classes`."""

    def __init__(self, path: Path, content: Any, masks: bool) -> None:
        self._path = path
        images, annotations = self._entries(content, "images"), self._entries(content, "annotations")
        categories = self._entries(content, "categories")
        categories.sort(key=lambda pair: self._integer(pair[0], pair[1], "id"))
        self.classes: list[str] = [self._text(*pair, "name") for pair in categories]
        label_of = self._indices(categories, "id", [category["id"] for _, category in categories])
        self._image_ids: list[int] = [self._integer(*pair, "id") for pair in images]
        index_of = self._indices(images, "id", self._image_ids)
        names = [normal_path(self._text(*pair, "file_name")) for pair in images]
        self._index_of_name: dict[str, int] = self._indices(images, "file_name", names)
        self._sizes: list[tuple[int, int]] | None = None
        if masks:
            self._sizes = [(self._extent(*pair, "height"), self._extent(*pair, "width")) for pair in images]
        index = [self._reference(*pair, "image_id", index_of, "an image") for pair in annotations]
        # Arrays of all objects, image after image: worker processes share their memory.
        order = np.argsort(np.array(index, np.int64), kind="stable")
        annotations = [annotations[i] for i in order.tolist()]
        self._starts: np.ndarray = np.searchsorted(np.array(index, np.int64)[order], np.arange(len(images) + 1))
        labels = [self._reference(*pair, "category_id", label_of, "a category") for pair in annotations]
        boxes = np.array([self._box(*pair) for pair in annotations]).reshape(-1, 4)
        boxes[:, 2:] += boxes[:, :2]
        self._objects: dict[str, np.ndarray] = {
            "boxes": boxes.astype(np.float32),
            "labels": np.array(labels, np.int64),
        }
        box_areas = ((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])).tolist()
        areas = [self._number(*pair, "area", area) for pair, area in zip(annotations, box_areas, strict=True)]
        crowds = [self._integer(*pair, "iscrowd", 0) for pair in annotations]
        self._objects |= {"area": np.array(areas, np.float32), "iscrowd": np.array(crowds, np.int64)}
        counts = [self._keypoint_count(*pair) for pair in categories]
        points = max(counts, default=0)
        if points:
            keypoints = np.zeros((len(annotations), 3 * points), np.float32)
            for row, pair, label in zip(keypoints, annotations, labels, strict=True):
                if pair[1].get("keypoints", []) != []:  # some tools write [] for an object without keypoints
                    count = 3 * (counts[label] or points)  # a category without names may have keypoints
                    row[:count] = self._numbers(*pair, "keypoints", count)
            self._objects["keypoints"] = keypoints.reshape(-1, points, 3)
        self._segmentations: list[Any] = [entry.get("segmentation") for _, entry in annotations] if masks else []

    def __call__(self, name: Any) -> dict[str, Any]:
        """The target of the image with this path, in arrays that the caller may change."""
        if not isinstance(name, (str, os.PathLike)):
            raise TypeError(f"coco needs images with a path, got image {repr(name)}")
        index = self._index(os.fspath(name))
        objects = slice(*self._starts[index : index + 2].tolist())
        target: dict[str, Any] = {"image_id": self._image_ids[index]}
        target |= {key: value[objects].copy() for key, value in self._objects.items()}
        target["boxes"] = target["boxes"].view(XYXYBoxes)
        if self._sizes is not None:
            size = self._sizes[index]
            masks = [self._mask(i, size) for i in range(objects.start, objects.stop)]
            target["masks"] = np.array(masks, np.uint8).reshape(-1, *size)
        return target

    def _index(self, name: str) -> int:
        """The image whose `file_name` is the end of the path."""
        index = entry_of_path(self._index_of_name, name)
        if index is None:
            raise ValueError(f"{self._path} has no image {name!r}")
        return index

    def _mask(self, i: int, size: tuple[int, int]) -> np.ndarray:
        """The mask of object `i` of `_segmentations`: polygons, or runs of pixels that may be compressed."""
        coco_masks, value = importlib.import_module("pycocotools.mask"), self._segmentations[i]
        try:
            _check_segmentation(value, size)
            runs = value
            if isinstance(value, list) or isinstance(value["counts"], list):
                runs = coco_masks.frPyObjects(value, *size)
            runs = coco_masks.merge(runs) if isinstance(runs, list) else runs
            mask: np.ndarray = coco_masks.decode(runs)
        except Exception as error:  # pycocotools raises Exception itself
            raise ValueError(f"{self._path} must have polygons or runs as 'segmentation': {error}") from error
        return mask

    def _entries(self, content: Any, key: str) -> list[tuple[str, dict[str, Any]]]:
        """The dicts of a list, each with its place in messages."""
        entries = content.get(key) if isinstance(content, dict) else None
        if not isinstance(entries, list):
            got = repr(entries) if isinstance(content, dict) else repr(content)
            raise ValueError(f"{self._path} must be a dict with the list {key!r}, got {got}")
        for i, entry in enumerate(entries):
            if not isinstance(entry, dict):
                raise ValueError(f"{key}[{i}] of {self._path} must be a dict, got {repr(entry)}")
        return [(f"{key}[{i}]", entry) for i, entry in enumerate(entries)]

    def _indices(self, entries: list[tuple[str, dict[str, Any]]], key: str, values: list[T]) -> dict[T, int]:
        """The index of each value. Raises if two are equal: the first would lose its objects."""
        index_of: dict[T, int] = {}
        for index, value in enumerate(values):
            if index_of.setdefault(value, index) != index:
                (first, _), (place, _) = entries[index_of[value]], entries[index]
                raise self._error(place, key, f"another one than that of {first}", value)
        return index_of

    def _error(self, place: str, key: str, rule: str, value: Any) -> ValueError:
        return ValueError(f"{place}[{key!r}] of {self._path} must be {rule}, got {repr(value)}")

    def _keypoint_count(self, place: str, category: dict[str, Any]) -> int:
        names = category.get("keypoints", [])
        if not isinstance(names, list):
            raise self._error(place, "keypoints", "a list of names", names)
        return len(names)

    def _text(self, place: str, entry: dict[str, Any], key: str) -> str:
        value = entry.get(key)
        if not isinstance(value, str):
            raise self._error(place, key, "a text", value)
        return value

    def _integer(self, place: str, entry: dict[str, Any], key: str, default: int | None = None) -> int:
        value = entry.get(key, default)
        if type(value) is not int or not 0 <= value < 1 << 63:
            raise self._error(place, key, "an integer, at least 0", value)
        return value

    def _extent(self, place: str, entry: dict[str, Any], key: str) -> int:
        value = self._integer(place, entry, key)
        if value == 0:
            raise self._error(place, key, "at least 1", value)
        return value

    def _reference(self, place: str, entry: dict[str, Any], key: str, index_of: dict[int, int], kind: str) -> int:
        value = entry.get(key)
        if type(value) is not int or value not in index_of:
            raise self._error(place, key, f"the id of {kind}", value)
        return index_of[value]

    def _number(self, place: str, entry: dict[str, Any], key: str, default: float) -> float:
        value = entry.get(key, default)
        if not _is_number(value):
            raise self._error(place, key, "a finite number", value)
        return float(value)

    def _numbers(self, place: str, entry: dict[str, Any], key: str, count: int) -> list[float]:
        value = entry.get(key)
        if not isinstance(value, list) or len(value) != count or not all(_is_number(number) for number in value):
            raise self._error(place, key, f"{count} finite numbers", value)
        return [float(number) for number in value]

    def _box(self, place: str, entry: dict[str, Any]) -> list[float]:
        box = self._numbers(place, entry, "bbox", 4)
        if min(box[2:]) < 0:
            raise self._error(place, "bbox", "x, y, width and height, neither of the sizes negative", box)
        return box


def _check_segmentation(value: Any, size: tuple[int, int]) -> None:
    """Refuses what pycocotools decodes wrongly: runs of too few pixels leave the rest of its mask uninitialized."""
    if isinstance(value, list):
        are_polygons = all(
            isinstance(entry, list) and len(entry) >= 6 and len(entry) % 2 == 0 and all(map(_is_coordinate, entry))
            for entry in value
        )
        if not value or not are_polygons:
            raise ValueError("a polygon has x and y of three or more points, numbers in -1e6..1e6")
        return
    if not isinstance(value, dict) or not {"size", "counts"} <= value.keys():
        raise ValueError(f"runs have 'size' and 'counts', got {repr(value)}")
    if [*value["size"]] != [*size]:
        raise ValueError(f"its size is {value['size']}, that of the image {size}")
    counts = value["counts"] if isinstance(value["counts"], list) else _run_lengths(value["counts"])
    if any(type(count) is not int or count < 0 for count in counts) or sum(counts) != size[0] * size[1]:
        raise ValueError(f"the runs must have {size[0] * size[1]} pixels, those of the image")


def _run_lengths(text: str | bytes) -> list[int]:
    """The runs of a compressed mask, 5 bits per character; from the fourth on, differences from the run two before."""
    lengths: list[int] = []
    value = shift = 0
    for character in text.encode() if isinstance(text, str) else text:
        bits = character - 48
        value |= (bits & 31) << shift
        shift += 5
        if shift > 64:
            raise ValueError("a run has at most 64 bits")
        if not bits & 32:  # the last character of a number, whose upper bit is the sign
            value -= (bits & 16) << (shift - 4)
            lengths.append(value + (lengths[-2] if len(lengths) > 2 else 0))
            value = shift = 0
    if shift:
        raise ValueError("the last run has no end")
    return lengths


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < 1e30  # false for NaN


def _is_coordinate(value: Any) -> bool:
    """Whether pycocotools can compute with it: five times the coordinate, in 32 bits."""
    return _is_number(value) and abs(value) <= 1e6


@prefix_errors
def coco(path: str | os.PathLike[str], *, masks: bool = False) -> CocoTargets:
    """Targets of an annotation file of COCO (instances or keypoints), for ``ImageFiles(folder, targets=...)``.

    Args:
        path: The JSON file.
        masks: Give the masks of the objects, too; needs pycocotools.

    Returns:
        A function from an image's path, whose end is a ``file_name``, to a dict of ``boxes`` [B, 4] in the format XYXY,
        not the file's XYWH (float32; a ``Loader`` and a ``Compose`` convert them to the format of ``T.Boxes``; their
        type still states XYXY after arithmetic: convert them by :func:`cuaug.box_convert`),
        ``labels`` [B] (0 for the category with the smallest id, 1 for the next, ...; their names are the function's
        ``classes``), ``area`` [B], ``iscrowd`` [B], ``image_id``, and where there are any, ``keypoints`` [B, P, 3] with
        COCO's visibility (P of the category with the most; others have zeros after theirs) and ``masks`` [B, H, W] of 0
        and 1 (uint8).

    Raises:
        ValueError: The file is not as COCO describes (https://cocodataset.org/#format-data), has two images with
            one id or name or two categories with one id. The function raises it for an image that the file lacks.
        BackendError: `masks` is True, and pycocotools is not installed.

    >>> targets = coco("instances_train2017.json")  # doctest: +SKIP
    >>> loader = Loader(ImageFiles("train2017", targets=targets), 16, recipe)  # doctest: +SKIP
    """
    file = checked_path("path", path)
    if _check.boolean("masks", masks):
        try:
            importlib.import_module("pycocotools.mask")
        except ImportError as error:
            raise BackendError("masks=True needs pycocotools: pip install pycocotools") from error
    try:
        content = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file} must be JSON: {error}") from error
    return CocoTargets(file, content, masks)
