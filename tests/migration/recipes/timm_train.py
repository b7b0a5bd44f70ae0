"""timm: create_transform(224, is_training=True, interpolation="bicubic"), with torchvision's classes."""

from torchvision import transforms
from torchvision.transforms import InterpolationMode

transform = transforms.Compose(
    [
        transforms.RandomResizedCrop(
            224, scale=(0.08, 1.0), ratio=(3 / 4, 4 / 3), interpolation=InterpolationMode.BICUBIC
        ),
        transforms.RandomHorizontalFlip(p=0.5),
        transforms.ColorJitter(brightness=(0.6, 1.4), contrast=(0.6, 1.4), saturation=(0.6, 1.4)),
        transforms.ToTensor(),
        transforms.Normalize(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)),
    ]
)
