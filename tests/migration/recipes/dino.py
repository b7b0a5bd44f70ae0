"""DINO: two global and six local crops of an image."""

from PIL import Image
from torchvision import transforms

flip_and_color_jitter = transforms.Compose(
    [
        transforms.RandomHorizontalFlip(p=0.5),
        transforms.RandomApply([transforms.ColorJitter(brightness=0.4, contrast=0.4, saturation=0.2, hue=0.1)], p=0.8),
        transforms.RandomGrayscale(p=0.2),
    ]
)
normalize = transforms.Compose(
    [transforms.ToTensor(), transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))]
)


def blur(p):
    return transforms.RandomApply([transforms.GaussianBlur(9, sigma=(0.1, 2.0))], p=p)


def crop(size, scale, *others):
    cropping = transforms.RandomResizedCrop(size, scale=scale, interpolation=Image.BICUBIC)
    return transforms.Compose([cropping, flip_and_color_jitter, *others, normalize])


global_1 = crop(224, (0.4, 1.0), blur(1.0))
global_2 = crop(224, (0.4, 1.0), blur(0.1), transforms.RandomSolarize(128, p=0.2))
local = crop(96, (0.05, 0.4), blur(0.5))


def augment(image):
    return [global_1(image), global_2(image), *(local(image) for _ in range(6))]
