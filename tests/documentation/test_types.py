"""The literals of `cuaug.typing`, and the stub of the extension, agree with what they describe."""

import ast
import re
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

import cuaug
from cuaug import _native, geometry, typing
from cuaug import transforms as T
from cuaug._codecs import decode, encode
from cuaug._detection import box_formats
from cuaug._passes.resample import INTERPOLATIONS
from cuaug._program import dtypes
from cuaug._program.functors import BORDERS, SAMPLERS
from cuaug.data import epoch_order, pipeline, receivers
from cuaug.transforms.policy_tables import POLICIES

NEAREST_EXACT = "nearest-exact"  # torchvision's name of "nearest"


ACCEPTED_VALUES = {
    "Border": BORDERS,
    "Interpolation": (*SAMPLERS, NEAREST_EXACT),
    "ResizeInterpolation": (*INTERPOLATIONS, NEAREST_EXACT),
    "InterpolationName": (*SAMPLERS, *INTERPOLATIONS),
    "Convention": geometry._CONVENTIONS,
    "BoxFormat": box_formats.ALL_FORMATS,
    "Color": decode.COLORS,
    "ChromaSubsampling": encode.SUBSAMPLINGS,
    "DType": (*dtypes.IMAGE_DTYPES, *dtypes.LABEL_DTYPES),
    "DTypeName": (*dtypes.IMAGE_DTYPES, *dtypes.LABEL_DTYPES),
    "LastBatch": epoch_order.LAST_BATCH_MODES,
    "OnError": pipeline.ON_ERROR,
    "Decoder": receivers.DECODERS,
    "AutoAugmentPolicy": POLICIES,
}
IMAGE, BOXES, POINTS = np.zeros((8, 8, 3), np.uint8), np.zeros((1, 4)), np.zeros((3, 2))
# Calls whose error for an unknown value names the accepted ones.
CALLS_WITH_VALUE = {
    "Layout": lambda value: cuaug.hflip(IMAGE, layout=value),
    "Origin": lambda value: cuaug.warp_affine(IMAGE, np.eye(3), origin=value),
    "FitKind": lambda value: cuaug.estimate_affine(POINTS, POINTS, value),
    "UprightBoxFormat": lambda value: cuaug.box_area(BOXES, value),
    "LowerCaseBoxFormat": lambda value: cuaug.box_convert(BOXES, value, "xyxy"),
    "IouKind": lambda value: cuaug.box_iou(BOXES, BOXES, value),
    "MaskKind": lambda value: T.RandomMask(kind=value),
    "NmsMethod": lambda value: cuaug.soft_nms(BOXES, np.ones(1), method=value),
    "RoiMode": lambda value: cuaug.roi_align(np.zeros((1, 1, 8, 8)), np.zeros((1, 5)), 2, mode=value),
}
NOT_TESTED = {"LibraryName"}  # which of them a call accepts depends on its device


def strings_in(alias):
    """The strings of the literals of an alias, and of those in its unions."""
    return {entry for part in get_args(alias) for entry in ({part} if isinstance(part, str) else strings_in(part))}


@pytest.mark.parametrize("name", ACCEPTED_VALUES)
def test_typing_literals_equal_accepted_values(name):
    assert strings_in(getattr(typing, name)) == set(ACCEPTED_VALUES[name])


@pytest.mark.parametrize("name", CALLS_WITH_VALUE)
def test_typing_literals_equal_values_named_in_errors(name):
    with pytest.raises(ValueError, match=r"must be one of .*, got 'unknown'") as error:
        CALLS_WITH_VALUE[name]("unknown")
    accepted = str(error.value).partition("must be one of ")[2].partition(", got ")[0]
    assert strings_in(getattr(typing, name)) == set(re.findall("'(.*?)'", accepted))


def test_typing_exports_every_alias_and_tests_every_literal():
    statements = ast.parse(Path(typing.__file__).read_text()).body
    aliases = {node.target.id for node in statements if isinstance(node, ast.AnnAssign)}
    classes = {node.name for node in statements if isinstance(node, ast.ClassDef) and not node.name.startswith("_")}
    assert {*aliases, *classes, "Array"} == set(typing.__all__)
    literals = {name for name in aliases if strings_in(getattr(typing, name))}
    assert literals == {*ACCEPTED_VALUES, *CALLS_WITH_VALUE, *NOT_TESTED}


def public_names(names):
    return {name for name in names if not name.startswith("_")}


@pytest.mark.jpeg
def test_native_stub_names_what_the_extension_has():
    stub = ast.parse((Path(cuaug.__file__).parent / "_native.pyi").read_text())
    definitions = [node for node in stub.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    variables = {node.target.id for node in stub.body if isinstance(node, ast.AnnAssign)}
    assert {node.name for node in definitions} | variables == public_names(dir(_native))
    for node in definitions:
        if isinstance(node, ast.ClassDef):
            methods = {entry.name for entry in node.body if isinstance(entry, ast.FunctionDef)}
            methods -= {"__iter__"}  # a type that has `__getitem__` only is iterable, too
            native_class = getattr(_native, node.name)
            assert methods <= set(dir(native_class))
            assert public_names(methods) == public_names(vars(native_class))
