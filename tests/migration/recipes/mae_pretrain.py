"""MAE: pre-training. Interpolation 3 is Pillow's bicubic."""

import torchvision.transforms as transforms

transform = transforms.Compose(
    [
        transforms.RandomResizedCrop(224, scale=(0.2, 1.0), interpolation=3),
        transforms.RandomHorizontalFlip(),
        transforms.ToTensor(),
        transforms.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
    ]
)
