"""Hides editable installs: Python imports this module as it starts, if the folder is in PYTHONPATH.

The finder of an editable install comes before PYTHONPATH, so that a cuaug of another folder would never be imported.
"""

import sys

sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in type(finder).__module__]
