"""Commands for messages: install missing packages, or reinstall cuaug from its files, as no package index has it."""

from __future__ import annotations

REINSTALL = (
    'pip install --force-reinstall --no-deps . in the source tree of cuaug (for a wheel, its file in place of ".")'
)


def install_command(extra: str) -> str:
    """The command that installs the packages of an extra, as the metadata of the installed cuaug lists them."""
    from importlib import metadata  # takes 60 ms, which only a message pays

    try:
        requirements = metadata.requires("cuaug") or []
    except metadata.PackageNotFoundError:
        return f'pip install ".[{extra}]" in the source tree of cuaug'
    markers = (f'extra == "{extra}"', f"extra == '{extra}'")
    parts = (requirement.partition(";") for requirement in requirements)
    return " ".join(
        ["pip install", *(f'"{package.strip()}"' for package, _, marker in parts if marker.strip() in markers)]
    )


def install_per_driver(extra: str) -> str:
    """The command for CUDA 13, then the command for drivers of CUDA 12. `extra`: "cuda" or "decode"."""
    return f"{install_command(f'{extra}13')} (CUDA 12 drivers: {install_command(f'{extra}12')})"
