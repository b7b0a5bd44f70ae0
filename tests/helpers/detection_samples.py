"""Images with boxes, labels and masks of objects, as detection targets have them."""

import numpy as np
import torch

from helpers.arrays import noise

SIZE = (37, 51)


def boxes(size, count=5, seed=0):
    generator = np.random.default_rng(seed)
    low = np.floor(generator.uniform(0, 0.7, (count, 2)) * np.array(size)[::-1])
    high = np.ceil(low + generator.uniform(0.1, 0.9, (count, 2)) * (np.array(size)[::-1] - low))
    return torch.from_numpy(np.concatenate([low, high], 1).astype(np.float32))


def detection(size=SIZE, seed=0):
    rows = boxes(size, seed=seed)
    masks = torch.from_numpy(noise((len(rows), *size), seed=seed))
    target = {"boxes": rows, "labels": torch.arange(len(rows)), "masks": masks}
    return torch.from_numpy(noise((3, *size), seed=seed + 9)), target
