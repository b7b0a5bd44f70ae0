"""`Collate`: its warning that all epochs have the same draws, its copies, and what its samples may hold."""

import copy
import io
import pickle
import warnings

import numpy as np
import pytest
from helpers.compare import assert_equal

from cuaug import transforms as T
from cuaug.data import Collate, ImageFiles

torch_data = pytest.importorskip("torch.utils.data")
pytestmark = pytest.mark.jpeg


def as_floats(images):
    return images.float()


# Whether the draws of a recipe depend on the epoch. Each has a transform that is not fused.
UNFUSED = {
    "a drawn size": ([T.RandomZoomOut(), T.Resize((8, 8))], True),
    "a crop after a drawn size": ([T.Resize(8), T.RandomShortestSize([64]), T.RandomCrop(32)], True),
    "a choice": ([T.Resize((8, 8)), T.RandomApply([as_floats, T.ToDtype(np.uint8)])], True),
    "a flip after a function": ([T.Resize((8, 8)), as_floats, T.RandomVerticalFlip()], True),
    "a function": ([T.Resize((8, 8)), T.ToPureTensor()], False),
    "padding": ([T.Resize((8, 8)), T.PadBatch()], False),
    "a function that changes the dtype": ([T.Resize((8, 8)), as_floats, T.Normalize([99.0], [50.0])], False),
}


@pytest.mark.parametrize("name", UNFUSED)
def test_collate_without_epoch_warns_if_unfused_recipe_is_random(files, name):
    recipe, is_random = UNFUSED[name]
    samples = [(data, None, i) for i, (data, _) in enumerate(files[:3])]
    collate = Collate(recipe, seed=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        first, second = collate(samples).images, collate(samples).images
    assert_equal(first, second)
    assert [entry.category for entry in caught] == [RuntimeWarning] * is_random
    assert all("no epoch is set" in str(entry.message) for entry in caught)


COPIES = {"deepcopy": copy.deepcopy, "pickle": lambda collate: pickle.loads(pickle.dumps(collate))}


@pytest.mark.alone
@pytest.mark.filterwarnings("ignore:.*fork")  # JAX, if another test has imported it, warns of its threads
@pytest.mark.parametrize("name", COPIES)
def test_collate_set_epoch_of_a_copy_reaches_running_workers(files, name):
    collate = COPIES[name](Collate([T.RandomResizedCrop(16)], seed=0))
    source = ImageFiles([data for data, _ in files[:4]])
    options = {"num_workers": 1, "persistent_workers": True, "multiprocessing_context": "fork"}
    loader = torch_data.DataLoader(source, 4, collate_fn=collate, **options)
    results = []
    for epoch in range(2):
        collate.set_epoch(epoch)
        results += [batch.images for batch in loader]
        assert_equal(results[-1], collate([source[i] for i in range(4)]).images)
    assert not (results[0] == results[1]).all()


@pytest.mark.parametrize(
    "kind",
    [
        bytearray,
        memoryview,
        lambda data: memoryview(data + data)[: len(data)],
        lambda data: memoryview(np.repeat(np.frombuffer(data, np.uint8), 2))[::2],
    ],
)
@pytest.mark.parametrize("format", ["JPEG", "PNG"])
def test_collate_takes_buffers(files, kind, format):
    from PIL import Image

    data, collate = files[0][0], Collate([T.Resize((8, 8))], seed=0)
    if format == "PNG":
        stream = io.BytesIO()
        Image.open(io.BytesIO(data)).save(stream, "PNG")
        data = stream.getvalue()
    assert_equal(collate([(kind(data), None, 0)]).images, collate([(data, None, 0)]).images)
