"""Encoded images on the host: JPEG in whole, in part or reduced, other formats in whole, and JPEG written.

Data are bytes, a uint8 array of them, a path, or a list of those, which a pool of threads works on without the GIL
(:func:`cuaug.set_num_threads`). A damaged or hostile file raises :class:`cuaug.DecodeError`, or its
:class:`cuaug.ImageTooLarge` or :class:`cuaug.UnsupportedImage`, with the ``index``, ``source`` and ``reason`` of
the first one that failed. Limits are held against what a file claims before anything is decoded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from . import _check
from ._arrays import convert, registry
from ._arrays.convert import host_array
from ._arrays.images import describe_images
from ._arrays.registry import library_by_name
from ._check import DecodeError, ImageTooLarge, UnsupportedImage, prefix_errors
from ._codecs import encoded_input as _encoded
from ._codecs import exif as _orientation
from ._codecs import jpeg_headers as _headers
from ._codecs import nvjpeg as _engine
from ._codecs import other_formats as _codecs
from ._codecs.limits import MAX_BYTES, MAX_MEMORY, MAX_PIXELS, MAX_SCANS, MAX_SIDE, Limits, limits_of
from ._host import extension as _cpu
from ._host import threads as _threads

if TYPE_CHECKING:
    from ._native import EncodedFiles

__all__ = ["Header", "decode_and_crop_jpeg", "decode_image", "decode_jpeg", "encode_jpeg", "read_header"]

Color = Literal["rgb", "bgr", "gray"]

_COLORS = ("rgb", "bgr", "gray")
_KINDS = {kind.__name__: kind for kind in (DecodeError, ImageTooLarge, UnsupportedImage)}
_SAMPLINGS = {"444": (1, 1), "422": (2, 1), "420": (2, 2), "440": (1, 2), "411": (4, 1), "gray": (1, 1)}


class Header(NamedTuple):
    """What a JPEG says of itself."""

    height: int
    width: int
    channels: int
    subsampling: str  # "444", "422", "420", "440", "411", "410", "gray" or "other"
    color_space: str  # "gray", "ycbcr", "rgb", "cmyk", "ycck" or "other"
    progressive: bool
    orientation: int  # EXIF's, 1 to 8


class _Part(NamedTuple):
    """What is decoded of a file: (top, left, height, width) of the image reduced `scale` times, as it is stored."""

    scale: int
    region: tuple[int, int, int, int]
    orientation: int  # to be undone afterwards

    @property
    def size(self) -> tuple[int, int]:
        return _orientation.upright_size(self.region[2:], self.orientation)


@prefix_errors("cuaug.io")
def read_header(
    data: Any,
    *,
    max_pixels: int | None = MAX_PIXELS,
    max_side: int | None = MAX_SIDE,
    max_bytes: int | None = MAX_BYTES,
) -> Any:
    """Size, sampling and orientation of a JPEG; no pixel is decoded.

    Args:
        data: Bytes, a uint8 array, a path, or a list of those.
        max_pixels: What a file may claim; None lifts the limit.
        max_side: Likewise, of its longer side.
        max_bytes: Of encoded data.

    Returns:
        :class:`Header`, or a list of them. Height and width are as stored, before ``orientation``.

    Raises:
        DecodeError: It is no JPEG, its header is damaged, or it claims more than a limit (ImageTooLarge).

    Example:
        >>> import numpy as np
        >>> read_header(encode_jpeg(np.zeros((48, 64, 3), np.uint8))).subsampling
        '420'
    """
    limits = limits_of(max_pixels, max_side, max_bytes, None, None)
    files, many = _encoded.files(data, max_bytes)
    found = [_header(row) for row in _read(files, _data(files), limits)]
    return found if many else found[0]


@prefix_errors("cuaug.io")
def decode_jpeg(
    data: Any,
    *,
    scale: float = 1,
    size_hint: Any = None,
    color: Color = "rgb",
    orient: bool = False,
    strict: bool = True,
    out: Any = None,
    like: Any = None,
    pin: bool = False,
    device: Any = None,
    max_pixels: int | None = MAX_PIXELS,
    max_side: int | None = MAX_SIDE,
    max_scans: int | None = MAX_SCANS,
    max_memory: int | None = MAX_MEMORY,
    max_bytes: int | None = MAX_BYTES,
) -> Any:
    """Decode JPEGs, by libjpeg-turbo with its accurate transform and smooth upsampling of colours.

    Args:
        data: Bytes, a uint8 array, a path, or a list of those.
        scale: 1, 1/2, 1/4 or 1/8: reduced while it is decoded, which costs less. Sides are rounded up.
        size_hint: (H, W): the smallest scale whose result is not below it, so that a resize to it never enlarges.
        color: "rgb", "bgr" or "gray", whatever is stored; CMYK is converted as Adobe's.
        orient: Turn the image upright, as EXIF says.
        strict: Damaged data are an error; else libjpeg's guess at them is returned, where it has one.
        out: Memory for the result, for a list one array [N, H, W, C] (torch: [N, C, H, W], channels last in memory).
        like: "numpy", "torch" or "cupy", or the module: what the result is.
        pin: Pinned memory, of torch alone.
        device: A GPU, as torch calls it or by its number: where the result is to be, of torch or else CuPy. Baseline
            files are decoded by the GPU's engine (nvJPEG), which sees no damage that it can pass over; all else,
            and what it fails at, is decoded here and copied. Values may differ by 1 from those of the CPU.
        max_pixels: What a file may claim; None lifts the limit.
        max_side: Likewise, of its longer side.
        max_scans: Of a progressive file, each of which costs as much time as the image is large.
        max_memory: In bytes, of the decoder: progressive files take 2 bytes a coefficient.
        max_bytes: Of encoded data.

    Returns:
        uint8 [H, W, C], C 1 or 3, or a list of such; of torch a view [C, H, W] of the same memory.

    Raises:
        DecodeError: Of the first file that cannot be decoded, with ``index``, ``source`` and ``reason``.
        ValueError: An argument is not as described.
        BackendError: There is no such device, or no nvJPEG.

    Example:
        >>> import numpy as np
        >>> decode_jpeg(encode_jpeg(np.zeros((48, 65, 3), np.uint8)), scale=1 / 2).shape
        (24, 33, 3)
    """
    limits = limits_of(max_pixels, max_side, max_bytes, max_memory, max_scans)
    divisor, hint = _divisor(scale), None if size_hint is None else _check.size("size_hint", size_hint)
    if hint and divisor > 1:
        raise ValueError(f"scale and size_hint exclude each other, got {scale!r} and {size_hint!r}")
    _check.boolean("orient", orient)

    def whole(file: _encoded.File, header: Header) -> _Part:
        size, orientation = (header.height, header.width), header.orientation if orient else 1
        wanted = _orientation.upright_size(hint, orientation) if hint else None
        by = divisor if wanted is None else _divisor_for(size, wanted)
        return _Part(by, (0, 0, *_reduced(size, by)), orientation)

    files, many = _encoded.files(data, max_bytes)
    return _decode(files, many, whole, color, strict, _Memory(like, pin, out, device), limits)


@prefix_errors("cuaug.io")
def decode_and_crop_jpeg(
    data: Any,
    top: Any,
    left: Any,
    height: Any,
    width: Any,
    *,
    scale: float = 1,
    color: Color = "rgb",
    orient: bool = False,
    strict: bool = True,
    out: Any = None,
    like: Any = None,
    pin: bool = False,
    device: Any = None,
    max_pixels: int | None = MAX_PIXELS,
    max_side: int | None = MAX_SIDE,
    max_scans: int | None = MAX_SCANS,
    max_memory: int | None = MAX_MEMORY,
    max_bytes: int | None = MAX_BYTES,
) -> Any:
    """Decode a box of JPEGs: bit for bit what :func:`decode_jpeg` and a slice give, in less time.

    What lies below the box is not read, so that ``strict`` does not see it.
    Other parameters are those of :func:`decode_jpeg`.

    Args:
        data: Bytes, a uint8 array, a path, or a list of those.
        top: First row of the box, in pixels of the result's ``scale``, upright if ``orient``. Like the next three one
            int, or a list of one for each image. [N]
        left: First column. [N]
        height: Rows, at least 1. [N]
        width: Columns. [N]

    Returns:
        uint8 [height, width, C], as of :func:`decode_jpeg`.

    Raises:
        ValueError: The box is not within the image; nothing has been decoded then.
        DecodeError: As :func:`decode_jpeg`.

    Example:
        >>> import numpy as np
        >>> decode_and_crop_jpeg(encode_jpeg(np.zeros((48, 64, 3), np.uint8)), 10, 20, 30, 40).shape
        (30, 40, 3)
    """
    limits = limits_of(max_pixels, max_side, max_bytes, max_memory, max_scans)
    divisor = _divisor(scale)
    _check.boolean("orient", orient)
    files, many = _encoded.files(data, max_bytes)
    boxes = _boxes(top, left, height, width, len(files))

    def part(file: _encoded.File, header: Header) -> _Part:
        orientation = header.orientation if orient else 1
        size = _orientation.upright_size(_reduced((header.height, header.width), divisor), orientation)
        box = boxes[file.place or 0]
        if box[0] + box[2] > size[0] or box[1] + box[3] > size[1]:
            raise ValueError(
                f"{file.name}the box must be within the image of {size[0]}x{size[1]} pixels, "
                f"got top={box[0]}, left={box[1]}, height={box[2]}, width={box[3]}"
            )
        return _Part(divisor, _orientation.stored_region(box, size, orientation), orientation)

    return _decode(files, many, part, color, strict, _Memory(like, pin, out, device), limits)


@prefix_errors("cuaug.io")
def decode_image(
    data: Any,
    *,
    color: Color = "rgb",
    orient: bool = False,
    strict: bool = True,
    like: Any = None,
    pin: bool = False,
    max_pixels: int | None = MAX_PIXELS,
    max_side: int | None = MAX_SIDE,
    max_scans: int | None = MAX_SCANS,
    max_memory: int | None = MAX_MEMORY,
    max_bytes: int | None = MAX_BYTES,
) -> Any:
    """Decode images of any usual format, which their first bytes tell: JPEG here, and the others through Pillow.

    PNG, BMP, TIFF, WebP, PNM and the first frame of a GIF need Pillow; without it PNG, BMP and GIF go through OpenCV.
    Of a list several are decoded at a time, as :func:`cuaug.set_num_threads` says.
    Opacity is dropped, 16 bits become their upper 8. Parameters are those of :func:`decode_jpeg`; ``strict``,
    ``max_scans`` and ``max_memory`` are for JPEG.

    Returns:
        uint8 [H, W, C], C 1 or 3, or a list of such; of torch a view [C, H, W] of the same memory.

    Raises:
        DecodeError: As :func:`decode_jpeg`; an unknown format is an UnsupportedImage.
        BackendError: The library that reads the format is not installed.

    Example:
        >>> decode_image(b"P6 2 1 255 abcdef").tolist()
        [[[97, 98, 99], [100, 101, 102]]]
    """
    limits = limits_of(max_pixels, max_side, max_bytes, max_memory, max_scans)
    _check.one_of("color", color, _COLORS)
    _check.boolean("orient", orient)
    memory = _Memory(like, pin)
    files, many = _encoded.files(data, max_bytes)
    formats = [_codecs.format_of(file) for file in files]
    images: list[Any] = [None] * len(files)

    def whole(file: _encoded.File, header: Header) -> _Part:
        return _Part(1, (0, 0, header.height, header.width), header.orientation if orient else 1)

    jpegs = [place for place, kind in enumerate(formats) if kind == "JPEG"]
    if jpegs:
        decoded = _decode([files[place] for place in jpegs], True, whole, color, strict, memory, limits)
        for place, image in zip(jpegs, decoded, strict=True):
            images[place] = image

    def other(place: int) -> None:
        pixels, turn = _codecs.decode(files[place], formats[place], color, lambda *size: _too_large(size, limits))
        pixels = _orientation.upright(pixels, turn if orient else 1)
        ((images[place], target),) = memory.take([pixels.shape])
        np.copyto(target, pixels)

    _threads.parallel_map(other, [place for place, kind in enumerate(formats) if kind != "JPEG"], _cpu.thread_count())
    return images if many else images[0]


@prefix_errors("cuaug.io")
def encode_jpeg(
    images: Any,
    quality: int = 95,
    subsampling: Literal["444", "422", "420", "440", "411", "gray"] = "420",
    *,
    progressive: bool = False,
    color: Literal["rgb", "bgr"] = "rgb",
    layout: str | None = None,
) -> Any:
    r"""Write JPEG, by libjpeg-turbo.

    Args:
        images: uint8 on the host, 1 or 3 channels; a batch, one image, or a list of images. [N, H, W, C] or [H, W, C],
            of torch [N, C, H, W] or [C, H, W]
        quality: 1 to 100.
        subsampling: Of colour: "420" keeps a quarter, "422", "440" a half or "411" a quarter of it in a row, "444" all,
            "gray" none.
        progressive: In several scans, smaller and slower.
        color: The order of three channels.
        layout: Of the axes, where it is not the library's usual one: "NCHW", "NHWC", "CHW", "HWC", "HW".

    Returns:
        bytes; of a batch or a list, a list of them.

    Raises:
        TypeError: The images are not uint8, or not on the host.
        ValueError: An argument is not as described.

    Example:
        >>> import numpy as np
        >>> encode_jpeg(np.zeros((8, 8, 3), np.uint8), quality=80)[:3]
        b'\xff\xd8\xff'
    """
    quality = _check.integer("quality", quality, 1)
    if quality > 100:
        raise ValueError(f"quality must be in 1..100, got {quality}")
    _check.one_of("subsampling", subsampling, tuple(_SAMPLINGS))
    _check.one_of("color", color, ("rgb", "bgr"))
    _check.boolean("progressive", progressive)
    given = list(images) if isinstance(images, (list, tuple)) else [images]
    batches = [_batch(array, layout) for array in given]
    many = isinstance(images, (list, tuple)) or _is_batch(images, layout)
    pixels = [image for batch in batches for image in batch]
    encoded: list[Any] = [None] * len(pixels)
    for channels, order in ((1, "gray"), (3, color)):
        places = [place for place, image in enumerate(pixels) if image.shape[2] == channels]
        rows = [(_pointer(pixels[i]), *pixels[i].shape[:2], pixels[i].strides[0]) for i in places]
        gray = subsampling == "gray"
        found = _cpu.jpeg_extension().jpeg_encode(rows, order, quality, *_SAMPLINGS[subsampling], gray, progressive)
        for place, file in zip(places, found, strict=True):
            if isinstance(file, str):
                raise ValueError(f"image {place} cannot be written as JPEG: {file}")
            encoded[place] = file
    return encoded if many else encoded[0]


def _too_large(size: Sequence[int], limits: Limits) -> str | None:
    """What the extension says of a JPEG's size, for other formats."""
    height, width = size
    if limits.side and max(size) > limits.side:
        return f"{height}x{width} pixels, a side longer than the limit of {limits.side}"
    if limits.pixels and height * width > limits.pixels:
        return f"{height}x{width} pixels, more than the limit of {limits.pixels}"
    return None


