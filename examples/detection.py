"""From photographs with boxes in COCO's format to a small model that finds the cat in each.

The loader crops and flips a photograph together with its boxes, and decodes only the crop.

    python examples/detection.py [--device cuda]
"""

import argparse
import tempfile
from pathlib import Path

import torch
from photographs import write_cats
from torch import nn

import cuaug
from cuaug import transforms as T
from cuaug.data import ImageFiles, Loader, coco

SIZE = 64
RECIPE = T.Compose(
    [T.RandomResizedCrop(SIZE, scale=(0.8, 1.0)), T.RandomHorizontalFlip(), T.ToDtype("float32", scale=True)],
    seed=0,
    boxes=T.Boxes(min_visibility=0.5, compact=True),  # a box of which less than half is left is removed
)


def model():
    layers = [layer for n in ((3, 16), (16, 32), (32, 32)) for layer in (nn.Conv2d(*n, 3, 2, 1), nn.ReLU())]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(32 * (SIZE // 8) ** 2, 4))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    device = parser.parse_args().device
    torch.manual_seed(0)
    net = model().to(device)
    optimizer = torch.optim.Adam(net.parameters(), 2e-3)
    with tempfile.TemporaryDirectory() as folder:
        write_cats(folder, 640)
        files = ImageFiles(sorted(Path(folder).glob("*.jpg")), targets=coco(f"{folder}/boxes.json"))
        loader = Loader(files, 16, RECIPE, shuffle=True, device=device)
        for epoch in range(2):
            overlaps = []
            for images, targets in loader:
                with_cat = [i for i, target in enumerate(targets) if len(target["boxes"])]
                boxes = torch.cat([targets[i]["boxes"] for i in with_cat])  # one cat in each photograph
                predicted = net(images[with_cat]) * SIZE
                loss = nn.functional.smooth_l1_loss(predicted, boxes)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                overlaps.append(cuaug.box_iou(predicted.detach(), boxes).diagonal())
            print(f"epoch {epoch}: mean IoU {torch.cat(overlaps).mean():.2f} with the boxes of {files.targets.classes}")


if __name__ == "__main__":
    main()
