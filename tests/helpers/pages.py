"""Programs in the pages of the documentation.

A ``python`` block is a program. The programs of a page run one after the other, in one namespace. A ``text`` block
after a program is what the program prints, or the error that it ends with. The first line of a program may be a comment
that says what it needs: ``# needs a GPU``, or the name of a library, ``# needs torch``.
"""

import contextlib
import importlib.util
import io
import itertools
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import cuaug

ROOT = Path(__file__).parents[2]
WRITTEN_BY_GALLERY = ROOT / "docs" / "gallery.md"  # its calls run when its pictures are drawn
PAGES = [ROOT / "README.md", *sorted(set((ROOT / "docs").glob("*.md")) - {WRITTEN_BY_GALLERY})]
_ERROR = re.compile(r"(?:\w+Error|ImageTooLarge|UnsupportedImage): ")
_FENCE = re.compile(r"^( *)```([^\n]*)\n(.*?)^\1```$", re.M | re.S)


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    line: int  # of its first line of text


def included(page):
    """The files that a page includes: docs/contributing.md is a page of one block, which includes CONTRIBUTING.md."""
    return [(page.parent / path).resolve() for path in re.findall(r"^```\{include\} (\S+)", page.read_text(), re.M)]


def blocks(page):
    """The fenced blocks of a page, in order."""
    text = page.read_text()
    return [
        Block(match[2].partition(" ")[0], match[3], 2 + text.count("\n", 0, match.start()))
        for match in _FENCE.finditer(text)
    ]


def programs(page):
    """Pairs of a program and the text that it prints; None where the page has no text."""
    page_blocks = blocks(page)
    return [
        (block, after.text if after is not None and after.language == "text" else None)
        for block, after in itertools.zip_longest(page_blocks, page_blocks[1:])
        if block.language == "python"
    ]


def need(program):
    """The need that the first line of a program states: "GPU", or the name of a library; None for no need."""
    line = re.match(r"# needs (?:a )?(\w+)\n", program.text)
    return line and line[1]


def is_present(needed):
    return cuaug.is_available() if needed == "GPU" else importlib.util.find_spec(needed) is not None


def run(page):
    """Run the programs of a page and compare the texts that they print. Returns the needs that this machine lacks."""
    namespace, missing = {"__name__": "page"}, set()
    for program, printed in programs(page):
        needed = need(program)
        if needed is not None and not is_present(needed):
            missing.add(needed)
            continue
        output = _run_program(page, program, namespace, ends_with_error=_ERROR.match(printed or "") is not None)
        if printed is not None:  # a page may wrap long lines
            assert output.split() == printed.split(), f"{page.name}:{program.line} prints\n{output}"
    return missing


def _run_program(page, program, namespace, ends_with_error):
    code = compile("\n" * (program.line - 1) + program.text, str(page), "exec", dont_inherit=True)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        try:
            exec(code, namespace)
        except Exception as error:
            if not ends_with_error:
                raise
            print(f"{type(error).__name__}: {error}")
        else:
            assert not ends_with_error, f"{page.name}:{program.line} raises no error"
    return output.getvalue()


def write_files(folder):
    """The files that programs read: photographs, a folder of classes, a damaged file."""
    from PIL import Image

    y, x = np.mgrid[:300, :400]
    photo = np.stack([x % 256, y % 256, (x + y) % 256], -1).astype(np.uint8)
    Image.fromarray(photo).save(folder / "photo.jpg", quality=90)
    Image.fromarray(photo).save(folder / "drawing.png")
    encoded = (folder / "photo.jpg").read_bytes()
    (folder / "damaged.jpg").write_bytes(encoded[: len(encoded) // 2])
    for name in ("cat", "dog"):
        (folder / "imagenet" / "train" / name).mkdir(parents=True)
        for i in range(32):
            (folder / "imagenet" / "train" / name / f"{i:02}.jpg").write_bytes(
                cuaug.io.encode_jpeg(np.ascontiguousarray(photo[: 200 + i, : 260 - i]), quality=80)
            )