def _divisor(scale: Any) -> int:
    """1, 2, 4 or 8."""
    found = {1: 1, 0.5: 2, 0.25: 4, 0.125: 8}.get(scale) if isinstance(scale, (int, float)) else None
    if found is None or scale is True:
        raise ValueError(f"scale must be 1, 1/2, 1/4 or 1/8, got {scale!r}")
    return found


def _reduced(size: tuple[int, int], divisor: int) -> tuple[int, int]:
    return -(-size[0] // divisor), -(-size[1] // divisor)


def _divisor_for(size: tuple[int, int], wanted: tuple[int, int]) -> int:
    """The largest that leaves no side below what is wanted; 1 where the image itself is smaller."""
    fits = (by for by in (8, 4, 2) if all(n >= m for n, m in zip(_reduced(size, by), wanted, strict=True)))
    return next(fits, 1)


def _boxes(top: Any, left: Any, height: Any, width: Any, count: int) -> list[tuple[int, int, int, int]]:
    columns = []
    for name, value, least in (("top", top, 0), ("left", left, 0), ("height", height, 1), ("width", width, 1)):
        several = hasattr(value, "__len__") and getattr(value, "ndim", 1) == 1
        entries = list(value) if several else [value] * count
        if len(entries) != count:
            raise ValueError(f"{name} must be one int, or {count}, one for each image, got {len(entries)}")
        columns.append([_check.integer(name, entry, least) for entry in entries])
    return list(zip(*columns, strict=True))


class _Memory:
    """Where results go: fresh arrays of a library on the host or a device, or `out`."""

    def __init__(self, like: Any, pin: Any, out: Any = None, device: Any = None) -> None:
        _check.boolean("pin", pin)
        if out is not None and (like is not None or pin or device is not None):
            raise ValueError("out says what the result is: leave out like, pin and device")
        self.device = registry.device_number(device)
        self.out, self.pin, self.library = out, pin, library_by_name(like, self.device)
        if pin and (self.library.name != "torch" or self.device >= 0):
            raise ValueError("pin=True needs like='torch', and no device")

    def take(self, shapes: Sequence[tuple[int, ...]]) -> list[tuple[Any, np.ndarray]]:
        """An array of each shape [H, W, C], and NumPy's view of it, of that shape."""
        return [self._fresh(shape) for shape in shapes]

    def _fresh(self, shape: tuple[int, ...]) -> tuple[Any, np.ndarray]:
        if not self.library.channels_first:
            array = self.library.empty(shape, "uint8", -1, None)
            return array, array
        shape, order = (shape[2], *shape[:2]), (1, 2, 0)
        array = convert.allocate_pinned(shape, order) if self.pin else self.library.empty(shape, "uint8", -1, order)
        return array, np.moveaxis(convert.writable_host_array("out", array)[0], 0, -1)

    def given(self, shapes: Sequence[tuple[int, ...]], many: bool) -> list[np.ndarray]:
        """NumPy's view of `out`, image by image."""
        target, channels_first = convert.writable_host_array("out", self.out)
        wanted = shapes[0] if shapes else (0, 0, 0)
        odd = next((index for index, shape in enumerate(shapes) if shape != wanted), None)
        if odd is not None:
            raise ValueError(f"out needs images of one size, image 0 is {wanted} and image {odd} {shapes[odd]}")
        expected = (*([len(shapes)] if many else []), *((wanted[2], *wanted[:2]) if channels_first else wanted))
        if target.dtype != np.uint8 or (shapes and target.shape != expected):
            raise ValueError(f"out must be uint8 of shape {expected}, got {target.dtype} of {target.shape}")
        target = np.moveaxis(target, -3, -1) if channels_first else target
        images = list(target) if many else [target]
        if any(image.strides[1:] != (image.shape[2], 1) and image.shape[1] > 1 for image in images):
            raise ValueError("out must have the channels of a pixel, and the pixels of a row, side by side in memory")
        return images


def _decode(
    files: Sequence[_encoded.File],
    many: bool,
    part_of: Callable[[_encoded.File, Header], _Part],
    color: Any,
    strict: Any,
    memory: _Memory,
    limits: Limits,
) -> Any:
    _check.one_of("color", color, _COLORS)
    _check.boolean("strict", strict)
    data = _data(files)
    headers = _read(files, data, limits)
    parts = [part_of(file, _header(row)) for file, row in zip(files, headers, strict=True)]
    on_host = _OnHost(files, data, color, strict, limits)
    if memory.device >= 0:
        results = _on_device(headers, parts, on_host, memory)
    elif memory.out is None:
        arrays = memory.take([on_host.shape(part) for part in parts])
        on_host.decode(range(len(files)), parts, [target for _, target in arrays])
        results = [array for array, _ in arrays]
    else:
        on_host.decode(range(len(files)), parts, memory.given([on_host.shape(part) for part in parts], many))
        return memory.out
    return results if many else results[0]


class _OnHost(NamedTuple):
    """How the CPU decodes files."""

    files: Sequence[_encoded.File]
    data: EncodedFiles
    color: str
    strict: bool
    limits: Limits

    def shape(self, part: _Part) -> tuple[int, int, int]:
        return *part.size, 1 if self.color == "gray" else 3

    def decode(self, places: Sequence[int], parts: Sequence[_Part], targets: Sequence[np.ndarray]) -> None:
        """A part of the file at each of `places`."""
        # What is to be turned is decoded beside its place.
        stored = [
            target if part.orientation == 1 else np.empty((*part.region[2:], target.shape[2]), np.uint8)
            for part, target in zip(parts, targets, strict=True)
        ]
        rows = [
            (place, part.scale, *part.region, _pointer(image), image.strides[0])
            for place, part, image in zip(places, parts, stored, strict=True)
        ]
        table = np.array(rows, np.int64).reshape(len(rows), _headers.REGION_COLUMNS)
        _, failed = _cpu.jpeg_extension().jpeg_decode(self.data, self.limits, table, self.color, self.strict).wait()
        _raise_first([self.files[place] for place in places], failed)
        for part, image, target in zip(parts, stored, targets, strict=True):
            if part.orientation != 1:
                np.copyto(target, _orientation.upright(image, part.orientation))


def _on_device(headers: np.ndarray, parts: Sequence[_Part], on_host: _OnHost, memory: _Memory) -> list[Any]:
    """By the device's engine where it does what the CPU would do, and where that fails or does not, by the CPU."""
    library = memory.library
    chosen = [
        place
        for place in np.flatnonzero(_engine.can_decode(headers)).tolist()
        if parts[place].scale == parts[place].orientation == 1 and on_host.color == "rgb"
    ]
    arrays = {place: library.empty(on_host.shape(parts[place]), "uint8", memory.device, None) for place in chosen}

    def by_cpu(places: Sequence[int]) -> None:
        decoded = [np.empty(on_host.shape(parts[place]), np.uint8) for place in places]
        on_host.decode(places, [parts[place] for place in places], decoded)
        arrays.update((i, library.from_numpy(pixels, memory.device)) for i, pixels in zip(places, decoded, strict=True))

    work = None
    if chosen:
        cuts = _engine.DecodeRequest(
            on_host.data,
            np.array(chosen),
            headers["size"][chosen],
            np.array([parts[place].region for place in chosen]),
            np.array([(library.pointer(array), 3 * array.shape[1]) for array in arrays.values()]),
        )
        work = _engine.engine(memory.device).begin(cuts, library)
    by_cpu(sorted({*range(len(parts))} - {*chosen}))
    if work is not None:
        by_cpu([chosen[i] for i in work.finish()[1]])
    found = [arrays[place] for place in range(len(parts))]
    return [array.permute(2, 0, 1) if library.channels_first else array for array in found]


def _data(files: Sequence[_encoded.File]) -> EncodedFiles:
    found: EncodedFiles = _cpu.jpeg_extension().EncodedFiles([file.data for file in files])
    return found


def _read(files: Sequence[_encoded.File], data: EncodedFiles, limits: Limits) -> np.ndarray:
    """Rows of `_headers.HEADER`."""
    found, failed = _headers.read(data, limits)
    _raise_first(files, failed)
    return found


def _header(row: Any) -> Header:
    size, channels, subsampling, space, progressive, orientation, *_ = row
    names = _cpu.jpeg_extension().jpeg_subsamplings[subsampling], _cpu.jpeg_extension().jpeg_color_spaces[space]
    height, width = size.tolist()
    return Header(height, width, int(channels), *names, bool(progressive), int(orientation))


def _raise_first(files: Sequence[_encoded.File], failed: Sequence[tuple[int, str, str]]) -> None:
    for place, kind, reason in failed:
        files[place].refuse(_KINDS[kind], reason)


def _pointer(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


def _is_batch(array: Any, layout: str | None) -> bool:
    return "N" in describe_images(array, layout).axes.layout


def _batch(array: Any, layout: str | None) -> list[np.ndarray]:
    """[H, W, C] each, rows of pixels side by side."""
    image = describe_images(array, layout)
    if image.device >= 0:
        raise TypeError("images must be on the host: copy them, for instance with .cpu() or cupy.asnumpy")
    if image.dtype != "uint8":
        raise TypeError(f"images must be uint8, got {image.dtype}: cuaug.to_dtype(images, 'uint8', scale=True)")
    if image.channels not in (1, 3) or "T" in image.axes.layout:
        raise ValueError(f"images must have 1 or 3 channels, got {image.channels} as {image.axes.layout}")
    if max(image.size) > MAX_SIDE:
        raise ValueError(f"images must have sides of at most {MAX_SIDE} pixels, got {image.size}")
    axes = image.axes.layout
    pixels = host_array("images", array, None)
    pixels = pixels[..., None] if "C" not in axes else np.moveaxis(pixels, axes.index("C"), -1)
    images = pixels if "N" in axes else pixels[None]
    return [one if one.strides[1:] == (one.shape[2], 1) else np.ascontiguousarray(one) for one in images]
