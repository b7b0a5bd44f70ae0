"""Finds names imported from other libraries, and rewrites the imports."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from dataclasses import dataclass, field

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
    edits: dict[ast.stmt, str] = field(default_factory=dict)  # an import, and its text for cuaug
    packages: dict[str, ast.stmt] = field(default_factory=dict)  # names of imports that stay, such as "torchvision"
    star_imports: dict[ast.stmt, OtherName] = field(default_factory=dict)  # they stay
    alias: str = "T"  # of cuaug.transforms, where the file imports single names

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
        if module not in MODULES or not name or ".".join(path) in MODULES:
            return None
        library, target = MODULES[module]
        if target is None:
            return OtherName(library, module, name, "")
        if len(chain) == 1 and library == "torchvision":  # single imports stay single: cuaug has the same names
            return OtherName(library, module, name, "", imported_as=chain[0])
        if len(chain) == 1:
            return OtherName(library, module, name, f"{self.alias}.")
        if chain[0] not in self.packages:
            return OtherName(library, module, name, f"{'.'.join(chain[:-1])}.")
        statement = self.packages[chain[0]]
        line = f"import {target.removesuffix('.functional')}"
        text = self.edits.get(statement, ast.unparse(statement))
        if line not in text.splitlines():
            self.edits[statement] = f"{text}\n{' ' * statement.col_offset}{line}"
        return OtherName(library, module, name, f"{target}.")


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
    for node in imports:
        names.full |= _imported_paths(node)
    taken = {*_names_bound_by_statements(tree)}
    taken |= {name for name, path in names.full.items() if not _is_transforms(path)}
    while names.alias in taken:
        names.alias += "_"
    for node in imports:
        if isinstance(node, ast.Import):
            _read_import(node, names)
        else:
            _read_import_from(node, names)
    return names


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
    for alias in node.names:
        target = MODULES.get(alias.name, ("", None))[1]
        bound = alias.asname or alias.name.partition(".")[0]
        if target is not None and bound in (alias.asname, alias.name):
            lines.append(_module_import(target, bound))
        else:
            lines.append(f"import {alias.name}" + (f" as {alias.asname}" if alias.asname else ""))
            names.packages[bound] = node
    _store(node, lines, names)


def _read_import_from(node: ast.ImportFrom, names: Names) -> None:
    """``from torchvision import transforms, datasets`` becomes two imports."""
    stay, modules, single = list[str](), list[str](), dict[str, list[str]]()
    module = _module(node)
    library, target = MODULES.get(module, ("", None))
    if library and node.names[0].name == "*":
        names.star_imports[node] = OtherName(library, module, "*", "")
        return
    for alias in node.names:
        text = alias.name + (f" as {alias.asname}" if alias.asname else "")
        package = MODULES.get(f"{module}.{alias.name}", ("", None))[1]
        if package is not None:
            modules.append(_module_import(package, alias.asname or alias.name))
        elif target is None:
            stay.append(text)
        elif library == "torchvision":
            has_name = alias.name in importlib.import_module(target).__all__
            single.setdefault(target if has_name else TRANSFORMS_MODULE, []).append(text)
        elif not str(TRANSFORMS[library].get(alias.name)).startswith("leave it out"):
            modules.append(_module_import(target, names.alias))
    lines = [f"from {module} import {', '.join(stay)}"] if stay else []
    lines += [f"from {owner} import {', '.join(texts)}" for owner, texts in single.items()]
    if not stay or modules or single:
        names.edits[node] = _block([*lines, *dict.fromkeys(modules)], node)


def _module_import(target: str, bound: str) -> str:
    package, _, name = target.rpartition(".")
    return f"from {package} import {name}" + (f" as {bound}" if bound != name else "")


def _store(node: ast.stmt, lines: list[str], names: Names) -> None:
    if any("cuaug" in line for line in lines):
        names.edits[node] = _block(lines, node)


def _block(lines: list[str], node: ast.stmt) -> str:
    return ("\n" + " " * node.col_offset).join(lines)
