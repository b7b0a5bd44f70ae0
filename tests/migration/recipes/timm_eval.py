"""timm: the evaluation transform of a ViT, crop_pct 0.9 and bicubic."""

from torchvision import transforms

transform = transforms.Compose(
    [
        transforms.Resize(248, interpolation=transforms.InterpolationMode.BICUBIC),
        transforms.CenterCrop((224, 224)),
        transforms.ToTensor(),
        transforms.Normalize(mean=(0.5, 0.5, 0.5), std=(0.5, 0.5, 0.5)),
    ]
)
