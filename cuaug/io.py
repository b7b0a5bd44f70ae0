"""stand-in until the real one comes"""

from . import _cpu


def decode_image(data, **k):
    import io, numpy as np
    from PIL import Image
    from ._check import DecodeError

    try:
        return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
    except Exception as e:
        raise DecodeError(str(e))


def available():
    return hasattr(_cpu.native(), "jpeg_decode")


def decode_jpeg(data, scale=1):
    import numpy as np

    lim = (1 << 30, 65500, 1 << 30, 1 << 30, 100)
    h = _cpu.native().jpeg_headers([data], lim)[0]
    d = round(1 / scale)
    H, W = -(-h[0] // d), -(-h[1] // d)
    out = np.empty((H, W, 3), "u1")
    r = _cpu.native().jpeg_decode([data], lim, [d], [(0, 0, H, W)], "rgb", True, [(out.ctypes.data, W * 3)])
    assert r[0] is None, r
    return out
