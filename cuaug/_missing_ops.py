"""The names of torchvision.ops that cuaug does not have: why, and what to use in their place."""

from __future__ import annotations

from collections.abc import Mapping

_NETWORK = "it is a part of a network: use torchvision's, which accepts cuaug's results"
_BOX_LOSS = "1 - {}(boxes1[:, None], boxes2[:, None])[:, 0, 0] is the loss of each pair, with its gradient"

# The names in the advice are those of cuaug.
MISSING_OPS: Mapping[str, str] = {
    "complete_box_iou_loss": _BOX_LOSS.format("complete_box_iou"),
    "distance_box_iou_loss": _BOX_LOSS.format("distance_box_iou"),
    "generalized_box_iou_loss": _BOX_LOSS.format("generalized_box_iou"),
    **dict.fromkeys(("Conv2dNormActivation", "Conv3dNormActivation", "FeaturePyramidNetwork"), _NETWORK),
    **dict.fromkeys(("FrozenBatchNorm2d", "MLP", "Permute", "SqueezeExcitation"), _NETWORK),
    **dict.fromkeys(("deform_conv2d", "DeformConv2d"), _NETWORK),
    **dict.fromkeys(("drop_block2d", "DropBlock2d", "drop_block3d", "DropBlock3d"), _NETWORK),
    **dict.fromkeys(("stochastic_depth", "StochasticDepth"), _NETWORK),
    "sigmoid_focal_loss": "it is a loss of scores, not of boxes: use torchvision's",
}
