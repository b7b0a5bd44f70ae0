"""A geometry of random displacements, as elastic deformations use."""

from __future__ import annotations

from .._arrays.images import BatchAxes, ImageBatch, redescribe
from .filters import gaussian_blur
from .geometry import Geometry, map_geometry
from .parameters import NULL_ARRAY, SampleParameters, StridedArray
from .pointwise import pointwise


def displacement_geometry(
    image: ImageBatch, parameters: SampleParameters, window: tuple[int, int], sigma: tuple[float, float]
) -> Geometry:
    """`Grid`: a field for each sample, of noise by `parameters` (kernels/ops/uniform_noise.cuh), which is smoothed."""
    # The op looks at the place alone: any four bytes will do as the pixel that it reads again and again.
    nothing = image._replace(
        pointer=parameters.table.pointer,
        dtype="float32",
        axes=BatchAxes("NCHW", (image.samples, 1, 2, *image.size), (0,) * 5, None),
    )
    field = redescribe(pointwise(nothing, ("UniformNoise",), parameters, "float32", None), nothing)
    if sigma[0]:
        field = redescribe(gaussian_blur(field, window, SampleParameters(NULL_ARRAY, sigma), None), field)
    n, _, c, y, x = field.axes.strides
    maps = [StridedArray(field.pointer + 4 * c * axis, n, y, x, 0, field.owner) for axis in range(2)]
    return map_geometry(image, maps[0], maps[1], image.size, (1.0, 1.0), True)
