"""RoI pooling as modules: torchvision's classes, which hold the options of a call.

A module created after ``import torch`` is also a ``torch.nn.Module``, without parameters. Arrays of all libraries are
accepted.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from ._arrays import torch_module
from ._check import prefix_errors
from ._detection.roi_options import infer_scales
from ._integers import has_positions
from ._value_text import value_text
from .roi import ps_roi_align, ps_roi_pool, roi_align, roi_pool
from .typing import AnyArray, Array, Size

__all__ = ["MultiScaleRoIAlign", "PSRoIAlign", "PSRoIPool", "RoIAlign", "RoIPool"]

_Module = TypeVar("_Module", bound="_RoIModule")


class _RoIModule:
    """The base of the modules: a ``torch.nn.Module`` if torch is imported; copies, pickling and ``repr``.

    Attributes have the names of the constructor's parameters.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        if torch_module.plain_class(cls) is cls:  # the subclass that torch_module makes has no keywords
            super().__init_subclass__(**kwargs)
        if "forward" in vars(cls) and "__call__" not in vars(cls):  # the inherited `__call__` runs cuaug's `forward`
            type.__setattr__(cls, "__call__", vars(cls)["forward"])

    def __new__(cls: type[_Module], *args: Any, **kwargs: Any) -> _Module:
        return torch_module.new_instance(cls)

    def __reduce__(self) -> Any:
        return torch_module.new_instance, (torch_module.plain_class(type(self)),), dict(vars(self))

    def __repr__(self) -> str:
        names = [name for name in inspect.signature(type(self)).parameters if name in vars(self)]
        return f"{type(self).__name__}({', '.join(f'{name}={vars(self)[name]!r}' for name in names)})"


class RoIAlign(_RoIModule):
    """A module that calls :func:`roi_align`.

    Args:
        output_size: Number of bins, (h, w) or one number for both.
        spatial_scale: Pixels of the map per unit of the boxes.
        sampling_ratio: Samples of a bin along each axis; -1: about one for each pixel.
        aligned: Whether box coordinates start at the map's corner; otherwise at the centre of the first pixel.
        layout: "NCHW" or "NHWC"; default: channels first for torch, otherwise last.

    >>> import numpy as np
    >>> RoIAlign(2, 1.0, 2)(np.ones((1, 8, 8, 3)), np.array([(0, 1, 1, 5, 5.0)])).shape
    (1, 2, 2, 3)
    """

    @prefix_errors
    def __init__(
        self,
        output_size: Size,
        spatial_scale: float,
        sampling_ratio: int,
        aligned: bool = False,
        *,
        layout: Literal["NCHW", "NHWC"] | None = None,
    ) -> None:
        self.output_size: Size = output_size
        self.spatial_scale: float = spatial_scale
        self.sampling_ratio: int = sampling_ratio
        self.aligned: bool = aligned
        self.layout: Literal["NCHW", "NHWC"] | None = layout

    @prefix_errors
    def forward(self, input: Array, rois: AnyArray | Sequence[AnyArray]) -> Array:
        """Pool regions ``rois`` of ``input``: the arguments ``input`` and ``boxes`` of :func:`roi_align`."""
        options = self.output_size, self.spatial_scale, self.sampling_ratio, self.aligned
        return roi_align(input, rois, *options, layout=self.layout)

    __call__ = forward


class RoIPool(_RoIModule):
    """A module that calls :func:`roi_pool`.

    Args:
        output_size: Number of bins, (h, w) or one number for both; a bin outside the map is 0.
        spatial_scale: Pixels of the map per unit of the boxes.
        layout: "NCHW" or "NHWC"; default: channels first for torch, otherwise last.

    >>> import numpy as np
    >>> RoIPool(2, 1.0)(np.ones((1, 8, 8, 3)), np.array([(0, 1, 1, 5, 5.0)])).shape
    (1, 2, 2, 3)
    """

    @prefix_errors
    def __init__(
        self, output_size: Size, spatial_scale: float, *, layout: Literal["NCHW", "NHWC"] | None = None
    ) -> None:
        self.output_size: Size = output_size
        self.spatial_scale: float = spatial_scale
        self.layout: Literal["NCHW", "NHWC"] | None = layout

    @prefix_errors
    def forward(self, input: Array, rois: AnyArray | Sequence[AnyArray]) -> Array:
        """Pool regions ``rois`` of ``input``: the arguments ``input`` and ``boxes`` of :func:`roi_pool`."""
        return roi_pool(input, rois, self.output_size, self.spatial_scale, self.layout)

    __call__ = forward


class PSRoIAlign(_RoIModule):
    """A module that calls :func:`ps_roi_align`.

    Args:
        output_size: Number of bins, (h, w) or one number for both.
        spatial_scale: Pixels of the map per unit of the boxes.
        sampling_ratio: Samples of a bin along each axis; -1: about one for each pixel.
        layout: "NCHW" or "NHWC"; default: channels first for torch, otherwise last.

    >>> import numpy as np
    >>> PSRoIAlign(2, 1.0, 2)(np.ones((1, 8, 8, 12)), np.array([(0, 1, 1, 5, 5.0)])).shape
    (1, 2, 2, 3)
    """

    @prefix_errors
    def __init__(
        self,
        output_size: Size,
        spatial_scale: float,
        sampling_ratio: int,
        *,
        layout: Literal["NCHW", "NHWC"] | None = None,
    ) -> None:
        self.output_size: Size = output_size
        self.spatial_scale: float = spatial_scale
        self.sampling_ratio: int = sampling_ratio
        self.layout: Literal["NCHW", "NHWC"] | None = layout

    @prefix_errors
    def forward(self, input: Array, rois: AnyArray | Sequence[AnyArray]) -> Array:
        """Pool regions ``rois`` of ``input``: the arguments ``input`` and ``boxes`` of :func:`ps_roi_align`."""
        return ps_roi_align(input, rois, self.output_size, self.spatial_scale, self.sampling_ratio, self.layout)

    __call__ = forward


