"""RoIAlign, RoIPool, PSRoIAlign, PSRoIPool and MultiScaleRoIAlign equal their functions, with and without torch."""

import copy
import pickle

import numpy as np
import pytest
import torch
from helpers.arrays import every_backend, put, seeded
from helpers.child_process import python
from helpers.compare import assert_equal, describe
from helpers.regions import ROIS, TOLERANCE, in_layout, maps, pyramid
from tables import detection as reference_ops

import cuaug
from cuaug import ops

OPTIONS = {"output_size": (3, 2), "spatial_scale": 0.5}
MODULES = {
    "RoIAlign": (ops.RoIAlign((3, 2), 0.5, 2, True), cuaug.roi_align, {"sampling_ratio": 2, "aligned": True}),
    "RoIPool": (ops.RoIPool((3, 2), 0.5), cuaug.roi_pool, {}),
    "PSRoIPool": (ops.PSRoIPool((3, 2), 0.5), cuaug.ps_roi_pool, {}),
    "PSRoIAlign": (ops.PSRoIAlign((3, 2), 0.5, 2), cuaug.ps_roi_align, {"sampling_ratio": 2}),
}
LEVELS, LEVEL_ROIS = pyramid()
NAMES = ["0", "1", "2", "3"]
IMAGE_SHAPES = [(256, 192), (200, 250)]
POOLER = ops.MultiScaleRoIAlign(NAMES, 3, 2)


@every_backend
@pytest.mark.parametrize("name", MODULES)
def test_roi_modules_equal_their_functions(name, backend):
    module, function, options = MODULES[name]
    shape = (2, 18, 12, 9) if backend[0] == "torch" else (2, 12, 9, 18)  # channels for 3 x 2 bins of the PS modules
    features, rois = put(maps(shape=shape), backend, "float32"), put(ROIS, backend, "float32")
    expected = function(features, rois, **OPTIONS, **options)
    assert_equal(module(features, rois), expected)
    assert_equal(module.forward(input=features, rois=rois), expected)


def test_roi_modules_take_a_layout():
    features = maps(shape=(2, 6, 12, 9))
    for module in (ops.RoIAlign(2, 1.0, 2, layout="NCHW"), ops.RoIPool(2, 1.0, layout="NCHW")):
        assert module(features, ROIS).shape == (len(ROIS), 6, 2, 2)
    pooler = ops.MultiScaleRoIAlign(["fine"], 2, 2, layout="NCHW")
    assert pooler({"fine": features}, [ROIS[:, 1:], ROIS[:, 1:]], [(48, 36)]).shape == (2 * len(ROIS), 6, 2, 2)


@pytest.mark.parametrize("name", [*MODULES, "MultiScaleRoIAlign"])
def test_roi_modules_are_torch_modules(name):
    module = POOLER if name == "MultiScaleRoIAlign" else MODULES[name][0]
    assert isinstance(module, torch.nn.Module)
    assert isinstance(module, getattr(ops, name))
    assert type(module).__name__ == name
    assert not torch.nn.Sequential(module).state_dict()
    assert repr(module).startswith(f"{name}(")
    copies = copy.deepcopy(module), pickle.loads(pickle.dumps(module)), eval(repr(module), vars(ops))
    for other in copies:
        assert isinstance(other, torch.nn.Module)
        assert repr(other) == repr(module)


def test_roi_modules_run_hooks():
    module, results = ops.RoIPool(2, 1.0), []
    module.register_forward_hook(lambda _, inputs, output: results.append((inputs, output)))
    features, rois = torch.from_numpy(maps()), torch.from_numpy(ROIS)
    output = module(features, rois)
    assert results == [((features, rois), output)]


class Doubled(ops.RoIPool):
    def __init__(self, output_size, spatial_scale, name="doubled"):
        super().__init__(output_size, spatial_scale)

    def forward(self, input, rois):
        return 2 * super().forward(input, rois)


class Shifted(Doubled):
    def forward(self, input, rois):
        return 1 + super().forward(input, rois)


