"""torchvision's references, classification: MixUp or CutMix of a batch, in the collate function."""

import torch
from torchvision.transforms import v2

mixup_cutmix = v2.RandomChoice(
    [v2.MixUp(alpha=0.2, num_classes=10), v2.CutMix(alpha=1.0, num_classes=10)],
)


def augment(batch):
    images, labels = torch.utils.data.default_collate(batch)
    return mixup_cutmix(images, labels)
