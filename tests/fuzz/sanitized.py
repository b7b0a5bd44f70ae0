"""The mutation tests on an extension built with sanitizers: ``python tests/fuzz/sanitized.py SITE``, libasan preloaded.

SITE holds that build, which an editable install of cuaug would hide.
"""

import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]

if __name__ == "__main__":
    site = Path(sys.argv[1]).resolve()
    sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in type(finder).__module__]
    sys.path.insert(0, str(site))
    from cuaug import _native

    found = Path(_native.__file__)
    if site not in found.parents or b"__asan_init" not in found.read_bytes():
        sys.exit(f"{found} is not the extension with sanitizers")
    sys.exit(
        pytest.main(
            [
                "-q",
                str(TESTS / "io" / "test_hostile_files.py"),
                "-k",
                "mutated or truncation or short or markers or threads",
            ]
        )
    )
