"""Settings of the documentation site: ``make docs`` builds it into build/docs.

The pages are Markdown, which can also be read on a code host. The reference is generated from the docstrings by
``docs/reference.py``.
"""

import importlib.metadata
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

project = "cuaug"
author = "the cuaug authors"
release = importlib.metadata.version("cuaug")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinxcontrib.mermaid",
    "reference",
]

# Headings have the anchors that a code host gives them, so links between pages work in both places.
myst_heading_anchors = 3
myst_fence_as_directive = ["mermaid"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
maximum_signature_line_length = 88  # longer ones have a line for each parameter
autosummary_generate = False  # the summaries link to entries of the same page
napoleon_numpy_docstring = False

# Every reference to a name of cuaug must resolve. Its internals and other libraries have no entry here.
_ALIASES = [name for name in vars(importlib.import_module("cuaug.typing")) if name[0].isupper()]
nitpicky = True
nitpick_ignore_regex = [
    ("py:class", r"cuaug\.(\w+\.)*_.*"),
    ("py:class", r"(collections|enum|np|npt|numpy|os|torch)\..*"),
    ("py:class", r"Figure|EncodedFiles|ModuleType|R|Source|_\w+"),
    ("py:class", r"CheckReport|(Coco|Voc)Targets|ImageBatch|RecipePlan|Report|StridedArray|TargetSource"),
    # Aliases of cuaug.typing, and results that have no page of their own.
    ("py:class", rf"(cuaug\.typing\.)?({'|'.join(_ALIASES)})|(cuaug\.data\.files\.)?Dataset"),
    ("py:class", r"cuaug\.(transforms\.sample_check\.CheckReport|data\.(voc|coco)_targets\.(Voc|Coco)Targets)"),
]

copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = "cuaug"
html_show_sphinx = False
pygments_style = "friendly"
