"""Several ranks, one epoch: each sample goes to exactly one rank, and all ranks take equally many steps.

    torchrun --nproc-per-node 2 examples/ranks.py

With GPUs, each rank uses one and NCCL reduces the sums. Without, the ranks run on the CPU with gloo.
"""

import os
import shutil
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
from photographs import write_crops

from cuaug import transforms as T
from cuaug.data import Loader


def main():
    on_gpu = torch.cuda.is_available()
    dist.init_process_group("nccl" if on_gpu else "gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    device = f"cuda:{os.environ['LOCAL_RANK']}" if on_gpu else "cpu"
    if on_gpu:
        torch.cuda.set_device(device)

    folder = [tempfile.mkdtemp() if rank == 0 else None]
    dist.broadcast_object_list(folder, device=torch.device(device))
    if rank == 0:
        write_crops(f"{folder[0]}/train", 9, (120, 160))
    dist.barrier()

    recipe = [T.RandomResizedCrop(64), T.RandomHorizontalFlip(), T.ToDtype("float32", scale=True)]
    loader = Loader(Path(folder[0]) / "train", 8, recipe, shuffle=True, seed=0, shard=(rank, world), device=device)
    seen = torch.zeros(len(loader.source), dtype=torch.int64, device=device)
    brightness = torch.zeros((), device=device)
    for batch in loader:
        seen += torch.bincount(torch.from_numpy(batch.ids).to(device), minlength=len(seen))
        brightness += batch.images.mean(dim=(1, 2, 3)).sum()
    count = int(seen.sum())
    dist.all_reduce(seen)
    dist.all_reduce(brightness)
    print(f"rank {rank} of {world}: {count} samples in {len(loader)} steps", flush=True)
    dist.barrier()
    if rank == 0:
        assert bool((seen == 1).all()), "a sample was not seen exactly once"
        mean = brightness.item() / len(seen)
        shutil.rmtree(folder[0])
        print(f"all {len(seen)} samples were seen once; their mean is {mean:.4f} for any number of ranks", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
