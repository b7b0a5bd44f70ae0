"""Attributes of transforms that are assigned after the constructor are checked when calls read them."""

from __future__ import annotations

from typing import Any

from .._arrays import torch_module
from . import registry


def note(transform: Any, name: str) -> None:
    """Note that the attribute is assigned again. Raises an AttributeError if calls no longer read it."""
    if name in transform._planned_names():
        title = transform.title
        raise AttributeError(
            f"{title}.{name} must not change, as calls no longer read it: use a new {title}(..., {name}=...) "
            "in its place, or change a copy.deepcopy before its first call"
        )
    attributes = vars(transform)
    attributes["_assigned"] = {*attributes.get("_assigned", ()), name}


def read(transform: Any) -> None:
    """Called before a plan reads the attributes: the assigned ones become what the constructor makes of their values.

    Attributes of a user's class stay as they are: its constructor may have other rules. Errors begin with the
    transform's title.
    """
    attributes, cls = vars(transform), torch_module.plain_class(type(transform))
    was_planned = "_is_planned" in attributes
    attributes["_is_planned"] = True
    names = attributes.get("_assigned", set()) & {*transform._planned_names()} - {"transforms"}  # checked elsewhere
    if not names or registry.registered_class(cls.__name__) is not cls or not attributes.get("transforms", True):
        return
    try:
        checked = vars(cls(**transform._init_arguments()))
    except (TypeError, ValueError) as error:
        if not was_planned:
            del attributes["_is_planned"]  # so that the user may assign a right value
        error.args = (str(error).removeprefix("cuaug.transforms."),)
        raise
    attributes.update({name: checked[name] for name in names if name in checked})
    del attributes["_assigned"]
