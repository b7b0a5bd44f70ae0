#include "decompressor.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

#include "color_space.hpp"
#include "scan_count.hpp"

namespace jpeg {
namespace {

#if JPEG_LIB_VERSION >= 70
int dct_size(const jpeg_component_info& component) { return component.DCT_h_scaled_size; }
int dct_size(const jpeg_decompress_struct& info) { return info.min_DCT_h_scaled_size; }
#else
int dct_size(const jpeg_component_info& component) { return component.DCT_scaled_size; }
int dct_size(const jpeg_decompress_struct& info) { return info.min_DCT_scaled_size; }
#endif

long long round_up(long long value, long long step) { return (value + step - 1) / step * step; }

bool is_cmyk(const jpeg_decompress_struct& info) {
    return info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
}

// CMYK as Adobe stores it, where 255 is no ink: R = C * K / 255, and G and B likewise. Gray is luma by BT.601, with
// libjpeg's integer weights.
void convert_cmyk(const unsigned char* in, int width, Color color, unsigned char* out) {
    const auto divide_by_255 = [](unsigned product) { return (product + 127) / 255; };
    for (int x = 0; x < width; ++x, in += 4) {
        const unsigned r = divide_by_255(in[0] * in[3]), g = divide_by_255(in[1] * in[3]),
                       b = divide_by_255(in[2] * in[3]);
        if (color == Color::Gray) {
            *out++ = static_cast<unsigned char>((19595 * r + 38470 * g + 7471 * b + 32768) >> 16);
        } else {
            out[0] = static_cast<unsigned char>(color == Color::Rgb ? r : b);
            out[1] = static_cast<unsigned char>(g);
            out[2] = static_cast<unsigned char>(color == Color::Rgb ? b : r);
            out += 3;
        }
    }
}

bool is_within(const Region& region, long long height, long long width) {
    return region.top >= 0 && region.left >= 0 && region.height > 0 && region.width > 0 && region.height <= height &&
           region.width <= width && region.top <= height - region.height && region.left <= width - region.width;
}

}  // namespace

bool Decompressor::read_header(const unsigned char* data, std::size_t bytes) {
    if (limits_.max_bytes > 0 && bytes > static_cast<std::uint64_t>(limits_.max_bytes))
        return fail(failure_, Failure::TooLarge, "%zu bytes, more than the limit of %lld", bytes, limits_.max_bytes);
    if (bytes < 3 || std::memcmp(data, "\xff\xd8\xff", 3) != 0)
        return fail(failure_, Failure::Decode, "not a JPEG file");
    return trap_.run([&] {
        trap_.attach(info_);
        jpeg_create_decompress(&info_);
        jpeg_mem_src(&info_, data, static_cast<unsigned long>(bytes));
        jpeg_read_header(&info_, TRUE);
    }) && within_limits();
}

bool Decompressor::start(int scale, Color color) {
    if (info_.jpeg_color_space == JCS_UNKNOWN)
        return fail(failure_, Failure::Unsupported, "%d components of an unknown colour space", info_.num_components);
    if (!info_.progressive_mode && info_.Ss > 0 && info_.Se == 0)
        return fail(failure_, Failure::Unsupported, "lossless JPEG");
    return trap_.run([&] {
        info_.scale_num = 1;
        info_.scale_denom = static_cast<unsigned>(scale);
        info_.out_color_space = is_cmyk(info_) ? JCS_CMYK : libjpeg_color_space(color);
        jpeg_start_decompress(&info_);
    });
}

bool Decompressor::read(const Region& region, Color color, unsigned char* out, long long pitch) {
    const bool all_rows = region.top == 0 && region.height == info_.output_height;
    const bool all_columns = region.width == info_.output_width;
    const bool decodes_region = can_decode_partially();
    JDIMENSION left = 0;  // the column that libjpeg's rows begin with
    if (decodes_region && !all_columns && !trap_.run([&] { left = crop_columns(region); })) return false;

    // Rows are decoded directly into `out` unless they are wider than the region or have a fourth channel.
    const bool writes_directly = all_columns && !is_cmyk(info_);
    std::unique_ptr<unsigned char[]> row_memory;
    if (!writes_directly || (!decodes_region && region.top > 0)) {
        row_memory.reset(
            new (std::nothrow) unsigned char[std::size_t(info_.output_width) * info_.output_components + 1]);
        if (!row_memory)
            return fail(failure_, Failure::TooLarge, "no memory for a row of %u pixels", info_.output_width);
    }
    // The row is unaligned on purpose: libjpeg-turbo writes an aligned row with stores that bypass the cache, and the
    // row would then be read from memory.
    unsigned char* const row = row_memory ? row_memory.get() + 1 : nullptr;
    const long long width = region.width;
    const unsigned char* const region_row = row + (region.left - left) * info_.output_components;

    return trap_.run([&] {
        if (decodes_region && region.top > 0) jpeg_skip_scanlines(&info_, static_cast<JDIMENSION>(region.top));
        while (info_.output_scanline < region.top) read_row(row);
        for (long long y = 0; y < region.height; ++y, out += pitch) {
            read_row(writes_directly ? out : row);
            if (writes_directly) continue;
            if (is_cmyk(info_))
                convert_cmyk(region_row, static_cast<int>(width), color, out);
            else
                std::memcpy(out, region_row, static_cast<std::size_t>(width * info_.output_components));
        }
        if (all_rows && strict_) jpeg_finish_decompress(&info_);  // reports missing data at the end of the file
    });
}

bool Decompressor::within_limits() {
    const long long height = info_.image_height, width = info_.image_width;
    if (limits_.max_side > 0 && std::max(height, width) > limits_.max_side)
        return fail(failure_, Failure::TooLarge, "%lldx%lld pixels, a side longer than the limit of %lld", height,
                    width, limits_.max_side);
    if (limits_.max_pixels > 0 && height * width > limits_.max_pixels)
        return fail(failure_, Failure::TooLarge, "%lldx%lld pixels, more than the limit of %lld", height, width,
                    limits_.max_pixels);
    if (limits_.max_memory > 0 && coefficient_bytes() > limits_.max_memory)
        return fail(failure_, Failure::TooLarge,
                    "%lldx%lld pixels in several scans, which take %lld bytes of memory, more than the limit of %lld",
                    height, width, coefficient_bytes(), limits_.max_memory);
    return within_scan_limits();
}

// A few bytes may hold a scan over the whole image, so a small file with many scans may take very long to decode.
bool Decompressor::within_scan_limits() {
    if (!jpeg_has_multiple_scans(&info_)) return true;
    constexpr long long unlimited = std::numeric_limits<int>::max();
    const long long height = info_.image_height, width = info_.image_width;
    const long long max_scans = limits_.max_scans > 0 ? limits_.max_scans : unlimited;
    const long long max_scans_by_pixels =
        limits_.max_scan_pixels > 0 ? limits_.max_scan_pixels / (height * width) : unlimited;
    const ByteView data{info_.src->next_input_byte, info_.src->bytes_in_buffer};
    const long long scans = count_scans(data, std::min(max_scans, max_scans_by_pixels));
    if (scans > max_scans) return fail(failure_, Failure::TooLarge, "more scans than the limit of %lld", max_scans);
    if (scans > max_scans_by_pixels)
        return fail(failure_, Failure::TooLarge,
                    "at least %lld scans of %lldx%lld pixels, more pixels in all than the limit of %lld", scans, height,
                    width, limits_.max_scan_pixels);
    return true;
}

// The bytes that libjpeg needs for the coefficients of an image of several scans. libjpeg keeps all coefficients,
// because only all scans together give the pixels.
long long Decompressor::coefficient_bytes() {
    if (!jpeg_has_multiple_scans(&info_)) return 0;
    long long blocks = 0;
    for (int i = 0; i < info_.num_components; ++i) {
        const jpeg_component_info& component = info_.comp_info[i];
        blocks += round_up(component.width_in_blocks, component.h_samp_factor) *
                  round_up(component.height_in_blocks, component.v_samp_factor);
    }
    return blocks * DCTSIZE2 * static_cast<long long>(sizeof(JCOEF));
}

// Whether decoding a region alone gives the same values as decoding the whole image. There are two exceptions. If the
// scans of a progressive image are incomplete, libjpeg smooths its blocks by their neighbours. If a component is both
// scaled by its DCT and upsampled, jpeg_crop_scanline before libjpeg-turbo 3.0.4 sets the component's width wrong.
bool Decompressor::can_decode_partially() const {
    for (int i = 0; i < info_.num_components; ++i) {
        const jpeg_component_info& component = info_.comp_info[i];
        if (info_.progressive_mode && info_.coef_bits != nullptr &&
            std::any_of(info_.coef_bits[i], info_.coef_bits[i] + DCTSIZE2, [](int bits) { return bits != 0; }))
            return false;
        if (!component.component_needed || dct_size(component) == dct_size(info_)) continue;
        if (component.h_samp_factor * dct_size(component) != info_.max_h_samp_factor * dct_size(info_) ||
            component.v_samp_factor * dct_size(component) != info_.max_v_samp_factor * dct_size(info_))
            return false;
    }
    return true;
}

// Restricts decoding to the region's columns and to the chroma samples on either side from which chroma is
// interpolated. libjpeg does not interpolate a row of very few samples, so at least four are decoded. Returns the
// column at which decoded rows begin.
JDIMENSION Decompressor::crop_columns(const Region& region) {
    const long long columns = info_.output_width, columns_per_sample = info_.max_h_samp_factor;
    const long long right =
        std::min(columns, std::max(region.left + region.width + columns_per_sample, 4 * columns_per_sample));
    JDIMENSION left = static_cast<JDIMENSION>(
        std::max(0LL, std::min(region.left - columns_per_sample, right - 4 * columns_per_sample)));
    JDIMENSION width = static_cast<JDIMENSION>(right - left);
    jpeg_crop_scanline(&info_, &left, &width);
    return left;
}

void Decompressor::read_row(unsigned char* row) {
    if (jpeg_read_scanlines(&info_, &row, 1) != 1) trap_.stop(Failure::Decode, "no row %u", info_.output_scanline);
}

bool decode(const unsigned char* data, std::size_t bytes, const Limits& limits, int scale, const Region& region,
            Color color, bool strict, unsigned char* out, long long pitch, Failure& failure) noexcept {
    Decompressor decompressor(limits, strict, failure);
    if (!decompressor.read_header(data, bytes)) return false;
    const int height = scaled_side(static_cast<int>(decompressor.info().image_height), scale);
    const int width = scaled_side(static_cast<int>(decompressor.info().image_width), scale);
    if (!is_within(region, height, width))
        return fail(failure, Failure::Decode, "a region of %lldx%lld from row %lld and column %lld is not within %dx%d",
                    region.height, region.width, region.top, region.left, height, width);
    return decompressor.start(scale, color) && decompressor.read(region, color, out, pitch);
}

}  // namespace jpeg
