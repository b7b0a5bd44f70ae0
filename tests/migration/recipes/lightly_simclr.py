"""lightly: a view of SimCLR, with the defaults for 224 pixels."""

import torchvision.transforms as T

color_jitter = T.ColorJitter(0.8, 0.8, 0.8, 0.2)
transform = T.Compose(
    [
        T.RandomResizedCrop(size=224, scale=(0.08, 1.0)),
        T.RandomHorizontalFlip(p=0.5),
        T.RandomVerticalFlip(p=0.0),
        T.RandomApply([color_jitter], p=0.8),
        T.RandomGrayscale(p=0.2),
        T.RandomApply([T.GaussianBlur(kernel_size=23, sigma=(0.1, 2.0))], p=0.5),
        T.ToTensor(),
        T.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
    ]
)
