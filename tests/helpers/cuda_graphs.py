"""CUDA graph capture."""

import pytest

from helpers.sanitizer import skip_under_sanitizer

torch = pytest.importorskip("torch")


def capture_graph(call):
    """The graph of a call, and the result whose memory each replay writes."""
    skip_under_sanitizer("torch's memory cache is off, so that a captured call cannot allocate its result")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = call()
    return graph, result
