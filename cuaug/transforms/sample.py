"""A call's images with all that belongs to them: masks, boxes, keypoints and labels, in whatever they came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import _check
from .._arrays import convert
from .._arrays.images import ImageBatch, describe_images
from .._arrays.registry import library_of
from .._fusion import execute as run
from .._fusion import launch_plan as traced
from .._fusion.passes import Head
from .._fusion.recipe import Blended, Displaced, Mixed
from .._passes import ragged as _ragged
from ..mix import mix_labels
from .boxes import Boxes
from .keypoints import Keypoints
from .params import Params
from .sample_structure import Found, Target
from .targets import follow


class _Batch(NamedTuple):
    """Images that go through the recipe together."""

    places: np.ndarray  # which of the call's samples they are [n]
    singles: list[ImageBatch]  # each by itself, if they are ragged
    image: ImageBatch
    params: Params


def results(found: Found, kind: Any, draw: Any, layout: str | None, boxes: Boxes, keypoints: Keypoints) -> Any:
    """The sample with everything changed by the same draws.

    Args:
        found: What :func:`_structure.find` made of the sample.
        kind: Says of an image with which of other sizes it goes together; None: with none.
        draw: Of images, one batch or single ones of one kind, and their places in the call, makes a batch, and
            :class:`Params`.
        layout: Of the images.
        boxes: What boxes are.
        keypoints: What keypoints are.
    """
    pictures = found.of("images")
    groups = [grouped(target.value, kind, target.layout or layout, found.samples) for target in pictures]
    _check_alike(found, groups)
    drawn = [[_Batch(places, images, *draw(images, places)) for places, images in each] for each in groups]
    batches = drawn[0]
    params = batches[0].params
    heads = [head for each in params.plan.passes for head in each.heads]
    _check_targets(found, heads)
    mixed = [head for head in heads if isinstance(head, Mixed)]
    if mixed and any(len(each) > 1 or each[0].image.ragged for each in drawn):
        raise ValueError(f"images must have one shape where samples are mixed ({mixed[0].name})")
    made: dict[str, Sequence[Any]] = {
        "images": [_applied(target, each) for target, each in zip(pictures, drawn, strict=True)]
    }
    sizes = in_places(batches, [[batch.params.result_size] * len(batch.places) for batch in batches])
    size: Any = params.result_size if len(batches) == 1 else sizes
    if by_matrices(found):
        matrices: Any = [batch.params.matrices for batch in batches]
        joined = (
            matrices[0] if len(batches) == 1 else convert.namespace(matrices[0]).stack(in_places(batches, matrices))
        )
        made |= follow(found, joined, size, boxes, keypoints)
    if found.of("masks"):
        made["masks"] = [_moved(target, batches) for target in found.of("masks")]
    if mixed:
        made["labels"] = [_mixed(target.value, params, mixed) for target in found.of("labels")]
    return found.put_back(made, size)


def by_matrices(found: Found) -> bool:
    """Whether anything of the sample is moved by the whole recipe's matrices."""
    return any(found.of(kind) for kind in ("boxes", "keypoints"))


def grouped(value: Any, kind: Any, layout: str | None, samples: int) -> list[tuple[np.ndarray, list[ImageBatch]]]:
    """Which samples go together, and their images: one batch, or single ones of one kind.

    An array is a batch, and so is a list of arrays of one shape; others go with those of their kind, or of their size.
    """
    if not isinstance(value, list):
        return [(np.arange(samples), [describe_images(value, layout)])]
    if not value:
        raise ValueError("images must be at least one, got an empty list")
    if len({(tuple(one.shape), str(one.dtype)) for one in value}) == 1 and value[0].ndim == 3:
        return [(np.arange(samples), [_stacked(value, layout)])]
    singles = [describe_images(one, layout) for one in value]
    alike: dict[Any, list[int]] = {}
    for i, image in enumerate(singles):
        own = image.library.name, image.dtype, image.device, image.axes.layout, image.channels
        alike.setdefault((*own, (kind(image) or image.size) if value[i].ndim == 3 else i), []).append(i)
    made = []
    for key, places in alike.items():
        together = [singles[i] for i in places]
        if len(places) > 1 and key[-1] == together[0].size:
            together = [_stacked([value[i] for i in places], layout)]
        made.append((np.array(places), together))
    return made


def _stacked(images: Sequence[Any], layout: str | None) -> ImageBatch:
    return describe_images(convert.namespace(images[0]).stack(images), layout and f"N{layout}")


def in_places(batches: Sequence[_Batch], values: Sequence[Any]) -> list[Any]:
    """What each batch has for each of its samples, in the call's order."""
    made: list[Any] = [None] * sum(len(batch.places) for batch in batches)
    for batch, own in zip(batches, values, strict=True):
        for place, one in zip(batch.places.tolist(), own, strict=True):
            made[place] = one
    return made


def _applied(target: Target, batches: Sequence[_Batch]) -> Any:
    """The images, as they came: a list for a list, an array for an array."""
    made = [traced.apply(batch.params.plan, batch.image, batch.params.table) for batch in batches]
    if not isinstance(target.value, list):
        return made[0]
    own = [one if "N" in batch.image.axes.layout else [one] for batch, one in zip(batches, made, strict=True)]
    return in_places(batches, own)


