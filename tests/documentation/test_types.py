"""The literals of `cuaug.typing`, and the stub of the extension, agree with what they describe."""

import ast
import inspect
from pathlib import Path
from typing import get_args

import pytest

import cuaug
from cuaug import _native, geometry, typing
from cuaug._codecs import decode, encode
from cuaug._detection import box_formats
from cuaug._passes.resample import INTERPOLATIONS
from cuaug._program import dtypes
from cuaug._program.functors import BORDERS, SAMPLERS
from cuaug.data import epoch_order, pipeline, receivers
from cuaug.transforms.policy_tables import POLICIES

NEAREST_EXACT = "nearest-exact"  # torchvision's name of "nearest"


@pytest.mark.parametrize(
    ("literal", "values"),
    [
        (typing.Border, BORDERS),
        (get_args(typing.Interpolation)[0], (*SAMPLERS, NEAREST_EXACT)),
        (typing.InterpolationName, {*SAMPLERS, *INTERPOLATIONS}),
        (typing.Convention, geometry._CONVENTIONS),
        (typing.BoxFormat, box_formats.ALL_FORMATS),
        (typing.Color, decode.COLORS),
        (typing.ChromaSubsampling, encode.SUBSAMPLINGS),
        (typing.DTypeName, {*dtypes.IMAGE_DTYPES, *dtypes.LABEL_DTYPES}),
        (typing.LastBatch, epoch_order.LAST_BATCH_MODES),
        (typing.OnError, pipeline.ON_ERROR),
        (typing.Decoder, receivers.DECODERS),
        (get_args(typing.AutoAugmentPolicy)[0], POLICIES),
    ],
)
def test_typing_literals_equal_accepted_values(literal, values):
    assert set(get_args(literal)) == set(values)


def test_typing_exports_every_alias():
    assert all(hasattr(typing, name) for name in typing.__all__)
    assert all(not inspect.ismodule(getattr(typing, name)) for name in typing.__all__)


@pytest.mark.jpeg
def test_native_stub_names_what_the_extension_has():
    stub = ast.parse((Path(cuaug.__file__).parent / "_native.pyi").read_text())
    definitions = [node for node in stub.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    variables = {node.target.id for node in stub.body if isinstance(node, ast.AnnAssign)}
    public = {name for name in dir(_native) if not name.startswith("_")}
    assert {node.name for node in definitions} | variables == public
    for node in definitions:
        if isinstance(node, ast.ClassDef):
            methods = {entry.name for entry in node.body if isinstance(entry, ast.FunctionDef)}
            methods -= {"__iter__"}  # a type that has `__getitem__` only is iterable, too
            assert methods <= set(dir(getattr(_native, node.name)))
