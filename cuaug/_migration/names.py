"""Finds names imported from other libraries, and rewrites the imports."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from .._equivalents import Equivalent
from .._missing_names import TRANSFORMS

# By module of another library: the library's name in `_missing_names`, and the module of cuaug; none for advice only.
MODULES: dict[str, tuple[str, str | None]] = {
    "albumentations": ("Albumentations", "cuaug.transforms"),
    "albumentations.pytorch": ("Albumentations", "cuaug.transforms"),
    "cv2": ("OpenCV", None),
    "imgaug.augmenters": ("imgaug", None),
    "kornia.augmentation": ("kornia", "cuaug.transforms"),
    "nvidia.dali.fn": ("DALI", None),
    "torchvision.ops": ("torchvision", "cuaug.ops"),
    "torchvision.transforms": ("torchvision", "cuaug.transforms"),
    "torchvision.transforms.autoaugment": ("torchvision", "cuaug.transforms"),
    "torchvision.transforms.transforms": ("torchvision", "cuaug.transforms"),
    "torchvision.transforms.functional": ("torchvision", "cuaug.transforms.functional"),
    "torchvision.transforms.v2": ("torchvision", "cuaug.transforms"),
    "torchvision.transforms.v2.functional": ("torchvision", "cuaug.transforms.functional"),
}
TRANSFORMS_MODULE = "cuaug.transforms"
# Names of submodules are read as names of the package. Submodules are lower case: `albumentations.Compose` is none.
_SUBMODULE = re.compile(r"(albumentations|kornia\.augmentation)(\.[a-z_0-9]+)+")


@dataclass(frozen=True)
class OtherName:
    """A name of another library in the file."""

    library: str
    module: str  # "albumentations"
    name: str  # "HorizontalFlip"
    prefix: str  # of names of cuaug: "A."
    imported_as: str = ""  # "C" after `from torchvision.transforms import Compose as C`

    @property
    def same_name(self) -> str:
        """The text for cuaug's object of the same name."""
        return self.imported_as or f"{self.prefix}{self.name}"


@dataclass
class Names:
    """The names that the file's imports bind."""

    full: dict[str, str] = field(default_factory=dict)  # "K": "kornia.augmentation", "Resize": "torchvision....Resize"
    edits: dict[ast.stmt, list[str]] = field(default_factory=dict)  # an import, and its lines for cuaug
    packages: dict[str, list[ast.stmt]] = field(default_factory=dict)  # by "torchvision": its imports, which stay
    missing: list[tuple[ast.stmt, OtherName]] = field(default_factory=list)  # imported, but not in cuaug; and `*`
    alias: str = "T"  # of cuaug.transforms, where the file imports single names

    def add_package(self, bound: str, path: str, node: ast.stmt) -> None:
        """Record an import that stays, unless the name refers to another import."""
        if self.full[bound] == path:
            self.packages.setdefault(bound, []).append(node)

    def path(self, node: ast.AST) -> list[str]:
        """The dotted path that an expression refers to, split at the dots; [] if no import binds it."""
        chain = _chain(node)
        return [] if chain is None or chain[0] not in self.full else [*self.full[chain[0]].split("."), *chain[1:]]

    def resolve(self, node: ast.AST) -> OtherName | None:
        """The library and the name that an expression refers to; None if the library is not migrated."""
        chain, path = _chain(node), self.path(node)
        if chain is None or not path:
            return None
        module, name = ".".join(path[:-1]), path[-1]
        if ".".join(path[:3]) == "nvidia.dali.fn":  # whose names have several parts: `fn.decoders.image`
            module, name = "nvidia.dali.fn", ".".join(path[3:])
        module = _known_module(module)
        if not module or not name or ".".join(path) in MODULES:
            return None
        library, target = MODULES[module]
        if target is None:
            return OtherName(library, module, name, "")
        if len(chain) == 1 and library == "torchvision":  # single imports stay single: cuaug has the same names
            return OtherName(library, module, name, "", imported_as=chain[0])
        if len(chain) == 1:
            return OtherName(library, module, name, f"{self.alias}.")
        if chain[0] not in self.packages:
            bound = MODULES[self.full[chain[0]]][1] or ""
            return OtherName(library, module, name, f"{chain[0]}{target.removeprefix(bound)}.")
        imports = self.packages[chain[0]]
        line = f"import {target.removesuffix('.functional')}"
        for statement in [node for node in imports if node.col_offset == 0] or imports:
            lines = self.edits.setdefault(statement, [ast.unparse(statement)])
            if line not in lines:
                lines.append(line)
        return OtherName(library, module, name, f"{target}.")


def _known_module(path: str) -> str:
    """The key of `MODULES` for a module, or an empty text."""
    submodule = _SUBMODULE.fullmatch(path)
    return path if path in MODULES else submodule[1] if submodule else ""


def _chain(node: ast.AST) -> list[str] | None:
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Attribute):
        rest = _chain(node.value)
        return None if rest is None else [*rest, node.attr]
    return None


