"""`voc`: targets from a folder of annotations in Pascal VOC's format."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePath
from reprlib import repr  # shortens: a value may be long
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

from .._check import prefix_errors
from .._detection.box_formats import XYXYBoxes
from .path_names import checked_path

__all__ = ["VocTargets", "voc"]

# http://host.robots.ox.ac.uk/pascal/VOC/voc2012/
_CLASSES = (
    *("aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow", "diningtable", "dog"),
    *("horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train", "tvmonitor"),
)
_EDGES = ("xmin", "ymin", "xmax", "ymax")


class _Builder(ET.TreeBuilder):
    """Refuses document types, which declare entities: a short file may then expand to gigabytes."""

    def doctype(self, name: str, public_id: str, system_id: str) -> None:
        raise ValueError("must not declare a document type")


class VocTargets:
    """A function from an image's path to its target, with the names of the classes in `classes`."""

    def __init__(self, folder: Path, classes: list[str]) -> None:
        self._folder = folder
        self.classes: list[str] = classes

    def __call__(self, name: Any) -> dict[str, Any]:
        """The target of the image with this path."""
        if not isinstance(name, (str, os.PathLike)):
            raise TypeError(f"voc needs images with a path, got image {repr(name)}")
        path = self._folder / f"{PurePath(name).stem}.xml"
        if not path.is_file():
            raise ValueError(f"{self._folder} has no annotation {path.name!r}")
        try:
            root = ET.fromstring(path.read_bytes(), ET.XMLParser(target=_Builder()))
        except (ET.ParseError, LookupError) as error:
            raise ValueError(f"{path} must be XML: {error}") from error
        except ValueError as error:
            raise ValueError(f"{path} {error}") from error
        if root.tag != "annotation":
            raise ValueError(f"{path} must have the root element 'annotation', got {repr(root.tag)}")
        objects = root.findall("object")
        boxes = np.array([[_edge(path, entry, key) for key in _EDGES] for entry in objects], np.float32).reshape(-1, 4)
        boxes[:, :2] -= 1  # VOC counts pixels from 1, and its boxes hold the last pixel
        return {
            "boxes": boxes.view(XYXYBoxes),
            "labels": np.array([self._label(path, entry) for entry in objects], np.int64),
            "difficult": np.array([_difficult(path, entry) for entry in objects], np.int64),
        }

    def _label(self, path: Path, entry: ET.Element) -> int:
        name = entry.findtext("name")
        if name is None:
            raise ValueError(f"{path} must have a 'name' in each object")
        if name.strip() not in self.classes:
            raise ValueError(f"{path} has the class {repr(name.strip())}, which classes= does not name")
        return self.classes.index(name.strip())


def _edge(path: Path, entry: ET.Element, key: str) -> float:
    text = entry.findtext(f"bndbox/{key}")
    try:
        edge = float(text or "")
    except ValueError:
        edge = math.nan
    if not abs(edge) < 1e30:
        raise ValueError(f"{path} must have numbers as {key!r} of each object, got {repr(text)}")
    return edge


def _difficult(path: Path, entry: ET.Element) -> int:
    text = entry.findtext("difficult", "0").strip()
    if text not in ("0", "1"):
        raise ValueError(f"{path} must have 0 or 1 as 'difficult', got {repr(text)}")
    return int(text)


@prefix_errors
def voc(folder: str | os.PathLike[str], *, classes: Sequence[str] = _CLASSES) -> VocTargets:
    """Targets of a folder of Pascal VOC's XML files, for ``ImageFiles(folder, targets=...)``.

    Args:
        folder: The folder with an ``a.xml`` for each image ``a.jpg``; a file is read when its image is.
        classes: The names of the classes, in the order of their labels; default: VOC's 20 in alphabetical order.

    Returns:
        A function from an image's path to a dict with ``boxes`` [B, 4] in the format XYXY (float32; a ``Loader`` and a
        ``Compose`` convert them to the format of ``T.Boxes``; their type still states XYXY after arithmetic: convert
        them by :func:`cuaug.box_convert`), ``labels`` [B] and ``difficult`` [B], 1 for objects that an evaluation
        ignores. The function raises ValueError for a file that is missing or malformed, or that declares a document
        type.

    Raises:
        FileNotFoundError: The folder does not exist.
        ValueError: Two classes have one name.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> box = "<bndbox><xmin>11</xmin><ymin>21</ymin><xmax>40</xmax><ymax>50</ymax></bndbox>"
    >>> text = f"<annotation><object><name>cat</name>{box}</object></annotation>"
    >>> _ = (folder / "1.xml").write_text(text)
    >>> voc(folder)("photographs/1.jpg")["boxes"].tolist()
    [[10.0, 20.0, 40.0, 50.0]]
    >>> targets = voc("VOC2012/Annotations")  # doctest: +SKIP
    >>> loader = Loader(ImageFiles("VOC2012/JPEGImages", targets=targets), 16, recipe)  # doctest: +SKIP
    """
    path = checked_path("folder", folder)
    # A set has another order in every process, and so would the labels. The values of a dict may be other labels.
    if isinstance(classes, (str, bytes, set, frozenset, Mapping)) or not isinstance(classes, Iterable):
        raise TypeError(f"classes must be a list of names, in the order of their labels, got {repr(classes)}")
    names = list(classes)
    if not all(isinstance(name, str) for name in names) or len({*names}) < len(names):
        raise ValueError(f"classes must be different names, got {repr(names)}")
    if not path.is_dir():
        raise FileNotFoundError(f"folder must exist, got {str(path)!r}")
    return VocTargets(path, names)
