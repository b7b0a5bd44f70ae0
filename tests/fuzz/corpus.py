"""Writes the seed files of a fuzzing run: ``python tests/fuzz/corpus.py FOLDER``."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from helpers.jpeg import SEED, base_files
from helpers.jpeg_writer import random_jpeg

# (horizontal, vertical) sampling factors of each component
SAMPLINGS_OF_FILES = [
    [(4, 2), (1, 1), (1, 1)],
    [(2, 4), (1, 1), (1, 1)],
    [(2, 2), (2, 1), (1, 2)],
    [(2, 2), (1, 1), (1, 1), (2, 2)],
]

if __name__ == "__main__":
    folder, rng = Path(sys.argv[1]), np.random.default_rng(SEED)
    folder.mkdir(parents=True, exist_ok=True)
    files = [
        *base_files(),
        *(random_jpeg(rng, (50, 70), s, restart=restart) for restart in (0, 1) for s in SAMPLINGS_OF_FILES),
    ]
    for number, file in enumerate(files):
        (folder / f"{number:02}.jpg").write_bytes(file)
    print(f"{len(files)} files in {folder}")
