"""Files to a trained model: which photograph is this a piece of?

The training pipe draws each crop before it decodes, decodes that region alone, and augments a batch in one go; the
validation pipe resizes and crops the middle; the inference pipe takes encoded bytes, any number of them.

    python examples/train.py [--device cuda]
"""

import argparse
import tempfile

import torch
from photographs import write_pieces
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
        right = [(net(images).argmax(1) == labels).float() for images, labels in loader]
    return torch.cat(right).mean().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--epochs", type=int, default=4)
    options = parser.parse_args()
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        train = write_pieces(f"{folder}/train", 64, (188, 250))
        held_out = write_pieces(f"{folder}/val", 16, (188, 250), seed=1)

        where = {"device": options.device}
        loader = Loader(train, 32, TRAINING, shuffle=True, seed=0, last="drop", **where)
        validation = Loader(held_out, 32, VALIDATION, **where)
        net = model(len(loader.source.classes)).to(options.device)
        optimizer = torch.optim.AdamW(net.parameters(), 3e-3)
        print(f"before: {accuracy(net, validation):.0%} of {len(validation.source)} pieces")
        for _ in range(options.epochs):
            net.train()
            for images, labels in loader:
                loss = nn.functional.cross_entropy(net(images), labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        print(f"after {options.epochs} epochs: {accuracy(net, validation):.0%}")

        # Bytes that a caller sends, a few at a time: the same pipe without labels.
        sent = [path.read_bytes() for path in sorted(held_out.glob("china/*.jpg"))[:5]]
        ((images, _),) = Loader(sent, len(sent), VALIDATION, **where)
        names = [loader.source.classes[i] for i in net(images).argmax(1).tolist()]
        print(f"five pieces of china are told to be {', '.join(names)}")


if __name__ == "__main__":
    main()
