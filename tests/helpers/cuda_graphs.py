"""CUDA graph capture."""

import pytest

torch = pytest.importorskip("torch")


def capture_graph(call):
    """The graph of a call, and the result whose memory each replay writes."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = call()
    return graph, result
