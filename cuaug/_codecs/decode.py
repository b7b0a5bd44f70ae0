"""Decodes files: JPEG by libjpeg-turbo on the CPU or by nvJPEG on a GPU, other formats through Pillow or OpenCV."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import _check
from .._check import DecodeError, ImageTooLarge, UnsupportedImage
from .._host import extension, threads
from . import exif, jpeg_headers, nvjpeg, other_formats
from .encoded_input import File
from .jpeg_headers import REGION_COLUMNS, Header, header_of
from .limits import Limits
from .outputs import OutputAllocator
from .regions import DecodeRegion, whole_image

if TYPE_CHECKING:
    from .._native import EncodedFiles

COLORS = ("rgb", "bgr", "gray")
_ERRORS = {error.__name__: error for error in (DecodeError, ImageTooLarge, UnsupportedImage)}


def read_headers(files: Sequence[File], limits: Limits) -> list[Header]:
    headers = _read_headers(files, _encoded_files(files), limits)
    return [header_of(row) for row in headers]


def decode_jpegs(
    files: Sequence[File],
    is_list: bool,
    choose_region: Callable[[File, Header], DecodeRegion],
    color: Any,
    strict: Any,
    outputs: OutputAllocator,
    limits: Limits,
) -> Any:
    """Decodes a region of each file, to `outputs.out` or to new arrays. Without `is_list`, the result is one array."""
    _check.one_of("color", color, COLORS)
    _check.boolean("strict", strict)
    encoded_files = _encoded_files(files)
    headers = _read_headers(files, encoded_files, limits)
    regions = [choose_region(file, header_of(row)) for file, row in zip(files, headers, strict=True)]
    cpu = CpuDecoder(files, encoded_files, color, strict, limits)
    if outputs.device >= 0:
        results = _decode_on_gpu(headers, regions, cpu, outputs)
    elif outputs.out is None:
        arrays = outputs.allocate_on_host([cpu.shape(region) for region in regions])
        cpu.decode(range(len(files)), regions, [view for _, view in arrays])
        results = [array for array, _ in arrays]
    else:
        views = outputs.views_of_out([cpu.shape(region) for region in regions], is_list, files)
        cpu.decode(range(len(files)), regions, views)
        return outputs.out
    return results if is_list else results[0]


def decode_any_format(
    files: Sequence[File], color: str, orient: bool, strict: Any, outputs: OutputAllocator, limits: Limits
) -> list[Any]:
    """Whole images, on the host."""
    _check.boolean("strict", strict)
    signature = other_formats.JPEG_SIGNATURE
    jpeg_indices = [index for index, file in enumerate(files) if file.data[: len(signature)] == signature]
    other_indices = sorted({*range(len(files))} - {*jpeg_indices})
    images: list[Any] = [None] * len(files)

    def choose_region(file: File, header: Header) -> DecodeRegion:
        return whole_image(header, 1, None, orient)

    jpeg_error = None
    if jpeg_indices:
        jpegs = [files[index] for index in jpeg_indices]
        try:
            decoded = decode_jpegs(jpegs, True, choose_region, color, strict, outputs, limits)
        except DecodeError as error:  # raised below, unless a file before it fails, too
            jpeg_error = error
            other_indices = [index for index in other_indices if index < error.index]
        else:
            for index, image in zip(jpeg_indices, decoded, strict=True):
                images[index] = image

    def decode_other(index: int) -> None:
        pixels, orientation = other_formats.decode(files[index], color, limits)
        pixels = exif.upright(pixels, orientation if orient else 1)
        ((images[index], view),) = outputs.allocate_on_host([pixels.shape])
        np.copyto(view, pixels)

    threads.parallel_map(decode_other, other_indices, extension.thread_count())
    if jpeg_error is not None:
        raise jpeg_error
    return images


class CpuDecoder(NamedTuple):
    """JPEG files and how the CPU decodes them."""

    files: Sequence[File]
    encoded_files: EncodedFiles  # the same files, in the extension
    color: str
    strict: bool
    limits: Limits

    def shape(self, region: DecodeRegion) -> tuple[int, int, int]:
        """[H, W, C] of the decoded region."""
        return *region.size, 1 if self.color == "gray" else 3

    def decode(self, indices: Sequence[int], regions: Sequence[DecodeRegion], outputs: Sequence[np.ndarray]) -> None:
        """Decodes one region of each file at `indices`."""
        # A region that has to be turned upright is decoded to temporary memory, and then copied.
        stored = [
            output if region.orientation == 1 else np.empty((*region.box[2:], output.shape[2]), np.uint8)
            for region, output in zip(regions, outputs, strict=True)
        ]
        rows = [
            (index, region.scale, *region.box, image.__array_interface__["data"][0], image.strides[0])
            for index, region, image in zip(indices, regions, stored, strict=True)
        ]
        table = np.array(rows, np.int64).reshape(len(rows), REGION_COLUMNS)
        _, failures = (
            extension.jpeg_extension()
            .jpeg_decode(self.encoded_files, self.limits, table, self.color, self.strict)
            .wait()
        )
        _raise_first([self.files[index] for index in indices], failures)
        for region, image, output in zip(regions, stored, outputs, strict=True):
            if region.orientation != 1:
                np.copyto(output, exif.upright(image, region.orientation))


def _decode_on_gpu(
    headers: np.ndarray, regions: Sequence[DecodeRegion], cpu: CpuDecoder, outputs: OutputAllocator
) -> list[Any]:
    """Decodes a region on the GPU's engine if the engine supports the file, the region and the color, else on the CPU.

    The CPU also decodes the images that the engine fails to decode.
    """
    library, device = outputs.library, outputs.device
    engine_indices = [
        index
        for index in np.flatnonzero(nvjpeg.can_decode(headers)).tolist()
        if regions[index].scale == regions[index].orientation == 1 and cpu.color == "rgb"
    ]
    arrays = {index: library.empty(cpu.shape(regions[index]), "uint8", device, None) for index in engine_indices}

    def decode_on_cpu(indices: Sequence[int]) -> None:
        images = [np.empty(cpu.shape(regions[index]), np.uint8) for index in indices]
        cpu.decode(indices, [regions[index] for index in indices], images)
        for index, image in zip(indices, images, strict=True):
            arrays[index] = library.from_numpy(image, device)

    pending = None
    if engine_indices:
        request = nvjpeg.DecodeRequest(
            cpu.encoded_files,
            np.array(engine_indices),
            headers["size"][engine_indices],
            np.array([regions[index].box for index in engine_indices]),
            np.array([(library.pointer(array), 3 * array.shape[1]) for array in arrays.values()]),
        )
        pending = nvjpeg.engine(device).begin(request, library)
    decode_on_cpu(sorted({*range(len(regions))} - {*engine_indices}))
    if pending is not None:
        _, failed_rows = pending.finish()
        decode_on_cpu([engine_indices[row] for row in failed_rows])
    results = [arrays[index] for index in range(len(regions))]
    return [array.permute(2, 0, 1) if library.channels_first else array for array in results]


def _encoded_files(files: Sequence[File]) -> EncodedFiles:
    encoded: EncodedFiles = extension.jpeg_extension().EncodedFiles([file.data for file in files])
    return encoded


def _read_headers(files: Sequence[File], encoded_files: EncodedFiles, limits: Limits) -> np.ndarray:
    """Rows of `jpeg_headers.HEADER`."""
    headers, failures = jpeg_headers.read(encoded_files, limits)
    _raise_first(files, failures)
    return headers


def _raise_first(files: Sequence[File], failures: Sequence[tuple[int, str, str]]) -> None:
    for index, kind, reason in failures:
        files[index].raise_error(_ERRORS[kind], reason)
