"""kornia: the tutorial of data augmentation, as a torch.nn.Sequential."""

import kornia.augmentation as K
import torch

transform = torch.nn.Sequential(
    K.RandomHorizontalFlip(p=0.75),
    K.RandomChannelShuffle(p=0.75),
    K.RandomThinPlateSpline(p=0.75),
)
