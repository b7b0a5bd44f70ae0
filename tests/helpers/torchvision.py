"""Makes torchvision importable where its extension does not load: its CUDA wheel of PyPI beside torch for the CPU."""

import functools
import importlib.util
from pathlib import Path

import torch

SCHEMA = "{}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"


@functools.cache
def define_missing_operators():
    """Define the schemas of two operators that ``import torchvision`` needs, unless its extension registers them.

    ``torchvision.transforms.v2`` then works; ``nms``, ``roi_align`` and the codecs do not. Returns the library that
    holds the schemas, which vanish with it; None without torchvision, or where its extension loads.
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
