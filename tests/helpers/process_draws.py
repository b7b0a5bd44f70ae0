"""Recipes and datasets for child processes. They are in a module because spawned processes import them by name."""

import itertools
import multiprocessing
import warnings

import numpy as np

from cuaug import transforms as T

IMAGE = np.zeros((2, 2, 3), np.float32)


def recipe(seed=None):
    """A recipe whose result differs for every draw."""
    return T.Compose([T.GaussianNoise(clip=False)], seed=seed)


class RecipeResults:
    """A dataset: each sample is a result of the recipe, as text.

    `options`: which of "ids" and "step" are passed to each call.
    """

    def __init__(self, recipe, options=(), samples=96):
        self.recipe, self.options, self.samples = recipe, options, samples

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        values = {"ids": index, "step": 0}
        return call(self.recipe, {name: values[name] for name in self.options})


def epochs(dataset, generator_seed, count=2, **options):
    """The samples of some epochs of one DataLoader, in the order of the dataset. [count][samples]"""
    import torch
    from torch.utils.data import DataLoader

    multiprocessing.set_forkserver_preload(["torch"])  # workers import cuaug themselves
    warnings.filterwarnings("ignore", "This DataLoader will create")  # more workers than the machine has processors
    generator = torch.Generator().manual_seed(generator_seed)
    loader = DataLoader(dataset, 4, generator=generator, **options)
    return [list(itertools.chain(*loader)) for _ in range(count)]


def call(aug, options):
    """The result of a call, as text."""
    return aug(IMAGE, **options).tobytes().hex()


def pool_results(method, aug):
    """32 results of the recipe, called in four processes."""
    with multiprocessing.get_context(method).Pool(4) as pool:
        return pool.starmap(call, [(aug, {})] * 32, chunksize=1)
