"""A training step that aligns faces: landmarks, one matrix per face, one warp, and an embedding.

python examples/face_alignment.py [--device cuda]
"""

import argparse
import time

import numpy as np
import torch
from skimage import data
from torch import nn

import cuaug

# Positions of eyes, nose and mouth corners in the 112x112 result (ArcFace's template, Deng et al. 2019).
TEMPLATE = np.array(
    [[38.2946, 51.6963], [73.5318, 51.5014], [56.0252, 71.7366], [41.5493, 92.3655], [70.7299, 92.2041]], np.float32
)
# The same landmarks in skimage's photograph of Eileen Collins.
LANDMARKS = np.array([[197, 109], [247, 106], [224, 134], [200, 155], [243, 153]], np.float32)


STEPS = 5


class Embedding(nn.Sequential):
    def __init__(self, size=128):
        layers = []
        for before, after in ((3, 32), (32, 64), (64, 128), (128, 256)):
            layers += [nn.Conv2d(before, after, 3, 2, 1), nn.ReLU()]
        super().__init__(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, size))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--batch", type=int, default=32)
    options = parser.parse_args()
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    photograph = torch.from_numpy(data.astronaut()).permute(2, 0, 1)

    # A batch as from a camera: each face is rotated, scaled and shifted, and its landmarks with it.
    angles, shifts = rng.uniform(-40, 40, options.batch), rng.uniform(-25, 25, (options.batch, 2))
    scales, center = rng.uniform(0.7, 1.3, options.batch), (222.0, 130.0)
    poses = cuaug.affine_matrix(angles, shifts, scales, (0.0, 0.0), center)
    faces = cuaug.warp_affine(photograph.expand(options.batch, -1, -1, -1), poses).to(options.device)
    landmarks = cuaug.transform_points(np.tile(LANDMARKS, (options.batch, 1, 1)), poses)
    landmarks = torch.as_tensor(np.asarray(landmarks), dtype=torch.float32, device=options.device)

    net = Embedding().to(options.device)
    optimizer = torch.optim.SGD(net.parameters(), 0.05)
    seconds = {"align": 0.0, "step": 0.0}

    def clock():
        if options.device != "cpu":
            torch.cuda.synchronize(options.device)
        return time.perf_counter()

    for step in range(1 + STEPS):
        start = clock()
        M = cuaug.estimate_affine(landmarks, TEMPLATE, kind="similarity")
        aligned = cuaug.warp_affine(faces, M, (112, 112))
        aligned_at = clock()
        embedded = nn.functional.normalize(net(aligned.float() / 255))
        loss = (1 - embedded @ embedded.T).mean()  # all images show one person
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step:  # the first step warms up
            seconds["align"] += aligned_at - start
            seconds["step"] += clock() - start
    offset = cuaug.transform_points(landmarks, M) - torch.as_tensor(TEMPLATE, device=landmarks.device)
    spread, spread_before = (images.float().std(0, correction=0).mean().item() for images in (aligned, faces))
    print(f"landmarks are within {offset.norm(dim=-1).max().item():.1f} px of the template")
    print(f"aligned faces differ by {spread:.1f} levels, {spread_before:.1f} before")
    print(
        f"aligning takes {seconds['align'] / seconds['step']:.1%} of the step ({seconds['step'] / STEPS * 1e3:.0f} ms)"
    )


if __name__ == "__main__":
    main()
