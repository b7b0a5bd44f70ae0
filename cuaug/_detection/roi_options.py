"""The options of RoI pooling, checked."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import _check
from .._arrays.registry import library_of
from .._integers import has_positions
from .._program.detection_records import MAX_LEVELS
from .feature_maps import AXES


class PoolingOptions(NamedTuple):
    output_size: tuple[int, int]
    scales: tuple[float, ...]  # of the levels
    sampling_ratio: int  # points of a bin along each axis; 0: about one for each pixel
    aligned: bool
    kind: str  # "avg" or "max" of roi_align; "pixel_max": roi_pool; "ps_avg": ps_roi_align; "pixel_avg": ps_roi_pool
    layout: str
    min_areas: tuple[float, ...]  # of the regions of each level

    @property
    def is_max(self) -> bool:
        return self.kind in ("max", "pixel_max")

    @property
    def is_position_sensitive(self) -> bool:
        """Whether channel c of bin i is pooled from channel ``c * bins + i``."""
        return self.kind in ("ps_avg", "pixel_avg")

    @property
    def input_channels(self) -> int:
        """Channels of the input for each channel of the result."""
        rows, columns = self.output_size
        return rows * columns if self.is_position_sensitive else 1


def as_lists(features: Any, spatial_scale: Any, output_size: Any) -> tuple[list[Any], list[Any], Any]:
    """Levels, their scales and the output size (H, W), each of which may be given as one value."""
    levels = list(features) if isinstance(features, (list, tuple)) else [features]
    scales = list(spatial_scale) if isinstance(spatial_scale, (list, tuple)) else [spatial_scale]
    return levels, scales, output_size if has_positions(output_size) else (output_size, output_size)


def layout_of(features: Any, layout: str | None) -> str:
    """The layout of a feature map. None: that of its library."""
    library = library_of(type(features))
    if library is None:
        raise TypeError(f"input must be an array of torch, cupy, numpy or jax, got {type(features).__name__}")
    if layout is None:
        layout = "NCHW" if library.channels_first else "NHWC"
    _check.one_of("layout", layout, tuple(AXES))
    return layout


def infer_scales(levels: Sequence[Any], image_shapes: Sequence[Sequence[int]], layout: str | None) -> list[float]:
    """The scale of each level of a pyramid: the power of two nearest to its height over that of the tallest image."""
    if len(image_shapes) == 0:  # not `not`: it may be an array
        raise ValueError("image_shapes must have an entry (H, W) for each image, got none")
    image_height = max(_check.size("image_shapes", shape)[0] for shape in image_shapes)
    for level in levels:
        layout_of(level, layout)  # refuses what is no array
        if len(level.shape) != 4 or 0 in level.shape[1:]:
            raise ValueError(f"input must be levels of four axes, with pixels, got one of shape {tuple(level.shape)}")
    heights = [level.shape[layout_of(level, layout).index("H")] for level in levels]
    return [2.0 ** round(math.log2(height / image_height)) for height in heights]


def pooling_options(
    levels: Sequence[Any], output_size: Any, scales: Sequence[Any], sampling_ratio: int, aligned: bool, kind: str,
    layout: str | None, canonical_size: float, canonical_level: int,
) -> PoolingOptions:  # fmt: skip
    if not 1 <= len(levels) <= MAX_LEVELS:
        raise ValueError(f"input must be one array, or 1 to {MAX_LEVELS} levels, got {len(levels)}")
    if len(scales) != len(levels):
        raise ValueError(f"spatial_scale must have an entry for each of {len(levels)} levels, got {len(scales)}")
    for scale in scales:
        _check.number("spatial_scale", scale, 1e-30, 1e30)
    _check.number("canonical_size", canonical_size, 1e-30, 1e30)
    size = _check.size("output_size", output_size)
    if size[0] * size[1] >= 1 << 31:
        raise ValueError(f"output_size must have fewer than 2**31 bins, got {size}")
    return PoolingOptions(
        size,
        tuple(float(scale) for scale in scales),
        max(_check.integer("sampling_ratio", sampling_ratio, -1, (1 << 31) - 1), 0),
        _check.boolean("aligned", aligned),
        kind,
        layout_of(levels[0], layout),
        _min_areas(scales, canonical_size, _check.integer("canonical_level", canonical_level, 0)),
    )


def _min_areas(scales: Sequence[float], canonical_size: float, canonical_level: int) -> tuple[float, ...]:
    """The area at which each level begins (Lin et al. 2017, equation 1), with torchvision's epsilon (LevelMapper)."""
    if len(scales) == 1:
        return (0.0,)
    levels = [-math.log2(scale) for scale in scales]
    if any(coarse - fine < 1e-6 for fine, coarse in itertools.pairwise(levels)):
        raise ValueError(
            f"spatial_scale must become smaller from level to level, as the maps of a pyramid do, got {list(scales)}"
        )
    return tuple((canonical_size * 2 ** (level - canonical_level - 1e-6)) ** 2 for level in levels)
