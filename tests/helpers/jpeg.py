"""JPEG files for tests: photographs written by Pillow and OpenCV, and edits that damage a file."""

import functools
import io
import struct

import cv2
import numpy as np
from PIL import Image

SEED = 20261120
SAMPLINGS = {"444": 0x111111, "422": 0x211111, "420": 0x221111, "440": 0x121111, "411": 0x411111}


@functools.cache
def photographs():
    """Seven RGB photographs of scikit-image and scikit-learn, which take over a second to import."""
    import skimage.data
    from sklearn.datasets import load_sample_images

    images = [getattr(skimage.data, name)() for name in ("astronaut", "coffee", "chelsea", "rocket", "retina")]
    return [*(np.ascontiguousarray(photo[..., :3]) for photo in images), *load_sample_images().images]


def random_part(rng, height, width):
    """A random part of a photograph."""
    photo = photographs()[rng.integers(len(photographs()))]
    y, x = rng.integers(photo.shape[0] - height + 1), rng.integers(photo.shape[1] - width + 1)
    return np.ascontiguousarray(photo[y : y + height, x : x + width])


def encoded(image, sampling="420", *, quality=90, progressive=False, restart=0):
    options = {
        cv2.IMWRITE_JPEG_QUALITY: quality, cv2.IMWRITE_JPEG_SAMPLING_FACTOR: SAMPLINGS[sampling],
        cv2.IMWRITE_JPEG_PROGRESSIVE: int(progressive), cv2.IMWRITE_JPEG_RST_INTERVAL: restart,
    }  # fmt: skip
    success, file = cv2.imencode(".jpg", image[..., ::-1], [n for item in options.items() for n in item])
    assert success
    return file.tobytes()


def encoded_by_pillow(image, mode="RGB", **options):
    file = io.BytesIO()
    Image.fromarray(image).convert(mode).save(file, "JPEG", **{"quality": 85, **options})
    return file.getvalue()


@functools.cache
def base_files():
    """21 files with sides of 32 to 320 pixels: all samplings, grey, CMYK, progressive, with restarts, with EXIF."""
    rng = np.random.default_rng(SEED)
    sizes = iter([(int(h), int(w)) for h, w in rng.integers(32, 321, (21, 2))])
    files = [encoded(random_part(rng, *next(sizes)), s, progressive=p) for s in SAMPLINGS for p in (False, True)]
    files += [encoded(random_part(rng, *next(sizes)), s, restart=3) for s in ("420", "422", "444")]
    files += [encoded(random_part(rng, *next(sizes)), quality=q) for q in (10, 100)]
    files += [
        encoded_by_pillow(random_part(rng, *next(sizes)), mode, progressive=p)
        for mode in ("L", "CMYK")
        for p in (False, True)
    ]
    exif = Image.Exif()
    exif[0x0112] = 6
    files += [
        encoded_by_pillow(random_part(rng, *next(sizes)), exif=exif),
        encoded_by_pillow(random_part(rng, *next(sizes)), optimize=True),
    ]
    return files


def segments(file):
    """(marker, start, end) of each segment. Entropy-coded data lies between segments and is in none of them."""
    result, at = [], 2
    while at + 4 <= len(file):
        marker, length = file[at + 1], struct.unpack_from(">H", file, at + 2)[0]
        result.append((marker, at, at + 2 + length))
        at += 2 + length
        if marker == 0xDA:
            while not (file[at] == 0xFF and file[at + 1] not in (0, *range(0xD0, 0xD8))):
                at += 1
        if file[at + 1] == 0xD9:
            break
    return result


def frame_offset(file):
    """Offset of the frame header's marker: SOF0, SOF1 or SOF2."""
    return next(start for marker, start, _ in segments(file) if marker in (0xC0, 0xC1, 0xC2))


def with_declared_size(file, height, width):
    """The same data under a header that declares another size."""
    at = frame_offset(file) + 5
    return file[:at] + struct.pack(">HH", height, width) + file[at + 4 :]


def with_byte(file, at, value):
    return file[:at] + bytes([value]) + file[at + 1 :]


def with_segments(file, *added):
    """The file with segments inserted after the first marker."""
    return file[:2] + b"".join(added) + file[2:]


def _flip_bits(rng, file):
    out = bytearray(file)
    for _ in range(rng.integers(1, 9)):
        out[rng.integers(len(out))] ^= 1 << rng.integers(8)
    return bytes(out)


def _change_header_byte(rng, file):
    first_scan = next(end for marker, _, end in segments(file) if marker == 0xDA)
    return with_byte(file, int(rng.integers(2, first_scan)), int(rng.integers(256)))


def _random_range(rng, file):
    start = int(rng.integers(len(file)))
    return start, min(len(file), start + int(rng.integers(1, 64)))


def _repeat_part(rng, file):
    start, end = _random_range(rng, file)
    return file[:end] + file[start:]


def _remove_part(rng, file):
    start, end = _random_range(rng, file)
    return file[:start] + file[end:]


def _insert_marker(rng, file):
    at = int(rng.integers(2, len(file)))
    return file[:at] + bytes([0xFF, rng.integers(256)]) + rng.bytes(int(rng.integers(4))) + file[at:]


MUTATORS = {
    "flip bits": _flip_bits,
    "truncate": lambda rng, file: file[: rng.integers(len(file))],
    "change header byte": _change_header_byte,
    "repeat part": _repeat_part,
    "remove part": _remove_part,
    "declare another size": lambda rng, file: with_declared_size(
        file, *(int(n) for n in np.exp2(rng.uniform(0, 16, 2)))
    ),
    "insert marker": _insert_marker,
}
