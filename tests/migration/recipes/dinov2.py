"""DINOv2: the second global crop, in nested Composes: geometry, colours, blur and solarization, normalization."""

from torchvision import transforms

geometric = transforms.Compose(
    [
        transforms.RandomResizedCrop(224, scale=(0.32, 1.0), interpolation=transforms.InterpolationMode.BICUBIC),
        transforms.RandomHorizontalFlip(p=0.5),
    ]
)
color_jittering = transforms.Compose(
    [
        transforms.RandomApply(
            [transforms.ColorJitter(brightness=0.4, contrast=0.4, saturation=0.2, hue=0.1)],
            p=0.8,
        ),
        transforms.RandomGrayscale(p=0.2),
    ]
)
solarize = transforms.Compose(
    [
        transforms.RandomApply([transforms.GaussianBlur(kernel_size=9, sigma=(0.1, 2.0))], p=0.1),
        transforms.RandomSolarize(threshold=128, p=0.2),
    ]
)
normalize = transforms.Compose(
    [
        transforms.ToTensor(),
        transforms.Normalize(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)),
    ]
)
transform = transforms.Compose([geometric, color_jittering, solarize, normalize])