def _check_alike(found: Found, groups: Sequence[Any]) -> None:
    """Several images of a sample share their draws, which depend on the size."""
    if len(groups) == 1:
        return
    each = [
        {
            place: images[row if len(images) > 1 else 0].size
            for places, images in own
            for row, place in enumerate(places)
        }
        for own in groups
    ]
    for target, own in zip(found.of("images"), each, strict=True):
        for place, size in own.items():
            if size != each[0][place]:
                raise ValueError(
                    f"images that belong together must have one size, got {each[0][place]} and {size} at "
                    f"{''.join(f'[{key!r}]' for key in target.paths[0])}"
                )


def _check_targets(found: Found, heads: Sequence[Head]) -> None:
    for head in heads:
        kinds, why = _REFUSED.get(type(head), ((), ""))
        given = next((kind for kind in kinds if found.of(kind)), None)
        if given:
            hint = "; labels are given as labels=..." if given == "masks" and isinstance(head, Mixed) else ""
            raise ValueError(f"{given} must not be given where {why.format(getattr(head, 'name', ''))}{hint}")


_REFUSED: dict[type, tuple[tuple[str, ...], str]] = {
    Mixed: (("masks", "boxes", "keypoints"), "samples are mixed ({}): they belong to one sample each"),
    Blended: (("masks", "boxes", "keypoints"), "branches are blended ({}), each of which moves pixels by itself"),
    Displaced: (("boxes", "keypoints"), "pixels are displaced one by one ({}), by no matrix: masks are moved"),
}


def _mixed(labels: Any, params: Params, mixed: list[Mixed]) -> Any:
    """Labels, mixed as the images are."""
    for head in mixed:
        labels = mix_labels(labels, params[head.lam.name], num_classes=head.classes)
    return labels


def _moved(target: Target, batches: Sequence[_Batch]) -> Any:
    """Masks: an array for the batch or for the only sample, or one for each sample."""
    value, first = target.value, batches[0]
    if len(batches) == 1 and not first.image.ragged and not isinstance(value, list):
        return _one(value, first.image, first.params, "N" if "N" in first.image.axes.layout else "")
    moved = in_places(batches, [_of_batch([value[i] for i in batch.places], batch) for batch in batches])
    return moved if isinstance(value, list) else convert.namespace(moved[0]).stack(moved)


def _of_batch(masks: Sequence[Any], batch: _Batch) -> Sequence[Any]:
    """Those of each sample; if they are ragged and of one kind, together."""
    params, table = batch.params, batch.params.table
    if batch.image.ragged:
        found = [_described(mask, batch.singles[row], "") for row, mask in enumerate(masks)]
        if len({(own.library.name, own.dtype, own.channels, own.axes.layout, planes) for own, planes in found}) == 1:
            together = _ragged.batch([own for own, _ in found], np.empty((len(found), 0)))
            made = run.moved(params.plan, together, table)
            return list(made[:, 0] if found[0][1] else made)
    rows = (table._replace(pointer=table.pointer + 8 * table.n * row) for row in range(len(masks)))
    images = batch.singles if batch.image.ragged else [batch.image] * len(masks)
    return [_one(mask, image, params, "", own) for mask, image, own in zip(masks, images, rows, strict=True)]


def _one(mask: Any, image: ImageBatch, params: Params, lead: str, table: Any = None) -> Any:
    """One array of masks, [N, H, W] or with an axis of masks where the images' channels are; `lead`: "N" or nothing."""
    described, planes = _described(mask, image, lead)
    moved = run.moved(params.plan, described, params.table if table is None else table)
    moved = moved[..., 0, :, :] if planes else moved
    return moved[0] if mask.ndim < moved.ndim else moved


def _described(mask: Any, image: ImageBatch, lead: str) -> tuple[ImageBatch, bool]:
    """Masks as images, and whether they had no axis of masks."""
    if library_of(type(mask)) is None:
        raise TypeError(f"masks must be an array, or a list of arrays, got {type(mask).__name__}")
    shape = tuple(mask.shape)
    if "T" in image.axes.layout:
        mask, lead = (mask if lead else mask[None]), "NT"
    planes = mask.ndim == len(lead) + 2
    whole = mask[..., None, :, :] if planes else mask
    orders = ["CHW", "HWC"] if planes or not image.axes.layout.endswith("C") else ["HWC", "CHW"]
    layout = next((lead + order for order in orders if _fits(whole, lead + order, image)), None)
    if layout is None:
        rule = f"one mask, or several along an axis of their own, for images of {image.samples} samples, {image.size}"
        hint = "; labels are given as labels=..." if len(shape) < 3 else ""
        raise ValueError(f"masks must be {rule}, got shape {shape}{hint}")
    described = describe_images(whole, layout)
    if described.device != image.device or (image.device >= 0 and described.library is not image.library):
        raise TypeError("masks must be of the images' library and on the images' device")
    _check.dtypes(described.dtype, described.dtype, "nearest")
    return described, planes


def _fits(masks: Any, layout: str, image: ImageBatch) -> bool:
    if masks.ndim != len(layout):
        return False
    extent = dict(zip(layout, masks.shape, strict=True))
    frames = extent.get("T", image.axes.extents[1]) == image.axes.extents[1]
    return (extent["H"], extent["W"]) == image.size and extent.get("N", image.samples) == image.samples and frames
