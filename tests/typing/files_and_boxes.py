"""Types of decoding, loading and detection, for mypy and pyright; not run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from typing_extensions import assert_type

import cuaug
from cuaug import transforms as T
from cuaug.data import Batch, ImageFiles, Loader


def decoding(data: bytes, path: Path) -> None:
    assert_type(cuaug.io.decode_jpeg(path), npt.NDArray[np.uint8])
    assert_type(cuaug.io.decode_jpeg([data, path], color="gray"), list[npt.NDArray[np.uint8]])
    assert_type(cuaug.io.decode_jpeg(data, like="torch", device="cuda"), torch.Tensor)
    assert_type(cuaug.io.decode_jpeg([data], like="torch"), list[torch.Tensor])
    assert_type(cuaug.io.decode_and_crop_jpeg(data, 0, 0, 8, 8), npt.NDArray[np.uint8])
    assert_type(cuaug.io.decode_image(data), npt.NDArray[np.uint8])
    assert_type(cuaug.io.read_header(data), cuaug.io.Header)
    assert_type(cuaug.io.read_header([data, data]), list[cuaug.io.Header])


def loading() -> None:
    loader = Loader(ImageFiles("train"), 64, [T.RandomResizedCrop(224)], last="drop", on_error="skip")
    for batch in loader:
        assert_type(batch, Batch)


def detection(tensor: torch.Tensor, boxes: npt.NDArray[np.float32]) -> None:
    assert_type(cuaug.nms(tensor, tensor, 0.5), torch.Tensor)
    assert_type(cuaug.nms(tensor, tensor, 0.5, fixed_size=True, max_output=9), tuple[torch.Tensor, torch.Tensor])
    assert_type(cuaug.nms(boxes, boxes, 0.5), npt.NDArray[np.int64])
    assert_type(cuaug.soft_nms(tensor, tensor), tuple[torch.Tensor, torch.Tensor])
    assert_type(cuaug.roi_align([tensor, tensor], tensor, 7, [0.25, 0.125]), torch.Tensor)
    assert_type(cuaug.box_iou(boxes, boxes), npt.NDArray[Any])
    assert_type(cuaug.box_iou(tensor, tensor, "giou"), torch.Tensor)
    assert_type(cuaug.box_convert(tensor, "xywhr", "xyxyxyxy"), torch.Tensor)
    assert_type(cuaug.ops.complete_box_iou(tensor, tensor, eps=1e-6), torch.Tensor)
    assert_type(cuaug.ops.masks_to_boxes(tensor), torch.Tensor)
    assert_type(cuaug.ops.masks_to_boxes(boxes), npt.NDArray[np.float32])
    assert_type(cuaug.ops.RoIAlign(7, 0.25, 2)(tensor, [tensor]), torch.Tensor)
    pooler = cuaug.ops.MultiScaleRoIAlign(["0"], 7, 2)
    assert_type(pooler({"0": tensor}, [tensor], [(480, 640)]), torch.Tensor)


def wrong_calls(data: bytes, tensor: torch.Tensor) -> None:
    cuaug.io.decode_jpeg(3)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
    Loader("train", 64, last="dorp")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    cuaug.nms(tensor, tensor)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
    cuaug.box_area(tensor, "xywhr")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
    cuaug.box_iou(tensor, tensor, "uio")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
