"""A Sphinx extension: ``.. public:: PACKAGE MODULE`` documents every name of a module's ``__all__``.

An entry has the name under which users import it, and the gallery's picture of it where there is one. A name that a
module gains is therefore documented without an edit of a page.
"""

from __future__ import annotations

import enum
import importlib
import inspect
from pathlib import Path
from types import FunctionType
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxDirective
from sphinx.util.inspect import stringify_signature
from sphinx.util.typing import stringify_annotation

from cuaug.transforms.transform import Transform

_ANY = (Any, "Any")  # "Any" where annotations are not evaluated
GALLERY = Path(__file__).resolve().parent / "gallery"


class PublicNames(SphinxDirective):
    """``.. public:: cuaug cuaug.warp``: the module's docstring, a summary of its names, then an entry for each."""

    required_arguments = 2

    def run(self) -> list[nodes.Node]:
        package, module = self.arguments
        owner, names = importlib.import_module(package), importlib.import_module(module).__all__
        function_hides_module = callable(getattr(owner, module.rpartition(".")[2], None))  # cuaug.show
        lines = [] if function_hides_module else [f".. automodule:: {module}", ""]
        lines += [f".. currentmodule:: {package}", "", ".. autosummary::", ""]
        lines += [f"   {name}" for name in names]
        for name in names:
            kind, options = directive(getattr(owner, name))
            lines += ["", f".. {kind}:: {name}", *options]
        return self.parse_text_to_nodes("\n".join(lines))


def directive(public_object: Any) -> tuple[str, list[str]]:
    """The autodoc directive for an object, and its options."""
    if not inspect.isclass(public_object):
        return "autofunction", []
    if issubclass(public_object, enum.Enum):
        return "autoclass", ["   :members:", "   :undoc-members:"]
    # What every transform has is described once, in the entry of their base class.
    members = [
        name
        for name, value in vars(public_object).items()
        if value.__doc__ and isinstance(value, (FunctionType, property)) and not name.startswith("_")
        if not (issubclass(public_object, Transform) and hasattr(Transform, name))
    ]
    attributes = vars(public_object)
    calls = ["__call__"] if attributes.get("__call__") is not attributes.get("forward") else []
    options = {"members": ", ".join(members), "special-members": ", ".join(calls)}  # an empty one means all members
    return "autoclass", [f"   :{option}: {names}" for option, names in options.items() if names]


def add_picture(app: Sphinx, what: str, name: str, public_object: Any, options: Any, lines: list[str]) -> None:
    """Appends the gallery's picture to the docstring of a function or a transform."""
    short = name.removeprefix("cuaug.").replace("transforms.", "T.")
    if (GALLERY / f"{short}.jpg").exists():
        lines += ["", f".. image:: /gallery/{short}.jpg", f"   :alt: The photograph, and results of {short}", ""]


def source_signature(
    app: Sphinx, what: str, name: str, public_object: Any, options: Any, arguments: str | None, result: str | None
) -> tuple[str, str] | None:
    """The signature with types as the source has them: aliases by name, and the parameters of `__init__` of a class.

    Sphinx shows what an alias stands for, and prefers `__new__`, which all transforms have. `Any` says nothing: the
    entry describes these arguments.
    """
    if what not in ("class", "function", "method") or arguments is None:
        return None
    signature = inspect.signature(public_object)
    parameters = [
        parameter.replace(annotation=parameter.empty) if parameter.annotation in _ANY else parameter
        for parameter in list(signature.parameters.values())[what == "method" :]  # without self
    ]
    arguments = stringify_signature(
        signature.replace(parameters=parameters), show_return_annotation=False, unqualified_typehints=True
    )
    has_result = what != "class" and signature.return_annotation not in (signature.empty, *_ANY)
    return arguments, stringify_annotation(signature.return_annotation, "smart") if has_result else ""


def hide_overloads(app: Sphinx) -> None:
    """Shows the implementation's signature, which has every option, in place of those for type checkers."""
    names = "cuaug", "cuaug.data", "cuaug.io", "cuaug.transforms", "cuaug.transforms.functional"
    packages = [importlib.import_module(name) for name in names]
    for module in {getattr(package, name).__module__ for package in packages for name in package.__all__}:
        analyzer = ModuleAnalyzer.for_module(module)
        analyzer.analyze()
        analyzer.overloads.clear()


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("public", PublicNames)
    app.connect("builder-inited", hide_overloads)
    app.connect("autodoc-process-docstring", add_picture)
    app.connect("autodoc-process-signature", source_signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
