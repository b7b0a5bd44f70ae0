"""torchvision with a torch that its compiled operators do not fit: its PyPI wheel with torch for the CPU."""

import functools
import importlib.util
from pathlib import Path

import torch

SCHEMA = "{}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"


@functools.cache
def define_missing_operators():
    """Importing torchvision needs the schemas of two operators, which its extension registers where it loads.

    Returns the library that holds the schemas, None where they are not needed: without torchvision, or with one whose
    extension loads. ``torchvision.transforms.v2`` then works; ``nms``, ``roi_align`` and the codecs do not.
    """
    spec = importlib.util.find_spec("torchvision")
    if spec is None:
        return None
    extensions = [path for folder in spec.submodule_search_locations for path in Path(folder).glob("_C*.so")]
    try:
        for extension in extensions:
            torch.ops.load_library(str(extension))
    except OSError:
        extensions = []
    if extensions:
        return None
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(SCHEMA.format(name))
    return library