def test_roi_modules_call_the_forward_of_a_subclass():
    features, rois = torch.from_numpy(maps()), torch.from_numpy(ROIS)
    pooled = ops.RoIPool(2, 1.0)(features, rois)
    for cls, expected in ((Doubled, 2 * pooled), (Shifted, 1 + 2 * pooled)):
        module, results = cls(2, 1.0), []
        module.register_forward_hook(lambda _, inputs, output, results=results: results.append(output))
        assert_equal(module(features, rois), expected)
        assert len(results) == 1
        assert repr(module) == f"{cls.__name__}(output_size=2, spatial_scale=1.0)"


def test_roi_modules_do_not_need_torch():
    program = """
import sys, copy, pickle
import numpy as np
from cuaug import ops
features, rois = np.ones((1, 8, 8, 4)), np.array([(0, 1, 1, 5, 5.0)])
module = ops.PSRoIAlign(2, 1.0, 2)
assert module(features, rois).shape == (1, 2, 2, 1) and "torch" not in sys.modules

class Named(ops.PSRoIAlign):
    def forward(self, input, rois):
        return "named"

assert Named(2, 1.0, 2)(features, rois) == "named"
written = pickle.dumps(module)
import torch
assert not isinstance(module, torch.nn.Module)
for later in (copy.deepcopy(module), pickle.loads(written)):
    assert isinstance(later, torch.nn.Module)
    assert later(torch.ones(1, 4, 8, 8), torch.from_numpy(rois)).shape == (1, 1, 2, 2)
print("done")
"""
    assert python(program)[0] == "done"


def split_by_sample(rois):
    """A list with the boxes of each sample, and the indices of the regions in the order of the list."""
    order = np.argsort(rois[:, 0], kind="stable")
    return [rois[rois[:, 0] == n, 1:] for n in range(2)], order


@every_backend
def test_multi_scale_roi_align_pools_from_the_level_of_each_box(backend):
    layout = "NCHW" if backend[0] == "torch" else "NHWC"
    boxes, order = split_by_sample(LEVEL_ROIS)
    levels = {
        name: put(in_layout(level, layout), backend, "float32") for name, level in zip(NAMES, LEVELS, strict=True)
    }
    actual = POOLER(
        {"unused": levels["3"], **levels}, [put(sample, backend, "float32") for sample in boxes], IMAGE_SHAPES
    )
    library, device, dtype = describe(levels["0"])
    expected, used = [], set()
    for roi in LEVEL_ROIS[order]:
        level = reference_ops.roi_level(roi[1:], len(LEVELS))
        features = LEVELS[level].astype(np.float32).astype(float)
        bins = reference_ops.roi_bins(roi[1:].tolist(), (3, 3), features.shape[2:], 0.25 / 2**level, 2)
        expected.append(reference_ops.pooled(features[int(roi[0])], bins, "avg"))
        used.add(level)
    assert used == {0, 1, 2, 3}
    expected = in_layout(np.stack(expected), layout)
    assert_equal(actual, expected, library=library, device=device, dtype=dtype, tolerance=TOLERANCE["float32"])


def test_multi_scale_roi_align_pools_boxes_of_a_missing_level_from_the_finer_one():
    """Levels of 1/8 and 1/32: a box of 224 pixels belongs to 1/16, the next finer is 1/8."""
    levels = {"fine": torch.full((1, 1, 64, 64), 8.0), "coarse": torch.full((1, 1, 16, 16), 32.0)}
    sizes = [50, 200, 300, 440, 460, 900]
    boxes = torch.tensor([(0.0, 0, size, size) for size in sizes])
    actual = ops.MultiScaleRoIAlign([*levels], 1, 1)(levels, [boxes], [(512, 512)])
    assert actual.ravel().tolist() == [8, 8, 8, 8, 32, 32]


def test_multi_scale_roi_align_infers_scales_from_the_tallest_image():
    """A map of 23 rows of an image of 100 has the scale 1/4."""
    features, boxes = seeded("scales").normal(0, 1, (2, 1, 23, 40)), [ROIS[:, 1:] * 4] * 2
    pooler = ops.MultiScaleRoIAlign(["0"], 2, 2, layout="NCHW")
    expected = cuaug.roi_align(features, boxes, 2, 0.25, 2, layout="NCHW")
    assert_equal(pooler({"0": features}, boxes, [(80, 60), (100, 90)]), expected)
    assert not np.array_equal(pooler({"0": features}, boxes, [(200, 60), (100, 90)]), expected)


