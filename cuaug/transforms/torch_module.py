"""Transforms as torch modules, for who has imported torch: decided when one is made, as torch is not imported here.

A transform made before that is none, and works all the same; `copy.deepcopy` makes a module of it afterwards.
"""

from __future__ import annotations

import functools
import sys
from typing import Any


def module_class() -> Any:
    """torch.nn.Module, where the user has imported torch; else None."""
    return getattr(getattr(sys.modules.get("torch"), "nn", None), "Module", None)


def instance(cls: type) -> Any:
    """An object of the class, not yet initialised: also a ``torch.nn.Module`` if there is such a thing."""
    module = module_class()
    if module is None:
        return object.__new__(cls)
    made: Any = object.__new__(_joined(cls, module))
    module.__init__(made)
    return made


def plain(own: type) -> type:
    """The class that `instance` was asked for."""
    found: type = vars(own).get("_plain", own)
    return found


@functools.cache
def _joined(cls: Any, module: Any) -> type:
    if issubclass(cls, module):
        return cls  # type: ignore[no-any-return]
    # Called by its own `__call__`: torch's, which looks for hooks first, would add 2 us to every call.
    body = {"_plain": cls, "forward": cls.__call__}
    body |= {name: getattr(cls, name) for name in ("__module__", "__qualname__", "__doc__")}
    if hasattr(cls, "state_dict"):
        body |= _shared(cls, module)
    return type(cls.__name__, (cls, module), body)


def _shared(cls: Any, module: Any) -> dict[str, Any]:
    """Methods that a recipe and a module both have: arguments tell which is meant.

    A model's `state_dict` gathers what `get_extra_state` gives.
    """

    def apply(self: Any, *args: Any, **kwargs: Any) -> Any:
        """Of a recipe (images, params); of a module (function)."""
        own = len(args) + len(kwargs) > 1 or not callable(args[0])
        return (cls if own else module).apply(self, *args, **kwargs)

    def state_dict(self: Any, *args: Any, **kwargs: Any) -> Any:
        """Of a recipe; with arguments, as a part of a model."""
        return module.state_dict(self, *args, **kwargs) if args or kwargs else cls.state_dict(self)

    def load_state_dict(self: Any, state: Any, *args: Any, **kwargs: Any) -> Any:
        """Of either."""
        if "seed" in state:
            return cls.load_state_dict(self, state)
        return module.load_state_dict(self, state, *args, **kwargs)

    return {
        "apply": apply,
        "state_dict": state_dict,
        "load_state_dict": load_state_dict,
        "get_extra_state": cls.state_dict,
        "set_extra_state": cls.load_state_dict,
    }
