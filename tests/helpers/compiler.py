"""The C++ compiler that users' ops and the emulated kernels need."""

import pytest

from cuaug._check import BackendError
from cuaug._host import compiler


def require_compiler():
    """Skip the module that calls this where no C++ compiler is installed."""
    try:
        compiler.compiler_command()
    except BackendError:
        pytest.skip("no C++ compiler here", allow_module_level=True)