def test_multi_scale_roi_align_takes_names_once_and_shapes_in_an_array():
    """Names may be an iterator. A text is refused: it would name each map whose name is a part of it."""
    levels, boxes = {"fine": torch.ones(1, 1, 8, 8), "finest": torch.ones(1, 1, 16, 16)}, [torch.ones(1, 4)]
    pooler = ops.MultiScaleRoIAlign(iter(["fine"]), 2, 2)
    for shapes in ([(64, 64)], np.array([(64, 64)]), torch.tensor([(64, 64)])):
        assert pooler(levels, boxes, shapes).shape == (1, 1, 2, 2)
    for names in ("finest", None):
        with pytest.raises(TypeError, match=r"^cuaug\.MultiScaleRoIAlign: featmap_names must be a list of names"):
            ops.MultiScaleRoIAlign(names, 2, 2)


@pytest.mark.parametrize("size", [np.array([2, 3]), torch.tensor([2, 3]), [2, 3]], ids=["numpy", "torch", "list"])
def test_multi_scale_roi_align_takes_output_size_in_an_array(size):
    pooler = ops.MultiScaleRoIAlign(["0"], size, 1)
    assert pooler({"0": torch.ones(1, 1, 64, 64)}, [torch.ones(4, 4)], [(256, 256)]).shape == (4, 1, 2, 3)


def test_multi_scale_roi_align_takes_canonical_scale_and_level():
    levels = {"0": torch.full((1, 1, 64, 64), 4.0), "1": torch.full((1, 1, 32, 32), 8.0)}
    boxes = [torch.tensor([(0.0, 0, size, size) for size in (55, 57, 111, 113)])]
    options = {"canonical_scale": 56, "canonical_level": 3}
    for pooler_options, expected in (({}, [4, 4, 4, 8]), (options, [4, 8, 8, 8])):
        pooler = ops.MultiScaleRoIAlign(["0", "1"], (1, 1), 1, **pooler_options)
        assert pooler(levels, boxes, [(256, 256)]).ravel().tolist() == expected
    assert pooler.output_size == (1, 1)
    assert ops.MultiScaleRoIAlign(["0"], 7, 2).output_size == (7, 7)


@pytest.mark.parametrize(
    ("message", "call"),
    [
        (r"x must have one of the maps \['a'\], got", lambda m: ops.MultiScaleRoIAlign(["a"], 2, 2)({"0": m}, [], [])),
        ("image_shapes must have an entry", lambda m: ops.MultiScaleRoIAlign(["0"], 2, 2)({"0": m}, [ROIS], [])),
        ("image_shapes must be", lambda m: ops.MultiScaleRoIAlign(["0"], 2, 2)({"0": m}, [ROIS], [5])),
        ("must become smaller", lambda m: ops.MultiScaleRoIAlign([*"01"], 2, 2)({"0": m, "1": m}, [ROIS], [(64, 64)])),
        ("input must be an array", lambda m: ops.MultiScaleRoIAlign(["0"], 2, 2)({"0": [1]}, [ROIS], [(64, 64)])),
        ("x must be a dict of maps by name, got list$", lambda m: ops.MultiScaleRoIAlign(["0"], 2, 2)([m], [], [])),
        ("sampling_ratio must be", lambda m: ops.RoIAlign(2, 1.0, -2)(m, ROIS)),
        ("channels, got 21", lambda m: ops.PSRoIAlign(2, 1.0, 2, layout="NCHW")(m, ROIS)),
    ],
)  # fmt: skip
def test_roi_modules_reject_invalid_arguments(message, call):
    with pytest.raises((TypeError, ValueError), match=r"^cuaug\.[\w.]+: .*" + message):
        call(maps())


class Tagged:
    """A mixin whose subclasses take a class keyword."""

    def __init_subclass__(cls, tag=None):
        cls.tag = tag


class TaggedPool(ops.RoIPool, Tagged, tag=3):
    pass


def test_roi_modules_subclass_with_other_bases_initialises_them():
    assert (TaggedPool.tag, TaggedPool(2, 1.0).tag) == (3, 3)
