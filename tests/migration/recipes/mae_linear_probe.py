"""MAE: evaluation. Interpolation 3 is Pillow's bicubic."""

import torchvision.transforms as transforms

transform = transforms.Compose(
    [
        transforms.Resize(256, interpolation=3),
        transforms.CenterCrop(224),
        transforms.ToTensor(),
        transforms.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
    ]
)
