"""Types of recipes and transforms, for mypy and pyright; not run."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from matplotlib.figure import Figure
from PIL.Image import Image
from typing_extensions import assert_type

import cuaug
from cuaug import transforms as T

recipe = T.Compose([T.RandomResizedCrop(224), T.RandomHorizontalFlip(p=0.5), T.Normalize(0.5, [0.1, 0.2, 0.3])], seed=1)
assert_type(recipe, T.Compose)
assert_type(recipe.seed, int)
assert_type(T.ColorJitter(0.4).brightness, tuple[float, float])
assert_type(T.ToDtype({torch.Tensor: torch.float32, "others": None}, mask_dtype="int64"), T.ToDtype)
assert_type(T.Pad(2, fill=np.array([1, 2, 3])), T.Pad)
assert_type(T.Pad(2, fill={torch.Tensor: (1, 2, 3), "others": 0}), T.Pad)
assert_type(cuaug.transforms.CenterCrop(8).size, tuple[int, int])


def images_only(tensor: torch.Tensor, levels: npt.NDArray[np.uint8]) -> None:
    assert_type(recipe(tensor, ids=[4, 5], step=3), torch.Tensor)
    assert_type(recipe(levels), npt.NDArray[Any])
    assert_type(recipe([tensor, tensor]), list[torch.Tensor])
    assert_type(recipe([levels, levels]), list[npt.NDArray[Any]])
    assert_type(T.CenterCrop(8)(tensor), torch.Tensor)
    params = recipe.draw(tensor)
    assert_type(params, T.Params)
    assert_type(recipe.apply(tensor, params), torch.Tensor)
    assert_type(recipe.apply(levels, params), npt.NDArray[Any])
    assert_type(recipe.inverse(tensor, params, interpolation="nearest"), torch.Tensor)


def images_of_pillow(photo: Image, label: int) -> None:
    assert_type(recipe(photo), Image)
    assert_type(recipe([photo, photo]), list[Image])
    assert_type(recipe((photo, label)), tuple[Image, int])
    assert_type(recipe({"image": photo, "label": label}), dict[str, Any])
    assert_type(recipe(photo, photo), tuple[Image, Image])
    assert_type(recipe.apply(photo, recipe.draw(photo)), Image)
    assert_type(T.CenterCrop(8)(photo), Image)


def with_targets(tensor: torch.Tensor, levels: npt.NDArray[np.uint8]) -> None:
    assert_type(recipe(tensor, tensor), tuple[torch.Tensor, torch.Tensor])
    assert_type(recipe(levels, levels), tuple[npt.NDArray[Any], npt.NDArray[Any]])
    assert_type(recipe.show(tensor, masks=levels, labels=[1, 2], n=4, ids=[4, 5], step=3), Figure)
    assert_type(cuaug.show(levels, keypoints=[levels, levels]), Figure)
    images, boxes, labels = recipe(tensor, boxes=tensor, labels=[1, 2])
    assert_type(images, torch.Tensor)
    assert_type((boxes, labels), tuple[Any, Any])


def structures(tensor: torch.Tensor, levels: npt.NDArray[np.uint8], label: int) -> None:
    assert_type(recipe({"image": tensor, "boxes": levels}), dict[str, Any])
    assert_type(recipe((tensor, label)), tuple[torch.Tensor, int])
    assert_type(recipe((levels, label)), tuple[npt.NDArray[Any], int])


def wrong_calls(tensor: torch.Tensor) -> None:
    recipe(3)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
    recipe(tensor, layout="nchw")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
    recipe.show(tensor, mask=tensor)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    recipe.drow(tensor)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    T.Compose([torch.nn.Identity()])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
    T.RandomHorizontalFlip(prob=0.5)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    T.CenterCrop("8")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    T.RandomRotation(30, interpolation="area")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    T.Pad(4, padding_mode="mirror")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    print(T.RandomHorizontalFlp)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]
