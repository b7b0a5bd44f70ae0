"""A call's images with all that belongs to them: masks, boxes, keypoints and labels, in whatever they came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _array, _check, _images
from .._images import Images
from ..fusion import run, traced
from ..fusion.passes import Head
from ..fusion.recipe import Blended, Displaced, Mixed
from ..mix import mix_labels
from ._boxes import Boxes
from ._keypoints import Keypoints
from ._structure import Found, Target
from ._targets import follow
from .params import Params


def results(found: Found, draw: Any, layout: str | None, boxes: Boxes, keypoints: Keypoints) -> Any:
    """The sample with everything changed by the same draws.

    Args:
        found: What :func:`_structure.find` made of the sample.
        draw: Gives :class:`Params` for images, and the place of their first sample in the batch.
        layout: Of the images.
        boxes: What boxes are.
        keypoints: What keypoints are.
    """
    pictures = found.of("images")
    together = all(_is_one_batch(target) for target in pictures)
    split = [_described(target, layout, found.samples, together) for target in pictures]
    drawn = [[draw(image, i) for i, image in enumerate(images)] for images in split]
    params = drawn[0]
    _check_alike(found, drawn)
    heads = [head for each in params[0].plan.passes for head in each.heads]
    _check_targets(found, heads)
    mixed = [head for head in heads if isinstance(head, Mixed)]
    if mixed and not together:
        raise ValueError(f"images must have one shape where samples are mixed ({mixed[0].name})")
    made: dict[str, Sequence[Any]] = {
        "images": [
            _joined(
                target, [traced.apply(p.plan, image, p.table) for image, p in zip(images, each, strict=True)], together
            )
            for target, images, each in zip(pictures, split, drawn, strict=True)
        ]
    }
    size: Any = params[0].result_size if together else [own.result_size for own in params]
    if any(found.of(kind) for kind in ("boxes", "keypoints")):
        matrices = [own.matrices for own in params]
        joined = matrices[0] if together else _array.namespace(matrices[0]).concatenate(matrices)
        made |= follow(found, joined, size, boxes, keypoints)
    if found.of("masks"):
        made["masks"] = [_moved(target, split[0], params, found.samples) for target in found.of("masks")]
    if mixed:
        made["labels"] = [_mixed(target.value, params[0], mixed) for target in found.of("labels")]
    return found.put_back(made, size)


def _is_one_batch(target: Target) -> bool:
    """An array, or a list that makes one: samples of the same shape, with channels."""
    if not isinstance(target.value, list):
        return True
    return len({(tuple(one.shape), str(one.dtype)) for one in target.value}) == 1 and target.value[0].ndim == 3


def _described(target: Target, layout: str | None, samples: int, together: bool) -> list[Images]:
    """One batch, or a single image for each sample."""
    value, layout = target.value, target.layout or layout
    if isinstance(value, list):
        if not together:
            return [_images.images(one, layout) for one in value]
        return [_images.images(_array.namespace(value[0]).stack(value), layout and f"N{layout}")]
    if together:
        return [_images.images(value, layout)]
    return [_images.images(value[i : i + 1], layout) for i in range(samples)]


def _joined(target: Target, made: list[Any], together: bool) -> Any:
    """As it came: a list for a list, an array for an array."""
    if isinstance(target.value, list):
        return list(made[0]) if together else made
    return made[0] if together else _array.namespace(made[0]).concatenate(made)


def _check_alike(found: Found, drawn: list[list[Params]]) -> None:
    """Several images of a sample share their draws, which depend on the size."""
    for target, each in zip(found.of("images"), drawn, strict=True):
        for own, first in zip(each, drawn[0], strict=True):
            if own.size != first.size:
                raise ValueError(
                    f"images that belong together must have one size, got {first.size} and {own.size} at "
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


def _moved(target: Target, images: list[Images], params: list[Params], samples: int) -> Any:
    """Masks: an array for the batch or for the only sample, or one for each sample."""
    value = target.value
    if len(params) == 1 and not isinstance(value, list):
        return _one(value, images[0], params[0], "N" if "N" in images[0].axes.layout else "")
    owned = [(params[0], i) if len(params) == 1 else (params[i], 0) for i in range(samples)]
    moved = []
    for i, (own, row) in enumerate(owned):
        table = own.table._replace(pointer=own.table.pointer + 8 * own.table.n * row)
        moved.append(_one(value[i], images[0 if len(params) == 1 else i], own, "", table))
    return moved if isinstance(value, list) else _array.namespace(moved[0]).stack(moved)


def _one(mask: Any, image: Images, params: Params, lead: str, table: Any = None) -> Any:
    """One array of masks, [N, H, W] or with an axis of masks where the images' channels are; `lead`: "N" or nothing."""
    if _array.library(type(mask)) is None:
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
    described = _images.images(whole, layout)
    if described.device != image.device or (image.device >= 0 and described.library is not image.library):
        raise TypeError("masks must be of the images' library and on the images' device")
    _check.dtypes(described.dtype, described.dtype, "nearest")
    moved = run.moved(params.plan, described, params.table if table is None else table)
    moved = moved[..., 0, :, :] if planes else moved
    return moved[0] if len(shape) < moved.ndim else moved


def _fits(masks: Any, layout: str, image: Images) -> bool:
    if masks.ndim != len(layout):
        return False
    extent = dict(zip(layout, masks.shape, strict=True))
    frames = extent.get("T", image.axes.extents[1]) == image.axes.extents[1]
    return (extent["H"], extent["W"]) == image.size and extent.get("N", image.samples) == image.samples and frames
