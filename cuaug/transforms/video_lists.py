"""Lists of videos, which a recipe refuses: their entries would share one draw, as images of one sample do."""

from __future__ import annotations

from typing import Any

from .._arrays.tv_tensors import is_video
from .sample_kinds import is_image_array, is_plain_sequence
from .sample_target import Path, UnstackedBatch, path_text


def check_no_list_of_videos(value: Any, path: Path) -> None:
    """Raises ValueError for a list of videos. A list of one `Video` is one sample."""
    # Images of Pillow have no `ndim`.
    if not isinstance(value, (list, tuple)) or not value or getattr(value[0], "ndim", 0) != 4:
        return
    is_unstacked = isinstance(value, UnstackedBatch)  # of a batch [N, T, C, H, W], of any type
    if not is_plain_sequence(value) or len(value) < (1 if is_unstacked else 2):
        return
    if all(getattr(v, "ndim", 0) == 4 and is_image_array(v) and (is_unstacked or is_video(v)) for v in value):
        raise ValueError(list_of_videos_text(value, path))


def list_of_videos_text(value: Any, path: Path) -> str:
    """The message for images in a list that are batches or videos."""
    if isinstance(value, UnstackedBatch):
        return (
            f"images at {path_text(path)} must not be a batch of videos after a transform that draws sizes, nor in a "
            "choice with one: pass one Video [T, C, H, W] in each call, or put that transform at the end of the recipe"
        )
    return (
        f"images at {path_text(path)} must be single images if they are in a list, not batches or videos: "
        "pass videos as one batch [N, T, C, H, W]"
    )
