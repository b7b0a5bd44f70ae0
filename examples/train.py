"""From files to a trained model that tells which photograph a crop is from.

The training pipeline draws each crop before decoding, decodes only that region, and augments the batch at once.
The validation pipeline resizes and takes the centre. The inference pipeline takes encoded bytes, any number of images.

    python examples/train.py [--device cuda]
"""

import argparse
import tempfile

import torch
from photographs import write_crops
from torch import nn

from cuaug import transforms as T
from cuaug.data import Loader

NORMALIZE = [T.ToDtype("float32", scale=True), T.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])]
TRAINING = [
    T.RandomResizedCrop(64, scale=(0.3, 1.0)),
    T.RandomHorizontalFlip(),
    T.ColorJitter(0.2, 0.2, 0.2, 0.05),
    *NORMALIZE,
]
VALIDATION = [T.Resize(72), T.CenterCrop(64), *NORMALIZE]


def model(classes):
    layers = []
    for before, after in ((3, 16), (16, 32), (32, 64)):
        layers += [nn.Conv2d(before, after, 3, 2, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, classes))


def accuracy(net, loader):
    net.eval()
    with torch.no_grad():
        correct = [(net(images).argmax(1) == labels).float() for images, labels in loader]
    return torch.cat(correct).mean().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--epochs", type=int, default=4)
    options = parser.parse_args()
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        train = write_crops(f"{folder}/train", 64, (188, 250))
        held_out = write_crops(f"{folder}/val", 16, (188, 250), seed=1)

        placement = {"device": options.device}
        loader = Loader(train, 32, TRAINING, shuffle=True, seed=0, last="drop", **placement)
        validation = Loader(held_out, 32, VALIDATION, **placement)
        net = model(len(loader.source.classes)).to(options.device)
        optimizer = torch.optim.AdamW(net.parameters(), 3e-3)
        print(f"before: {accuracy(net, validation):.0%} of {len(validation.source)} crops")
        for _ in range(options.epochs):
            net.train()
            for images, labels in loader:
                loss = nn.functional.cross_entropy(net(images), labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        print(f"after {options.epochs} epochs: {accuracy(net, validation):.0%}")

        # A few encoded images, as a server receives them: the validation pipeline without labels.
        requests = [path.read_bytes() for path in sorted(held_out.glob("china/*.jpg"))[:5]]
        ((images, _),) = Loader(requests, len(requests), VALIDATION, **placement)
        names = [loader.source.classes[i] for i in net(images).argmax(1).tolist()]
        print(f"five crops of china are classified as {', '.join(names)}")


if __name__ == "__main__":
    main()
