"""Names by which callers choose a functor, read from the type lists in the kernels' text.

NVRTC and the C++ compiler read the same lists. Python reads the text, as calls on a GPU do not need the extension.
"""

from __future__ import annotations

import functools
import re

from .names import snake_case
from .sources import KERNELS


def _type_list(file: str, name: str) -> tuple[str, ...]:
    """The types of a `cuaug::TypeList`, in snake case."""
    text = (KERNELS / file).read_text(encoding="utf-8")
    types = re.search(rf"using {name} = TypeList<([\w,\s]+)>;", text)
    assert types is not None, (file, name)
    return tuple(snake_case(struct.strip()) for struct in types[1].split(","))


SAMPLERS = _type_list("samplers/samplers.cuh", "Samplers")  # the interpolations of a warp
BORDERS = _type_list("borders/border.cuh", "Borders")


@functools.cache
def struct_name(name: str) -> str:
    """The C++ struct of a sampler or border: "Edge" for "edge"."""
    return "".join(word.capitalize() for word in name.split("_"))
