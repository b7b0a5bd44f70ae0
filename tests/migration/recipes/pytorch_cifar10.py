"""The usual recipe for CIFAR-10, in a file that also uses torchvision's dataset."""

from torchvision import datasets, transforms

transform = transforms.Compose(
    [
        transforms.RandomCrop(32, padding=4),
        transforms.RandomHorizontalFlip(),
        transforms.ToTensor(),
        transforms.Normalize((0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)),
    ]
)


def training_set(folder):
    return datasets.CIFAR10(folder, train=True, transform=transform)
