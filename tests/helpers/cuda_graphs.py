"""CUDA graphs: the call before a capture, and the capture."""

import pytest

from helpers.sanitizer import skip_under_sanitizer

torch = pytest.importorskip("torch")


def warm_up(call):
    """Call on a side stream, as torch's manual requires before a capture."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        call()
    torch.cuda.current_stream().wait_stream(side)


def capture_graph(call):
    """The graph of a call, and the result whose memory each replay writes."""
    skip_under_sanitizer("torch's memory cache is off, so that a captured call cannot allocate its result")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = call()
    return graph, result