class PSRoIPool(_RoIModule):
    """A module that calls :func:`ps_roi_pool`.

    Args:
        output_size: Number of bins, (h, w) or one number for both; a bin without pixels is 0.
        spatial_scale: Pixels of the map per unit of the boxes.
        layout: "NCHW" or "NHWC"; default: channels first for torch, otherwise last.

    >>> import numpy as np
    >>> PSRoIPool(2, 1.0)(np.ones((1, 8, 8, 12)), np.array([(0, 1, 1, 5, 5.0)])).shape
    (1, 2, 2, 3)
    """

    @prefix_errors
    def __init__(
        self, output_size: Size, spatial_scale: float, *, layout: Literal["NCHW", "NHWC"] | None = None
    ) -> None:
        self.output_size: Size = output_size
        self.spatial_scale: float = spatial_scale
        self.layout: Literal["NCHW", "NHWC"] | None = layout

    @prefix_errors
    def forward(self, input: Array, rois: AnyArray | Sequence[AnyArray]) -> Array:
        """Pool regions ``rois`` of ``input``: the arguments ``input`` and ``boxes`` of :func:`ps_roi_pool`."""
        return ps_roi_pool(input, rois, self.output_size, self.spatial_scale, self.layout)

    __call__ = forward


class MultiScaleRoIAlign(_RoIModule):
    """Pools each box from the level of a feature pyramid that suits its size, in one call of :func:`roi_align`.

    A box of area A belongs to the level ``canonical_level + log2(sqrt(A) / canonical_scale)``, rounded down (Lin et al.
    2017, equation 1) and clamped to the first and last level. The scales of the levels are inferred in each call.

    Args:
        featmap_names: The keys of the maps to pool from.
        output_size: Number of bins, (h, w) or one number for both.
        sampling_ratio: Samples of a bin along each axis; -1: about one for each pixel.
        canonical_scale: Side of a square box that is pooled from the level ``canonical_level``.
        canonical_level: The level for boxes of ``canonical_scale``; 4 is the map of 1/16 of the image's size.
        layout: "NCHW" or "NHWC"; default: channels first for torch, otherwise last.

    >>> import numpy as np
    >>> pyramid = {"fine": np.ones((1, 16, 16, 3)), "coarse": np.ones((1, 8, 8, 3))}
    >>> pooler = MultiScaleRoIAlign(["fine", "coarse"], output_size=2, sampling_ratio=2)
    >>> pooler(pyramid, [np.array([(0, 0, 32, 32.0), (8, 8, 24, 16)])], [(64, 64)]).shape
    (2, 2, 2, 3)
    """

    @prefix_errors
    def __init__(
        self,
        featmap_names: Iterable[str],
        output_size: Size,
        sampling_ratio: int,
        *,
        canonical_scale: float = 224,
        canonical_level: int = 4,
        layout: Literal["NCHW", "NHWC"] | None = None,
    ) -> None:
        if isinstance(featmap_names, str) or not isinstance(featmap_names, Iterable):
            raise TypeError(f"featmap_names must be a list of names, got {value_text(featmap_names)}")
        self.featmap_names: list[str] = list(featmap_names)
        size: Any = output_size  # may be an array, too
        self.output_size: tuple[int, ...] = tuple(size) if has_positions(size) else (size, size)
        self.sampling_ratio: int = sampling_ratio
        self.canonical_scale: float = canonical_scale
        self.canonical_level: int = canonical_level
        self.layout: Literal["NCHW", "NHWC"] | None = layout

    @prefix_errors
    def forward(
        self,
        x: Mapping[str, Array],
        boxes: AnyArray | Sequence[AnyArray],
        image_shapes: Sequence[Sequence[int]],
    ) -> Array:
        """Pool boxes of a pyramid.

        Args:
            x: The levels, from fine to coarse. Those that ``featmap_names`` does not name are left out. [N, C, H, W]
            boxes: Corners, in pixels of the images; one array per image. [[L, 4]]
            image_shapes: (H, W) of each image. The scale of a level is the power of two nearest to the height of the
                level / the height of the tallest image.

        Returns:
            [K, C, h, w]
        """
        if not isinstance(x, Mapping):
            raise TypeError(f"x must be a dict of maps by name, got {type(x).__name__}")
        levels = [x[name] for name in x if name in self.featmap_names]
        if not levels:
            raise ValueError(f"x must have one of the maps {self.featmap_names}, got {[*x]}")
        scales = infer_scales(levels, image_shapes, self.layout)
        return roi_align(
            levels,
            boxes,
            self.output_size,
            scales,
            self.sampling_ratio,
            layout=self.layout,
            canonical_size=self.canonical_scale,
            canonical_level=self.canonical_level,
        )

    __call__ = forward
