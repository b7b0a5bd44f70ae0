"""LeRobot's image transforms, each with probability 0.5 (LeRobot draws a subset), but sharpness always."""

import torch
from torchvision.transforms import v2


class SharpnessJitter(v2.Transform):
    """Changes the sharpness by a random factor."""

    def __init__(self, sharpness):
        super().__init__()
        self.sharpness = sharpness

    def make_params(self, flat_inputs):
        return {"factor": torch.empty(1).uniform_(*self.sharpness).item()}

    def transform(self, inpt, params):
        return self._call_kernel(v2.functional.adjust_sharpness, inpt, sharpness_factor=params["factor"])


transform = v2.Compose(
    [
        v2.RandomApply([v2.ColorJitter(brightness=(0.8, 1.2))], p=0.5),
        v2.RandomApply([v2.ColorJitter(contrast=(0.8, 1.2))], p=0.5),
        v2.RandomApply([v2.ColorJitter(saturation=(0.5, 1.5))], p=0.5),
        v2.RandomApply([v2.ColorJitter(hue=(-0.05, 0.05))], p=0.5),
        SharpnessJitter((0.5, 1.5)),
        v2.RandomApply([v2.RandomAffine(degrees=(-5.0, 5.0), translate=(0.05, 0.05))], p=0.5),
    ]
)
