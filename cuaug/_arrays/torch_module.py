"""Transforms and RoI modules as torch modules: created after `import torch`, they are also ``torch.nn.Module``.

torch is not imported here. An object created before torch was imported works, but is not a module;
`copy.deepcopy` of it, after the import, is one.
"""

from __future__ import annotations

import functools
import sys
from typing import Any, TypeVar

_Instance = TypeVar("_Instance")


def module_class() -> Any:
    """torch.nn.Module if the user has imported torch; else None."""
    return getattr(getattr(sys.modules.get("torch"), "nn", None), "Module", None)


def new_instance(cls: type[_Instance]) -> _Instance:
    """An object of the class, not yet initialised; also a ``torch.nn.Module`` if torch has been imported."""
    module = module_class()
    if module is None:
        return object.__new__(cls)
    plain: Any = cls
    instance: Any = object.__new__(_module_subclass(plain, module))
    module.__init__(instance)
    return instance


def plain_class(cls: type) -> type:
    """The class that `new_instance` was called with."""
    plain: type = vars(cls).get("_plain_class", cls)
    return plain


def has_forward_hooks(instance: Any) -> bool:
    """Whether hooks of torch were registered for calls of the object."""
    attributes = vars(instance)
    return bool(attributes.get("_forward_hooks") or attributes.get("_forward_pre_hooks"))


def call_with_hooks(instance: Any, *args: Any, **kwargs: Any) -> Any:
    """`forward` between the hooks of a torch module."""
    return module_class().__call__(instance, *args, **kwargs)


def call_forward(instance: Any, *args: Any, **kwargs: Any) -> Any:
    """`forward`, between the hooks of a torch module if there are some."""
    if has_forward_hooks(instance):
        return call_with_hooks(instance, *args, **kwargs)
    return instance.forward(*args, **kwargs)


@functools.cache
def _module_subclass(cls: Any, module: Any) -> type:
    if issubclass(cls, module):
        return cls
    # The class keeps its own `__call__`, unless that is its `forward`: the module's `__call__`, which runs hooks, adds
    # 2 us to every call.
    body = {"_plain_class": cls}
    body |= {"__call__": module.__call__} if cls.__call__ is cls.forward else {}
    body |= {name: getattr(cls, name) for name in ("__module__", "__qualname__", "__doc__")}
    if hasattr(cls, "state_dict"):
        body |= _shared_methods(cls, module)
    return type(cls.__name__, (cls, module), body)


def _shared_methods(cls: Any, module: Any) -> dict[str, Any]:
    """Methods that a recipe and a module both have; the arguments decide which of the two runs.

    A model's `state_dict` includes the result of `get_extra_state`.
    """

    def apply(self: Any, *args: Any, **kwargs: Any) -> Any:
        """A recipe's takes (images, params); a module's takes (function)."""
        is_module_call = [callable(value) for value in (*args, *kwargs.values())] == [True]
        return (module if is_module_call else cls).apply(self, *args, **kwargs)

    def state_dict(self: Any, *args: Any, **kwargs: Any) -> Any:
        """A recipe's takes no arguments; a module's is called with some, as a part of a model."""
        return module.state_dict(self, *args, **kwargs) if args or kwargs else cls.state_dict(self)

    def load_state_dict(self: Any, state: Any, *args: Any, **kwargs: Any) -> Any:
        """A module's state has a recipe's as an entry. A recipe's is loaded without options such as `strict`."""
        keys = state if isinstance(state, dict) else ()
        if "_extra_state" in keys or ((args or kwargs) and "seed" not in keys):
            return module.load_state_dict(self, state, *args, **kwargs)
        return cls.load_state_dict(self, state)

    return {
        "apply": apply,
        "state_dict": state_dict,
        "load_state_dict": load_state_dict,
        "get_extra_state": cls.state_dict,
        "set_extra_state": cls.load_state_dict,
    }
