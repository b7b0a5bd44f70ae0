"""A geometry of random displacements, for elastic deformations."""

from __future__ import annotations

from .._arrays.images import BatchAxes, ImageBatch, describe_result
from .filters import gaussian_blur
from .geometry import Geometry, map_geometry
from .parameters import NULL_ARRAY, SampleParameters, StridedArray
from .pointwise import pointwise


def displacement_geometry(
    images: ImageBatch, parameters: SampleParameters, kernel_size: tuple[int, int], sigma: tuple[float, float]
) -> Geometry:
    """Displaces pixels by smoothed uniform noise.

    `parameters`: a table of those of kernels/ops/uniform_noise.cuh. `sigma`: (x, y) of the Gaussian; both 0: not
    smoothed.
    """
    # The kernel reads a pixel before it calls the op, which ignores the pixel. As all strides are 0, it reads the first
    # four bytes of the parameters for every pixel.
    one_pixel = images._replace(
        pointer=parameters.table.pointer,
        dtype="float32",
        axes=BatchAxes("NCHW", (images.samples, 1, 2, *images.size), (0,) * 5, None),
    )
    noise = describe_result(pointwise(one_pixel, ("UniformNoise",), parameters, "float32", None), one_pixel)
    if sigma[0]:
        noise = describe_result(gaussian_blur(noise, kernel_size, SampleParameters(NULL_ARRAY, sigma), None), noise)
    n, _, c, y, x = noise.axes.strides
    maps = [StridedArray(noise.pointer + 4 * c * axis, n, y, x, 0, noise.owner) for axis in range(2)]
    return map_geometry(images, maps[0], maps[1], images.size, (1.0, 1.0), True)
