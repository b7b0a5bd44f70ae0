"""The table of filters: parameters, oracle, tolerance."""

import numpy as np

import cuaug
from cuaug import transforms as T
from tables import draws, filter_reference
from tables.recipe import ONE_OP
from tables.row import Row, first_rows, no_parameters
from tables.transform_row import TransformRow


def filter_row(op, draw=no_parameters, options=None, **more):
    return Row(op, draw, options or {}, getattr(filter_reference, op), **more)


def sigma(low, high, *axes):
    """A draw of sigma. Without ``leading`` it gives plain numbers: an array means one sigma per sample."""

    def draw(rng, leading=()):
        values = rng.uniform(low, high, (*leading, *axes))
        return {"sigma": values if leading else values.tolist() if axes else float(values)}

    return draw


def factors(rng, leading=()):
    return {"sharpness_factor": rng.uniform(0, 3, leading)}


def qualities(rng, leading=()):
    values = rng.integers(1, 101, leading)
    return {"quality": values if leading else int(values)}


ROWS = [
    filter_row(
        "adjust_sharpness",
        factors,
        identity={"sharpness_factor": 1.0},
        within_unit_range=True,
        any_channels=True,
        wide_ranges={"sharpness_factor": (0.0, np.inf)},
        rejects={"sharpness_factor": -1.0},
        transforms=(TransformRow(T.RandomAdjustSharpness(2.0, 0.4)),),
    ),
    filter_row(
        "gaussian_blur",
        sigma(0.4, 2.0),
        {"kernel_size": 5},
        identity={"sigma": 1e-3},
        any_channels=True,
        rejects={"sigma": 0.0},
        transforms=(
            TransformRow(
                T.GaussianBlur((3, 5), (0.2, 1.0)),
                draw=draws.gaussian_blur,
                draw_instances=(T.GaussianBlur(5, (0.2, 1.9)),),
                functions=lambda t, images, p, options: cuaug.gaussian_blur(
                    images, t.kernel_size, p["sigma"], **options
                ),
                alone=ONE_OP,
            ),
        ),
    ),
    filter_row("gaussian_blur", sigma(0.4, 2.0, 2), {"kernel_size": (3, 7)}, any_channels=True),
    filter_row("gaussian_blur", options={"kernel_size": (7, 1)}),
    filter_row("gaussian_blur", sigma(2.0, 6.0), {"kernel_size": 23}),  # wider than the image: reflected more than once
    filter_row("gaussian_blur", sigma(9.0, 30.0, 2), {"kernel_size": (127, 125)}),
    filter_row(
        "jpeg",
        qualities,
        tolerance_of={},  # integer arithmetic
        dtypes=("uint8",),
        rejects={"quality": 0},
        channels=(1, 3),
        transforms=(
            TransformRow(
                T.JPEG((5, 95)),
                draw=draws.jpeg,
                functions=lambda t, images, p, options: cuaug.jpeg(images, p["quality"], **options),
                alone={},
            ),
        ),
    ),
]
ROW_OF_OP = first_rows(ROWS)
