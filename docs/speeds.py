"""Writes the tables of speeds into README and the pages, and docs/training.svg, from the files of benchmarks/results.

Run ``python docs/speeds.py`` after a benchmark. A table stands between two comments; a test compares it with the files.
All cells of a table are from one run. The file of the training benchmark is the newest one.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from training_plot import plot
from written_tables import ROOT, with_tables

RESULTS = ROOT / "benchmarks" / "results"
RECIPES = RESULTS / "2026-11-27-nvidia-h200-transforms.json"
WARPS = RESULTS / "2026-11-23-nvidia-h200-warp-4.json"
LOADERS = RESULTS / "2026-11-22-nvidia-h200-loader-3.json"
DETECTION = RESULTS / "2026-11-28-nvidia-h200-detection-2.json"
DECODING = RESULTS / "2026-11-22-intel-r-xeon-r-processor-decode.json"
HOST_TIMES = RESULTS / "2026-11-28-nvidia-h200-host-time.json"
SINGLE_IMAGES = RESULTS / "2026-11-26-amd-epyc-single-images.json"
PLOT = ROOT / "docs" / "training.svg"
# As in benchmarks/warp.py and detection.py: a row beyond these limits has a note.
MAX_DIFFERENCE, MIN_AGREEMENT = 0.005, 0.999

RECIPE_TITLES = {
    "crop and flip": "crop, flip, normalize",
    "imagenet, contrast about the middle": "the same with colour jitter and greyscale, contrast about a given level",
    "imagenet": "the same, contrast about each image's mean",
    "imagenet, antialiased": "the same, antialiased",
    "simclr": "SimCLR, with a blur of 23 pixels",
    "detection": "affine, flip, jitter, normalize, at 256x256",
    "trivialaugment": "crop, flip, `TrivialAugmentWide`, normalize",
    "randaugment": "crop, flip, `RandAugment`, normalize",
    "augmix": "`AugMix` at 256x256, normalize",
    "elastic": "`ElasticTransform` at 256x256, normalize",
    "imagenet, list": "ImageNet, a list of images of sizes around 375x500",
}
RECIPE_PEERS = {
    "kornia fp32": "kornia, float32",
    "torchvision one draw": "torchvision, one draw",
    "torch compiled": "torch functions, compiled",
}
WARP_TITLES = {
    "warp_affine u8 NCHW": "`warp_affine`, channels first",
    "warp_affine u8 NHWC": "`warp_affine`, channels last",
    "warp_affine fp16 NCHW": "`warp_affine`, float16",
    "warp_affine fp32 NCHW": "`warp_affine`, float32",
    "warp_affine u8 NCHW nearest": "`warp_affine`, nearest",
    "warp_affine u8 NCHW bicubic": "`warp_affine`, bicubic",
    "warp_perspective u8 NCHW": "`warp_perspective`",
    "remap u8 NCHW": "`remap`, a map per image",
    "resize u8 NCHW 375x500 to 224": "`resize` 375x500 to 224, antialiased",
    "resized_crop u8 NCHW 375x500 to 224": "`resized_crop`, a box per image on the host",
    "hflip u8 NCHW": "`hflip`, a flag per image on the host",
}
LOADER_TITLES = {"DALI cpu": "DALI, all on the CPU, float32"}
TRAINING_TITLES = {
    "the step alone": "the step alone, no files",
    "cuaug Loader": "cuaug `Loader`",
    "cuaug Loader, hybrid": "cuaug `Loader`, decoding shared with the GPU",
    "DataLoader, cuaug in Collate": "`DataLoader`, cuaug in `Collate`",
    "DataLoader, torchvision v2": "`DataLoader`, torchvision v2",
    "DALI": "DALI",
}
PLOTTED = ("the step alone", "cuaug Loader", "DataLoader, cuaug in Collate", "DataLoader, torchvision v2")
DETECTION_TITLES = {
    "nms 1000": "`nms`, 1,000 boxes",
    "nms 10000": "`nms`, 10,000 boxes",
    "nms 100000": "`nms`, 100,000 boxes",
    "batched_nms 10000": "`batched_nms`, 10,000 boxes, 80 classes",
    "box_iou 10000 x 1000": "`box_iou`, 10,000 x 1,000 boxes",
    "complete_box_iou 10000 x 1000": "`complete_box_iou`, 10,000 x 1,000 boxes",
    "roi_align 1000, float32, planes": "`roi_align`, 1,000 regions",
    "roi_align 1000, float16, channels last": "`roi_align`, float16, channels last",
    "roi_pool 1000, float32, planes": "`roi_pool`, 1,000 regions",
}
HOST_TITLES = {
    "torch.relu": "`torch.relu`, for scale",
    "hflip": "`hflip`",
    "warp_affine": "`warp_affine`, a matrix per image on the GPU",
    "warp_affine, host matrix": "`warp_affine`, a matrix on the host",
    "rotate, one angle": "`rotate`, one angle",
    "normalize": "`normalize`, lists of numbers",
    "adjust_contrast": "`adjust_contrast`, about each image's mean: 2 launches",
    "get_rotation_matrix": "`get_rotation_matrix`, an angle per image on the GPU",
    "estimate_affine": "`estimate_affine`, points on the GPU",
    "CIFAR recipe, 32x32": "recipe: pad, crop, flip, normalize",
    "crop, flip, normalize": "recipe: random crop and resize, flip, normalize",
    "crop, flip, normalize, list of 32": "the same, a list of 32 images",
    "SimCLR": "recipe: SimCLR",
}
SINGLE_IMAGE_TITLES = {
    "warp_affine, host matrix": "`warp_affine`, a matrix on the host",
    "rotate, one angle": "`rotate`",
    "CIFAR recipe, 32x32": "pad, crop, flip, normalize: 32x32",
    "RandAugment, 32x32": "`RandAugment`, normalize: 32x32",
    "ImageNet recipe, images of one size": "random crop resized to 224, flip, jitter, normalize: 352x490",
    "ImageNet recipe, images of 500 sizes": "the same, images of 500 sizes around 352x490",
    "evaluation recipe, images of 500 sizes": "resize, centre crop of 224, normalize: images of 500 sizes",
}


def rows(file: Path, device: str) -> dict[str, Any]:
    """The rows of a result's table by name; for several numbers of threads, those of one thread."""
    table = json.loads(file.read_text())["tables"][device]["rows"]
    return {row["name"]: row for row in reversed(table)}


