"""Which names of a file are those of other libraries, and what its imports become."""

from __future__ import annotations

import ast
import importlib
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
ALIAS = "T"  # of cuaug.transforms, where the file imports single names


@dataclass(frozen=True)
class OtherName:
    """A name of another library in the file."""

    library: str
    module: str  # "albumentations"
    name: str  # "HorizontalFlip"
    prefix: str  # of the replacing name: "A."


@dataclass
class Names:
    """The names that the file's imports bind."""

    full: dict[str, str] = field(default_factory=dict)  # "K": "kornia.augmentation", "Resize": "torchvision....Resize"
    edits: dict[ast.stmt, str] = field(default_factory=dict)  # an import, and its text for cuaug
    packages: dict[str, ast.stmt] = field(default_factory=dict)  # names of imports that stay, such as "torchvision"

    def path(self, node: ast.AST) -> list[str]:
        """The modules and the name that an expression such as ``A.HorizontalFlip`` is; [] for names of the file."""
        chain = _chain(node)
        return [] if chain is None or chain[0] not in self.full else [*self.full[chain[0]].split("."), *chain[1:]]

    def resolve(self, node: ast.AST) -> OtherName | None:
        """As `path`, of libraries that are migrated; else None."""
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
        if len(chain) == 1:  # `from albumentations import HorizontalFlip`
            return OtherName(library, module, name, "" if library == "torchvision" else f"{ALIAS}.")
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
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            _read_import(node, names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
            _read_import_from(node, node.module, names)
    return names


def _read_import(node: ast.Import, names: Names) -> None:
    """``import albumentations as A`` becomes an import with the same name; ``import torchvision`` stays."""
    lines = []
    for alias in node.names:
        target = MODULES.get(alias.name, ("", None))[1]
        bound = alias.asname or alias.name.partition(".")[0]
        names.full[bound] = alias.name if alias.asname else bound
        if target is not None and bound in (alias.asname, alias.name):
            lines.append(_module_import(target, bound))
        else:
            lines.append(f"import {alias.name}" + (f" as {alias.asname}" if alias.asname else ""))
            names.packages[bound] = node
    _store(node, lines, names)


def _read_import_from(node: ast.ImportFrom, module: str, names: Names) -> None:
    """``from torchvision import transforms, datasets`` becomes two imports."""
    stay, modules, single = list[str](), list[str](), dict[str, list[str]]()
    library, target = MODULES.get(module, ("", None))
    for alias in node.names:
        bound, path = alias.asname or alias.name, f"{module}.{alias.name}"
        names.full[bound] = path
        text = alias.name + (f" as {alias.asname}" if alias.asname else "")
        package = MODULES.get(path, ("", None))[1]
        if package is not None:
            modules.append(_module_import(package, bound))
        elif target is None:
            stay.append(text)
        elif library == "torchvision":
            has_name = alias.name in importlib.import_module(target).__all__
            single.setdefault(target if has_name else "cuaug.transforms", []).append(text)
        elif not str(TRANSFORMS[library].get(alias.name)).startswith("leave it out"):
            modules = [_module_import(target, ALIAS)]
    lines = [f"from {module} import {', '.join(stay)}"] if stay else []
    lines += [f"from {owner} import {', '.join(texts)}" for owner, texts in single.items()]
    if not stay or modules or single:
        names.edits[node] = _block([*lines, *modules], node)


def _module_import(target: str, bound: str) -> str:
    package, _, name = target.rpartition(".")
    return f"from {package} import {name}" + (f" as {bound}" if bound != name else "")


def _store(node: ast.stmt, lines: list[str], names: Names) -> None:
    if any("cuaug" in line for line in lines):
        names.edits[node] = _block(lines, node)


def _block(lines: list[str], node: ast.stmt) -> str:
    return ("\n" + " " * node.col_offset).join(lines)