def names_of(tree: ast.Module) -> Names:
    """Collect the imports of the file, at any depth."""
    names = Names()
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    handlers = [node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)]
    fallbacks = {node for handler in handlers for node in ast.walk(handler)}  # for what the `try` block imports
    for node in imports:
        paths = _imported_paths(node)
        names.full = paths | names.full if node in fallbacks else names.full | paths
    taken = {*_names_bound_by_statements(tree)}
    taken |= {name for name, path in names.full.items() if not _is_transforms(path)}
    while names.alias in taken:
        names.alias += "_"
    for node in imports:
        if isinstance(node, ast.Import):
            _read_import(node, names)
        else:
            _read_import_from(node, names)
    for block in _inner_blocks(tree):
        if all(names.edits.get(statement) == [] for statement in block):
            names.edits[block[0]] = ["pass"]
    return names


def _inner_blocks(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """The statements of each function, branch, loop and the like."""
    for node in ast.walk(tree):
        blocks = [] if node is tree else [getattr(node, name, None) for name in ("body", "orelse", "finalbody")]
        yield from (block for block in blocks if isinstance(block, list) and block)


def _imported_paths(node: ast.Import | ast.ImportFrom) -> dict[str, str]:
    """The dotted path of each name that an import binds; the paths of relative imports begin with a dot."""
    prefix = f"{_module(node)}." if isinstance(node, ast.ImportFrom) else ""
    paths = dict[str, str]()
    for alias in node.names:
        package = alias.name.partition(".")[0]
        paths[alias.asname or package] = prefix + (alias.name if alias.asname else package)
    return paths


def _module(node: ast.ImportFrom) -> str:
    return "." * node.level + (node.module or "")


def _is_transforms(path: str) -> bool:
    """Whether the path is that of cuaug.transforms, also after the edits."""
    return (MODULES[path][1] if path in MODULES else path) == TRANSFORMS_MODULE


def _names_bound_by_statements(tree: ast.Module) -> Iterator[str | None]:
    """Names of variables, parameters, functions and classes, not of imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif not isinstance(node, (ast.alias, ast.keyword)):
            yield from (getattr(node, field, None) for field in ("arg", "name", "rest"))


def _read_import(node: ast.Import, names: Names) -> None:
    """``import albumentations as A`` becomes an import with the same name; ``import torchvision`` stays."""
    lines = []
    paths = _imported_paths(node)
    for alias in node.names:
        target = MODULES.get(alias.name, ("", None))[1]
        bound = alias.asname or alias.name.partition(".")[0]
        if target is not None and bound in (alias.asname, alias.name):
            lines.append(_module_import(target, bound))
        else:
            lines.append(f"import {alias.name}" + (f" as {alias.asname}" if alias.asname else ""))
            names.add_package(bound, paths[bound], node)
    if any(line.startswith("from cuaug") for line in lines):
        names.edits[node] = lines


def _read_import_from(node: ast.ImportFrom, names: Names) -> None:
    """``from torchvision import transforms, datasets`` becomes two imports."""
    stay, modules, single = list[str](), list[str](), dict[str, list[str]]()
    module = _known_module(_module(node))
    library, target = MODULES.get(module, ("", None))
    if library and node.names[0].name == "*":
        names.missing.append((node, OtherName(library, module, "*", "")))
        return
    for alias in node.names:
        text, bound = alias.name + (f" as {alias.asname}" if alias.asname else ""), alias.asname or alias.name
        path = f"{_module(node)}.{alias.name}"
        package = MODULES.get(path, ("", None))[1]
        owner = None if target is None else _owner(alias.name, library, target)
        if package is not None:
            modules.append(_module_import(package, bound))
        elif _known_module(path):  # a submodule or a function
            stay.append(text)
            names.add_package(bound, path, node)
        elif owner is not None and library == "torchvision":
            single.setdefault(owner, []).append(text)
        elif owner is not None:
            modules.append(_module_import(owner, names.alias))
        elif not str(TRANSFORMS.get(library, {}).get(alias.name)).startswith("leave it out"):
            stay.append(text)
            if target is not None:
                names.missing.append((node, OtherName(library, module, alias.name, "", bound)))
    lines = [f"from {_module(node)} import {', '.join(stay)}"] if stay else []
    lines += [f"from {owner} import {', '.join(texts)}" for owner, texts in single.items()]
    if not stay or modules or single:
        names.edits[node] = [*lines, *dict.fromkeys(modules)]


def _owner(name: str, library: str, target: str) -> str | None:
    """The module of cuaug that has the counterpart of an imported name; None if cuaug has no counterpart."""
    row = TRANSFORMS[library].get(name)
    if row is not None:
        return target if isinstance(row, Equivalent) else None
    modules = (target, TRANSFORMS_MODULE)
    return next((module for module in modules if name in importlib.import_module(module).__all__), None)


def _module_import(target: str, bound: str) -> str:
    package, _, name = target.rpartition(".")
    return f"from {package} import {name}" + (f" as {bound}" if bound != name else "")