def markdown(header: list[str], body: list[list[str]], file: Path) -> str:
    lines = [header, ["---"] * len(header), *body]
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    return f"{table}\n\n{source(file)}"


def with_notes(table: str, notes: list[str]) -> str:
    return "\n\n".join([table, *(textwrap.fill(note, 120, break_on_hyphens=False) for note in notes)])


def source(file: Path) -> str:
    """The sentence that names the file of results and its machine."""
    machine = json.loads(file.read_text())["machine"]
    device = machine["gpus"][0]["name"] if machine["gpus"] else f"{machine['cpus']} processors, {machine['cpu']}"
    return f"From `benchmarks/results/{file.name}`, {device}."


def device_and_wall(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    return f"{row['us']:,.0f} / {row['wall_us']:,.0f}"


def against_peers(file: Path, titles: dict[str, str], peers: dict[str, str]) -> str:
    """A table of device and wall time, for cuaug and for each peer of the same run."""
    table = rows(file, "gpu")
    body = [
        [title, device_and_wall(table[name]), *(device_and_wall(table[name]["peers"].get(peer)) for peer in peers)]
        for name, title in titles.items()
    ]
    return markdown(["", "cuaug", *peers.values()], body, file)


def recipes() -> str:
    return against_peers(RECIPES, RECIPE_TITLES, RECIPE_PEERS)


def warps() -> str:
    peers = {
        "kornia fp32": "kornia, float32",
        "torchvision one draw": "torchvision, one draw",
        "torch": "`grid_sample`",
    }
    table = rows(WARPS, "gpu")
    differences = {
        title: table[name]["peers"]["torch"]["difference"]
        for name, title in WARP_TITLES.items()
        if "torch" in table[name]["peers"]
    }
    notes = [
        f"{title}: `grid_sample` got coordinates in the images' dtype. Its pixels differ from the float64 reference by "
        f"{255 * difference:.1f} of 255 levels on average."
        for title, difference in differences.items()
        if difference > MAX_DIFFERENCE
    ]
    return with_notes(against_peers(WARPS, WARP_TITLES, peers), notes)


def loaders() -> str:
    body = [
        [LOADER_TITLES.get(name, name), f"{row['images_per_s']:,.0f}"] for name, row in rows(LOADERS, "gpu").items()
    ]
    return markdown(["from files to batches on the GPU", "images per second"], sorted(body, key=_descending), LOADERS)


def detection() -> str:
    table = rows(DETECTION, "gpu")
    body = [
        [title, f"{table[name]['us']:,.0f}", f"{table[name]['peers']['torchvision']['us']:,.0f}"]
        for name, title in DETECTION_TITLES.items()
    ]
    notes = [
        f"{title}: torchvision computes coordinates and weights in float16, cuaug in float32. "
        f"{alike:.0%} of the values of both results are equal within 2%, or 0.02 for values below 1."
        for name, title in DETECTION_TITLES.items()
        if "float16" in name and (alike := table[name]["peers"]["torchvision"]["alike"]) < MIN_AGREEMENT
    ]
    return with_notes(markdown(["", "cuaug", "torchvision"], body, DETECTION), notes)


def decoding() -> str:
    table, peers = rows(DECODING, "cpu"), ("simplejpeg", "cv2", "Pillow")
    body = [
        [name, f"{row['images_per_s']:,.0f}", *(_images_per_second(row["peers"].get(peer)) for peer in peers)]
        for name, row in sorted(table.items(), reverse=True)
    ]
    return markdown(["", "cuaug", *peers], body, DECODING)


def host_times() -> str:
    """Host times of one run of host.py."""
    table = rows(HOST_TIMES, "gpu")
    body = [
        [title, f"{table[name]['host_us']:,.1f}", f"{table[name]['ratio']:.1f}"] for name, title in HOST_TITLES.items()
    ]
    return markdown(["host time of a call", "microseconds", "x `torch.relu`"], body, HOST_TIMES)


def single_images() -> str:
    table, libraries = rows(SINGLE_IMAGES, "cpu"), ("cuaug, NumPy", "torchvision v2", "AlbumentationsX")
    body = [
        [SINGLE_IMAGE_TITLES.get(name, f"`{name}`"), f"{row['us']:,.0f}"]
        + [_microseconds(row["peers"].get(library)) for library in libraries]
        for name, row in reversed(table.items())  # `rows` has reversed them
    ]
    body.append(["`torch.relu`, for scale", _microseconds(table["hflip"]["peers"]["torch.relu"]), "", "", ""])
    return markdown(["", "cuaug, torch", *libraries], body, SINGLE_IMAGES)


def placement() -> str:
    row, batch = rows(RECIPES, "gpu")["imagenet, antialiased"], 256
    rate = batch / row["wall_us"] * 1e6
    step = [["ImageNet recipe, batches of 256", f"{rate:,.0f}", f"{row['wall_us']:,.0f}"]]
    header = ["the recipe alone", "images per second", "microseconds per batch"]
    return f"{markdown(header, step, RECIPES)}\n\n{loaders()}"


def newest_training() -> Path:
    return max(RESULTS.glob("*-training*.json"), key=lambda file: json.loads(file.read_text())["date"])


def training_tables() -> list[dict[str, Any]]:
    """One for each number of processors, the largest first."""
    tables = json.loads(newest_training().read_text())["tables"]
    return sorted(tables.values(), key=lambda table: -table["cpus"])


def training_plot() -> str:
    """The text of docs/training.svg."""
    return plot(training_tables(), {name: TRAINING_TITLES[name].replace("`", "") for name in PLOTTED})


def training_setting() -> str:
    return (
        "Images per second of ResNet-50 training, and their share of the step alone: mixed precision, batches of "
        f"{training_tables()[0]['batch']};\n"
        "JPEG files of 375x500, random crop resized to 224, flip, normalize."
    )


def training_picture(path: str) -> str:
    """The plot at `path`, with the figures of its first group of bars as the alternative text."""
    table = training_tables()[0]
    rates = {row["name"]: _rate_and_share(row) for row in table["rows"]}
    figures = "; ".join(f"{TRAINING_TITLES[name].replace('`', '')}: {rates[name]}" for name in PLOTTED)
    return f"![{table['cpus']} processors: {figures}]({path})"


def training() -> str:
    """The plot, and a row for each way to feed the step."""
    tables = training_tables()
    rates = [{row["name"]: row for row in table["rows"]} for table in tables]
    body = [
        [title, *(_rate_and_share(row.get(name)) for row in rates)]
        for name, title in TRAINING_TITLES.items()
        if any(name in row for row in rates)
    ]
    header = ["ResNet-50", *(f"{table['cpus']} processors" for table in tables)]
    table = markdown(header, body, newest_training())
    return f"{training_setting()}\n\n{training_picture('training.svg')}\n\n{table}"


def loaders_and_training() -> str:
    return f"{loaders()}\n\n### Training\n\n{training()}"


def readme() -> str:
    names = "imagenet, antialiased", "crop and flip", "simclr", "detection", "randaugment"
    titles = {name: RECIPE_TITLES[name] for name in names}
    titles = {"imagenet": "ImageNet: crop, flip, jitter, greyscale, normalize"} | titles
    return (
        f"{training_setting()}\n{source(newest_training())}\n\n{training_picture('docs/training.svg')}\n\n"
        "Microseconds (device / wall) for 256 images of 256x256x3, uint8 to float16 224x224, crops without "
        "antialiasing, unless\nthe row says otherwise; draws included. torchvision draws once per batch; compiled "
        "functions jitter in one order.\n\n"
        f"{against_peers(RECIPES, titles, RECIPE_PEERS)}"
    )


TABLES: dict[str, list[Callable[[], str]]] = {
    "README.md": [readme],
    "docs/placement.md": [placement],
    "docs/performance.md": [recipes, warps, loaders_and_training, detection, decoding, single_images, host_times],
}


def page_with_tables(page: str) -> str:
    """The text of a page, with its tables written anew."""
    return with_tables(page, "docs/speeds.py", TABLES[page])


def _images_per_second(row: dict[str, Any] | None) -> str:
    return "" if row is None else f"{row['images_per_s']:,.0f}"


def _microseconds(us: float | None) -> str:
    return "" if us is None else f"{us:,.0f}"


def _rate_and_share(row: dict[str, Any] | None) -> str:
    return "" if row is None else f"{row['images_per_s']:,.0f} ({row['share_of_step']:.0%})"


def _descending(cells: list[str]) -> float:
    return -float(cells[1].replace(",", ""))


if __name__ == "__main__":
    for page_name in TABLES:
        (ROOT / page_name).write_text(page_with_tables(page_name))
    PLOT.write_text(training_plot())
