"""Modules of torchvision as fixtures: the real ones, and a stand-in for torchvision.tv_tensors."""

import enum
import sys
import types

import pytest

from cuaug._arrays import tv_tensors


class Format(enum.Enum):
    XYXY = "XYXY"
    XYWH = "XYWH"
    XYWHR = "XYWHR"


def stand_in():
    """The part of ``torchvision.tv_tensors`` that cuaug uses: subclasses of a tensor, with metadata as attributes."""
    torch = pytest.importorskip("torch")
    module = types.ModuleType("torchvision.tv_tensors")

    class TVTensor(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            with torch._C.DisableTorchFunctionSubclass():
                return function(*args, **(kwargs or {}))

    def new(cls, data, **metadata):
        tensor = torch.as_tensor(data).as_subclass(cls)
        for name, value in metadata.items():
            setattr(tensor, name, Format[value] if isinstance(value, str) else value)
        return tensor

    for name in tv_tensors.TV_TENSORS:
        setattr(module, name, type(name, (TVTensor,), {"__new__": new}))

    def wrap(wrappee, *, like, **metadata):
        inherited = {name: getattr(like, name) for name in ("format", "canvas_size") if hasattr(like, name)}
        assert set(metadata) <= set(inherited), "metadata that this type does not have"
        return type(like)(wrappee, **(inherited | metadata))

    module.wrap = wrap
    return module


@pytest.fixture(params=["a stand-in", "torchvision"])
def tv(request, monkeypatch):
    """The module ``torchvision.tv_tensors``, and a stand-in for it."""
    if request.param == "torchvision":
        return pytest.importorskip("torchvision.tv_tensors")
    module = stand_in()
    monkeypatch.setitem(sys.modules, "torchvision.tv_tensors", module)
    return module


@pytest.fixture(scope="module")
def v2():
    return pytest.importorskip("torchvision.transforms.v2")


@pytest.fixture(scope="module")
def TF():
    return pytest.importorskip("torchvision.transforms.v2.functional")


@pytest.fixture(scope="module")
def real_tv():
    return pytest.importorskip("torchvision.tv_tensors")
