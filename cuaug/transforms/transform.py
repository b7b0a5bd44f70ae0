"""`Transform`: an entry of a recipe, which appends draws and ops to the recipe or runs on whole samples."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar, overload

from .._arrays import torch_module
from .._check import prefix_message
from .._fusion.recipe import Recipe
from ..typing import AnyArray, Ids, Layout, NumPyArray, PillowImage
from . import assigned_attributes, ranges, registry, sample_methods
from .unfused import call_on_targets

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Transform"]

_Transform = TypeVar("_Transform")
_Signature = TypeVar("_Signature")
# A call returns the types that it is given, except that NumPy's dtype may change and that a dict may gain an entry.
_Sample = TypeVar("_Sample", bound="AnyArray | PillowImage | list[Any] | tuple[Any, ...] | Mapping[Any, Any]")
_AnyTarget: TypeAlias = AnyArray | PillowImage | Sequence[Any] | Mapping[str, Any]  # masks, boxes, keypoints or labels
_Target = TypeVar("_Target", bound=_AnyTarget)
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")
_CALL_STATE = ("_single_recipe", "_base_recipe", "_is_planned")  # attributes that a copy begins without


def typed_as(signature: _Signature) -> Callable[[Callable[..., Any]], _Signature]:
    """Gives the decorated function the types of `signature`, so that they are written once."""

    def decorate(function: Any) -> _Signature:
        return function

    return decorate


class Transform:
    """One entry of a recipe, and the base of a user's own transforms. Called with images, it runs as a recipe of one.

    Most transforms of this package are *fused*: neighbours share passes. Others (conversions to another type, limits of
    boxes, several crops, results of several sizes) and a user's own subclasses of ``Transform`` are not: they run on
    whole samples, between the fused parts of the recipe.

    As in torchvision, a subclass defines ``transform``, which is called with each target of a sample (images, masks,
    boxes, keypoints), and may define ``make_params``, which is called once before; or it defines ``forward``, which
    gets the sample itself. A batch of images is passed whole, in one call.

    Attributes have the names of the constructor's parameters. A transform created after ``import torch`` is also a
    ``torch.nn.Module``.

    >>> import numpy as np
    >>> from cuaug import transforms as T
    >>> class Halve(T.Transform):
    ...     def transform(self, inpt, params):
    ...         return inpt // 2
    >>> T.Compose([T.RandomHorizontalFlip(p=1.0), Halve()], seed=0)(np.array([[[2], [4]]], np.uint8)).ravel()
    array([2, 1], dtype=uint8)
    """

    # Given to `transform`. None: images, and other targets that are tv_tensors or images of Pillow.
    transformed_kinds: ClassVar[tuple[str, ...] | None] = None
    refused_kinds: ClassVar[tuple[str, ...]] = ()  # which a sample must not have
    reads_layout: ClassVar[bool] = False  # `transform` gets the layout of the call's images as params["layout"]
    # `transform` gets and returns images in the layout of their library, and gets a target's kind as params["kind"].
    sets_layout: ClassVar[bool] = False
    makes_crops: ClassVar[bool] = False  # `transform` returns the crops of images in a tuple

    _recipe_base: ClassVar[Any] = None  # the nearest class whose objects a recipe runs, if any
    # Methods for whole samples that classes below `_recipe_base` (without one: below `Transform`) define.
    _sample_methods: ClassVar[frozenset[str]] = frozenset()
    _new_recipe: ClassVar[Callable[[list[Transform]], Transform]]  # `Compose`, set by compose.py

    def __init_subclass__(cls, has_description: bool = True, **kwargs: Any) -> None:
        cls._recipe_base, cls._sample_methods = sample_methods.recipe_base(cls, Transform)
        if torch_module.plain_class(cls) is not cls:  # derived by torch_module, without the keywords of the plain class
            return
        super().__init_subclass__(**kwargs)
        if has_description and cls.__module__.startswith(f"{__name__.rpartition('.')[0]}."):  # not a user's class
            registry.register(cls)

    def __new__(cls: type[_Transform], *args: Any, **kwargs: Any) -> _Transform:
        return torch_module.new_instance(cls)

    def write(self, recipe: Recipe) -> None:
        """Append the draws and ops of this transform, for `append_to`. Only fused transforms define it."""
        raise NotImplementedError

    @property
    def takes_targets(self) -> bool:
        """Whether `transform` is called with each target; else `forward` or a user's `__call__` gets the sample."""
        return type(self).forward is Transform.forward and not self.has_own_call

    @property
    def has_own_call(self) -> bool:
        """Whether a user's subclass defines `__call__`, which a recipe then calls in place of `forward`."""
        return "__call__" in self._sample_methods

    @property
    def is_fused(self) -> bool:
        """Whether the transform is planned together with its neighbours."""
        return self.needs_recipe

    @property
    def needs_recipe(self) -> bool:
        """Whether a recipe draws the parameters, by its seed and step; not with methods for whole samples."""
        return self._recipe_base is not None and not self._sample_methods

    @property
    def calls_recipe(self) -> bool:
        """Whether it is a user's subclass of a transform that a recipe runs: `super().forward` gives its result."""
        return self._recipe_base is not None and not self.needs_recipe

    @property
    def draw_position_count(self) -> int:
        """How many positions its draws have in a recipe: the calls of `Recipe.begin` in `append_to`."""
        return 1

    def check_inputs(self, flat_inputs: list[Any]) -> None:
        """Called before `make_params` with all targets of a sample, to refuse some."""

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """The parameters of one call, from all targets of the sample."""
        if self.needs_recipe or (self._recipe_base and "make_params" in self._sample_methods):  # of a subclass
            raise sample_methods.missing_method(self.title, self._recipe_base, "make_params")
        return {}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The result for one target of the sample: a batch, an image, a mask, boxes or keypoints."""
        raise sample_methods.missing_method(self.title, self._recipe_base, "transform")

    def forward(self, *inputs: Any, **arguments: Any) -> Any:
        """The result for a sample: that of the recipe, or of `make_params` and then `transform` with each target."""
        if self.needs_recipe:
            return self._call_recipe("_single_recipe", inputs, arguments)
        # `super().forward` of a subclass:
        if self._recipe_base is not None and self._sample_methods <= sample_methods.CALL_METHODS:
            return self._call_recipe("_base_recipe", inputs, arguments)
        return call_on_targets(self, inputs[0] if len(inputs) == 1 else inputs, **arguments)

    @property
    def takes_layout(self) -> bool:
        """Whether `call_forward` takes the layout of the sample's images."""
        return self.takes_targets and (self.reads_layout or self.sets_layout)

    @property
    def title(self) -> str:
        """The name in plans, drawn parameters and errors."""
        return type(self).__name__

    def flattened(self) -> Iterator[Transform]:
        """This transform, or the transforms that it contains in its place."""
        yield self

    def append_to(self, recipe: Recipe) -> None:
        """Count and name the transform in a recipe, then `write`; errors begin with the title."""
        recipe.begin(self.title)
        assigned_attributes.read(self)
        try:
            self.write(recipe)
        except (TypeError, ValueError) as error:
            prefix_message(error, self.title)
            raise

    @overload
    def __call__(
        self, images: NumPyArray, *, ids: Ids = None, step: int | None = None, layout: Layout | None = None
    ) -> NumPyArray: ...
    @overload
    def __call__(
        self, images: list[NumPyArray], *, ids: Ids = None, step: int | None = None, layout: Layout | None = None
    ) -> list[NumPyArray]: ...
    @overload
    def __call__(
        self,
        images: tuple[NumPyArray, _Value],
        *,
        ids: Ids = None,
        step: int | None = None,
        layout: Layout | None = None,
    ) -> tuple[NumPyArray, _Value]: ...
    @overload
    def __call__(
        self, images: dict[_Key, Any], *, ids: Ids = None, step: int | None = None, layout: Layout | None = None
    ) -> dict[_Key, Any]: ...
    @overload
    def __call__(
        self, images: _Sample, *, ids: Ids = None, step: int | None = None, layout: Layout | None = None
    ) -> _Sample: ...
    @overload
    def __call__(
        self,
        images: NumPyArray,
        masks: NumPyArray,
        *,
        ids: Ids = None,
        step: int | None = None,
        layout: Layout | None = None,
    ) -> tuple[NumPyArray, NumPyArray]: ...
    @overload
    def __call__(
        self,
        images: NumPyArray,
        masks: _AnyTarget | None = None,
        boxes: _AnyTarget | None = None,
        keypoints: _AnyTarget | None = None,
        labels: _AnyTarget | None = None,
        *,
        ids: Ids = None,
        step: int | None = None,
        layout: Layout | None = None,
    ) -> tuple[NumPyArray, Unpack[tuple[Any, ...]]]: ...
    @overload
    def __call__(
        self, images: _Sample, masks: _Target, *, ids: Ids = None, step: int | None = None, layout: Layout | None = None
    ) -> tuple[_Sample, _Target]: ...
    @overload
    def __call__(
        self,
        images: _Sample,
        masks: _AnyTarget | None = None,
        boxes: _AnyTarget | None = None,
        keypoints: _AnyTarget | None = None,
        labels: _AnyTarget | None = None,
        *,
        ids: Ids = None,
        step: int | None = None,
        layout: Layout | None = None,
    ) -> tuple[_Sample, Unpack[tuple[Any, ...]]]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run as a recipe of its own, as :meth:`Compose.__call__`.

        A transform that is not fused and draws nothing by the seed of a recipe, such as :class:`ToImage` or one of a
        user, takes the sample, or its targets, by position only: no ``ids`` and ``step``, and ``layout`` only if it
        depends on the layout, as :class:`FiveCrop` and :class:`ToImage`.
        """
        attributes = vars(self)
        if "_single_recipe" not in attributes and not self.needs_recipe:
            return self.call_forward(*args, **kwargs)
        if attributes.get("_forward_hooks") or attributes.get("_forward_pre_hooks"):
            return torch_module.call_with_hooks(self, *args, **kwargs)
        if "_single_recipe" not in attributes:
            return self._call_recipe("_single_recipe", args, kwargs)
        try:
            return attributes["_single_recipe"](*args, **kwargs)  # as `_call_recipe`, in less time
        except (TypeError, ValueError) as error:
            self._replace_prefix(error)
            raise

    def call_forward(self, *inputs: Any, **arguments: Any) -> Any:
        """Call `forward`. Errors of this package's transforms begin with the transform's public name."""
        try:
            if arguments and not self._forward_takes(inputs, arguments):
                names = ", ".join(f"{name}=" for name in arguments)
                raise TypeError(
                    f"{self.title} is not fused: it takes the sample, or its targets, by position only, got {names}"
                )
            return torch_module.call_forward(self, *inputs, **arguments)
        except (TypeError, ValueError) as error:
            cls = torch_module.plain_class(type(self))
            if registry.registered_class(cls.__name__) is cls and not str(error).startswith("cuaug."):
                prefix_message(error, f"cuaug.transforms.{cls.__name__}")
            raise

    def _forward_takes(self, inputs: Sequence[Any], arguments: Mapping[str, Any]) -> bool:
        """Whether `forward` takes these arguments by name."""
        if type(self).forward is not Transform.forward:
            return sample_methods.takes_arguments(self.forward, inputs, arguments)
        runs_recipe = self._recipe_base is not None and self._sample_methods == {"__call__"}
        return runs_recipe or (arguments.keys() == {"layout"} and (self.reads_layout or self.sets_layout))

    def to_dict(self) -> dict[str, Any]:
        """The transform as plain numbers, strings and lists, for JSON; ``from_dict`` restores it.

        It does not restore objects of a user's classes, whose constructors it must not call.
        """
        arguments = {name: registry.plain_value(value) for name, value in self._init_arguments().items()}
        return {"name": type(self).__name__, **arguments}

    def __repr__(self) -> str:
        arguments = (f"{name}={value!r}" for name, value in self._init_arguments().items())
        return f"{type(self).__name__}({', '.join(arguments)})"

    def __reduce__(self) -> Any:
        return torch_module.new_instance, (torch_module.plain_class(type(self)),), self.__getstate__()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in _CALL_STATE}

    if not TYPE_CHECKING:  # type checkers would accept every name
        get_params = sample_methods.MissingMethod()

        def __setattr__(self, name: str, value: Any) -> None:
            if name in vars(self):
                assigned_attributes.note(self, name)
            try:
                value = self._assigned_value(name, value)
            except (TypeError, ValueError) as error:
                prefix_message(error, f"cuaug.transforms.{self.title}")
                raise
            super().__setattr__(name, value)

    def _assigned_value(self, name: str, value: Any) -> Any:
        """What an attribute becomes if this value is assigned to it."""
        is_fill_by_type = name == "fill" and isinstance(value, Mapping) and self._recipe_base is not None
        return ranges.fill(value) if is_fill_by_type else value

    def _planned_names(self) -> Collection[str]:
        """Attributes whose values are part of the plans of a recipe."""
        attributes = vars(self)
        cls = self._recipe_base if "_base_recipe" in attributes else type(self)
        is_planned = "_is_planned" in attributes or "_base_recipe" in attributes
        return registry.inherited_parameter_names(torch_module.plain_class(cls), Transform) if is_planned else ()

    def _call_recipe(self, key: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Run this transform, or an object of `_recipe_base`, as a recipe of one that the attribute `key` stores."""
        attributes = vars(self)  # not setattr, which would register the recipe as a submodule of a torch module
        if key not in attributes:
            attributes[key] = Transform._new_recipe([self if key == "_single_recipe" else self._base_object()])
        try:
            return attributes[key](*args, **kwargs)
        except (TypeError, ValueError) as error:
            self._replace_prefix(error)
            raise

    def _base_object(self) -> Transform:
        """An object of `_recipe_base`, with the same attributes."""
        result: Transform = torch_module.new_instance(self._recipe_base)
        own_names = vars(result).keys()  # of a torch module: its parameters and hooks
        vars(result).update({name: value for name, value in self.__getstate__().items() if name not in own_names})
        return result

    def _replace_prefix(self, error: Exception) -> None:
        """Replace the prefix of `Compose` in an error by the name of the transform that the user called."""
        cls, prefix = torch_module.plain_class(type(self)), "cuaug.transforms.Compose: "
        message = str(error)
        if registry.registered_class(cls.__name__) is cls and message.startswith(prefix):
            message = message.removeprefix(prefix).removeprefix(f"{cls.__name__}: ")
            message = message.replace("Compose.__call__()", f"{cls.__name__}.__call__()")
            error.args = (f"cuaug.transforms.{cls.__name__}: {message}", *error.args[1:])

    def _init_arguments(self) -> dict[str, Any]:
        names = registry.parameter_names(torch_module.plain_class(type(self)))
        return {name: vars(self)[name] for name in names if name in vars(self)}
