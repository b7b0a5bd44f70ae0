#include "jpeg.hpp"

#include <algorithm>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>

#include <jpeglib.h>
#include <jerror.h>

#include "exif.hpp"

namespace jpeg {
namespace {

template <class... Values>
bool fail(Failure& failure, Failure::Kind kind, const char* format, Values... values) {
    failure.kind = kind;
    std::snprintf(failure.reason, sizeof(failure.reason), format, values...);
    return false;
}

Failure::Kind kind_of(int code) {
    switch (code) {
        case JERR_IMAGE_TOO_BIG:
        case JERR_WIDTH_OVERFLOW:
        case JERR_NO_BACKING_STORE:  // what libjpeg says when max_memory_to_use is not enough
        case JERR_OUT_OF_MEMORY:
            return Failure::TooLarge;
#if JPEG_LIB_VERSION < 70
        case JERR_ARITH_NOTIMPL:
#endif
        case JERR_BAD_PRECISION:
        case JERR_CCIR601_NOTIMPL:
        case JERR_COMPONENT_COUNT:
        case JERR_CONVERSION_NOTIMPL:
        case JERR_FRACT_SAMPLE_NOTIMPL:
        case JERR_NOT_COMPILED:
        case JERR_NOTIMPL:
        case JERR_SOF_UNSUPPORTED:
            return Failure::Unsupported;
        default:
            return Failure::Decode;
    }
}

// libjpeg reports an error through a function that must not return. This one jumps back into `guarded`, over frames of
// libjpeg and of the work, none of which has anything to destroy: what needs that belongs to the caller of `guarded`.
class Guard {
public:
    Guard(Failure& failure, bool strict) : failure_(failure), strict_(strict) {
        jpeg_std_error(&errors_);
        errors_.error_exit = [](j_common_ptr info) { of(info).leave(info); };
        errors_.emit_message = [](j_common_ptr info, int level) {
            if (level < 0 && of(info).strict_) of(info).leave(info);  // others are traces
        };
        errors_.output_message = [](j_common_ptr) {};
    }

    // Takes an object that libjpeg has not made yet.
    template <class Info>
    void watch(Info& info) {
        info.err = &errors_;
        info.client_data = this;
    }

    template <class Work>
    __attribute__((noinline)) bool guarded(const Work& work) {
        if (setjmp(jump_) != 0) return false;
        work();
        return true;
    }

    // The next two are called in guarded work alone.
    [[noreturn]] void leave(j_common_ptr info) {
        char text[JMSG_LENGTH_MAX];
        errors_.format_message(info, text);
        fail(failure_, kind_of(errors_.msg_code), "%s", text);
        std::longjmp(jump_, 1);
    }

    template <class... Values>
    [[noreturn]] void leave(Failure::Kind kind, const char* format, Values... values) {
        fail(failure_, kind, format, values...);
        std::longjmp(jump_, 1);
    }

    static Guard& of(j_common_ptr info) { return *static_cast<Guard*>(info->client_data); }

private:
    jpeg_error_mgr errors_;
    Failure& failure_;
    const bool strict_;
    std::jmp_buf jump_;
};

// Asked now and then while libjpeg reads an image of several scans, of which some bytes may hold thousands.
struct Progress : jpeg_progress_mgr {
    int most;

    static void monitor(j_common_ptr common) {
        const auto* info = reinterpret_cast<j_decompress_ptr>(common);
        const int most = static_cast<const Progress*>(info->progress)->most;
        if (most > 0 && info->input_scan_number > most)
            Guard::of(common).leave(Failure::TooLarge, "more than %d scans", most);
    }
};

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

J_COLOR_SPACE space_of(Color color) {
    return color == Color::Gray ? JCS_GRAYSCALE : color == Color::Rgb ? JCS_EXT_RGB : JCS_EXT_BGR;
}

// Ink as Adobe stores it, where 255 is none: red is what neither cyan nor black takes away. Gray by BT.601, as
// libjpeg's.
void from_cmyk(const unsigned char* in, int width, Color color, unsigned char* out) {
    const auto over_255 = [](unsigned product) { return (product + 127) / 255; };
    for (int x = 0; x < width; ++x, in += 4) {
        const unsigned r = over_255(in[0] * in[3]), g = over_255(in[1] * in[3]), b = over_255(in[2] * in[3]);
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

class Decompressor {
public:
    Decompressor(const Limits& limits, bool strict, Failure& failure)
        : limits_(limits), strict_(strict), failure_(failure), guard_(failure, strict) {}
    ~Decompressor() { jpeg_destroy_decompress(&info_); }
    Decompressor(const Decompressor&) = delete;

    const jpeg_decompress_struct& info() const { return info_; }

    bool read_header(const unsigned char* data, std::size_t bytes) {
        if (limits_.bytes > 0 && bytes > static_cast<std::uint64_t>(limits_.bytes))
            return fail(failure_, Failure::TooLarge, "%zu bytes, more than the limit of %lld", bytes, limits_.bytes);
        if (bytes < 3 || std::memcmp(data, "\xff\xd8\xff", 3) != 0)
            return fail(failure_, Failure::Decode, "not a JPEG file");
        return guard_.guarded([&] {
            guard_.watch(info_);
            jpeg_create_decompress(&info_);
            jpeg_mem_src(&info_, data, static_cast<unsigned long>(bytes));
            jpeg_read_header(&info_, TRUE);
        }) && within_limits();
    }

    // Up to the first row: of several scans, all are read here.
    bool start(int scale, Color color) {
        if (info_.jpeg_color_space == JCS_UNKNOWN)
            return fail(failure_, Failure::Unsupported, "%d components of an unknown colour space",
                        info_.num_components);
        if (!info_.progressive_mode && info_.Ss > 0 && info_.Se == 0)
            return fail(failure_, Failure::Unsupported, "lossless JPEG");
        return guard_.guarded([&] {
            progress_.progress_monitor = Progress::monitor;
            progress_.most = limits_.scans;
            info_.progress = &progress_;
            if (limits_.memory > 0) info_.mem->max_memory_to_use = static_cast<long>(limits_.memory);
            info_.scale_num = 1;
            info_.scale_denom = static_cast<unsigned>(scale);
            info_.out_color_space = is_cmyk(info_) ? JCS_CMYK : space_of(color);
            jpeg_start_decompress(&info_);
        });
    }

    bool read(const Region& region, Color color, unsigned char* out, long long pitch) {
        const bool all_rows = region.top == 0 && region.height == info_.output_height,
                   all_columns = region.width == info_.output_width;
        JDIMENSION left = 0;
        const bool partial = can_be_partial();
        if (partial && !all_columns && !guard_.guarded([&] { left = crop(region); })) return false;

        // The row that is cut: `out` has no room for what lies beside the region, or for a fourth channel.
        const bool direct = all_columns && !is_cmyk(info_);
        std::unique_ptr<unsigned char[]> memory;
        if (!direct || (!partial && region.top > 0)) {
            memory.reset(
                new (std::nothrow) unsigned char[std::size_t(info_.output_width) * info_.output_components + 1]);
            if (!memory)
                return fail(failure_, Failure::TooLarge, "no memory for a row of %u pixels", info_.output_width);
        }
        // Begun where no vector may: into an aligned row libjpeg-turbo stores past the cache, and it would be read from
        // memory again.
        unsigned char* const row = memory ? memory.get() + 1 : nullptr;
        const long long width = region.width;
        const unsigned char* const wanted = row + (region.left - left) * info_.output_components;

        return guard_.guarded([&] {
            if (partial && region.top > 0) jpeg_skip_scanlines(&info_, static_cast<JDIMENSION>(region.top));
            while (info_.output_scanline < region.top) read_row(row);
            for (long long y = 0; y < region.height; ++y, out += pitch) {
                read_row(direct ? out : row);
                if (direct) continue;
                if (is_cmyk(info_))
                    from_cmyk(wanted, static_cast<int>(width), color, out);
                else
                    std::memcpy(out, wanted, static_cast<std::size_t>(width * info_.output_components));
            }
            if (all_rows && strict_) jpeg_finish_decompress(&info_);  // does the file end as it should?
        });
    }

private:
    bool within_limits() {
        const long long height = info_.image_height, width = info_.image_width;
        if (limits_.side > 0 && std::max(height, width) > limits_.side)
            return fail(failure_, Failure::TooLarge, "%lldx%lld pixels, a side longer than the limit of %lld", height,
                        width, limits_.side);
        if (limits_.pixels > 0 && height * width > limits_.pixels)
            return fail(failure_, Failure::TooLarge, "%lldx%lld pixels, more than the limit of %lld", height, width,
                        limits_.pixels);
        if (limits_.memory > 0 && coefficient_bytes() > limits_.memory)
            return fail(
                failure_, Failure::TooLarge,
                "%lldx%lld pixels in several scans, which take %lld bytes of memory, more than the limit of %lld",
                height, width, coefficient_bytes(), limits_.memory);
        return true;
    }

    // Several scans make an image only together, so that libjpeg keeps all coefficients.
    long long coefficient_bytes() {
        if (!jpeg_has_multiple_scans(&info_)) return 0;
        long long blocks = 0;
        for (int i = 0; i < info_.num_components; ++i) {
            const jpeg_component_info& part = info_.comp_info[i];
            blocks += round_up(part.width_in_blocks, part.h_samp_factor) *
                      round_up(part.height_in_blocks, part.v_samp_factor);
        }
        return blocks * DCTSIZE2 * static_cast<long long>(sizeof(JCOEF));
    }

    // Whether a part decodes to what the whole would. Not where blocks are smoothed by their neighbours' (progressive,
    // and not sent in full), and not where a component is both scaled by its DCT and upsampled, of which
    // jpeg_crop_scanline has the width wrong before 3.0.4.
    bool can_be_partial() const {
        for (int i = 0; i < info_.num_components; ++i) {
            const jpeg_component_info& part = info_.comp_info[i];
            if (info_.progressive_mode && info_.coef_bits != nullptr &&
                std::any_of(info_.coef_bits[i], info_.coef_bits[i] + DCTSIZE2, [](int bits) { return bits != 0; }))
                return false;
            if (!part.component_needed || dct_size(part) == dct_size(info_)) continue;
            if (part.h_samp_factor * dct_size(part) != info_.max_h_samp_factor * dct_size(info_) ||
                part.v_samp_factor * dct_size(part) != info_.max_v_samp_factor * dct_size(info_))
                return false;
        }
        return true;
    }

    // Restricts decoding to a region's columns, and the samples of chroma on either side that these are interpolated
    // from. A row of very few samples is not interpolated, so there are always some. Returns the column that rows now
    // begin with.
    JDIMENSION crop(const Region& region) {
        const long long all = info_.output_width, sample = info_.max_h_samp_factor;
        const long long right = std::min(all, std::max(region.left + region.width + sample, 4 * sample));
        JDIMENSION left = static_cast<JDIMENSION>(std::max(0LL, std::min(region.left - sample, right - 4 * sample)));
        JDIMENSION width = static_cast<JDIMENSION>(right - left);
        jpeg_crop_scanline(&info_, &left, &width);
        return left;
    }

    void read_row(unsigned char* row) {
        if (jpeg_read_scanlines(&info_, &row, 1) != 1)
            guard_.leave(Failure::Decode, "no row %u", info_.output_scanline);
    }

    const Limits limits_;
    const bool strict_;
    Failure& failure_;
    Guard guard_;
    Progress progress_{};
    jpeg_decompress_struct info_{};
};

const char* subsampling_of(const jpeg_decompress_struct& info) {
    if (info.num_components == 1) return "gray";
    const jpeg_component_info* part = info.comp_info;
    for (int i = 1; i < info.num_components; ++i) {
        const bool as_luma = i == 3 && part[i].h_samp_factor == part[0].h_samp_factor &&
                             part[i].v_samp_factor == part[0].v_samp_factor;  // black
        if (!as_luma &&
            (part[i].h_samp_factor != part[1].h_samp_factor || part[i].v_samp_factor != part[1].v_samp_factor))
            return "other";
    }
    if (part[0].h_samp_factor % part[1].h_samp_factor != 0 || part[0].v_samp_factor % part[1].v_samp_factor != 0)
        return "other";
    switch (part[0].h_samp_factor / part[1].h_samp_factor * 10 + part[0].v_samp_factor / part[1].v_samp_factor) {
        case 11:
            return "444";
        case 12:
            return "440";
        case 21:
            return "422";
        case 22:
            return "420";
        case 41:
            return "411";
        case 42:
            return "410";
        default:
            return "other";
    }
}

const char* space_name(J_COLOR_SPACE space) {
    switch (space) {
        case JCS_GRAYSCALE:
            return "gray";
        case JCS_RGB:
            return "rgb";
        case JCS_YCbCr:
            return "ycbcr";
        case JCS_CMYK:
            return "cmyk";
        case JCS_YCCK:
            return "ycck";
        default:
            return "other";
    }
}

template <std::size_t N>
std::int64_t place_in(const char* const (&names)[N], const char* name) {
    return std::find_if(std::begin(names), std::end(names),
                        [&](const char* each) { return std::strcmp(each, name) == 0; }) -
           std::begin(names);
}

bool lies_within(const Region& region, long long height, long long width) {
    return region.top >= 0 && region.left >= 0 && region.height > 0 && region.width > 0 && region.height <= height &&
           region.width <= width && region.top <= height - region.height && region.left <= width - region.width;
}

// Where a file is written to: memory that doubles.
struct Destination : jpeg_destination_mgr {
    Encoded* file;
    std::size_t room;

    static Destination& of(j_compress_ptr info) { return *static_cast<Destination*>(info->dest); }

    void grow(j_compress_ptr info, std::size_t wanted) {
        void* const larger = std::realloc(file->data, wanted);
        if (larger == nullptr)
            Guard::of(reinterpret_cast<j_common_ptr>(info))
                .leave(Failure::TooLarge, "no memory for a file of %zu bytes", wanted);
        file->data = static_cast<unsigned char*>(larger);
        next_output_byte = file->data + room;
        free_in_buffer = wanted - room;
        room = wanted;
    }
};

class Compressor {
public:
    explicit Compressor(Failure& failure) : guard_(failure, false) {}
    ~Compressor() { jpeg_destroy_compress(&info_); }
    Compressor(const Compressor&) = delete;

    bool write(const unsigned char* image, int height, int width, long long pitch, Color color,
               const Encoding& encoding, Encoded& out) {
        return guard_.guarded([&] {
            guard_.watch(info_);
            jpeg_create_compress(&info_);
            write_to(out, static_cast<std::size_t>(height) * width / 4 + 4096);
            info_.image_height = static_cast<JDIMENSION>(height);
            info_.image_width = static_cast<JDIMENSION>(width);
            info_.input_components = channels(color);
            info_.in_color_space = space_of(color);
            jpeg_set_defaults(&info_);
            jpeg_set_colorspace(&info_, encoding.gray || color == Color::Gray ? JCS_GRAYSCALE : JCS_YCbCr);
            jpeg_set_quality(&info_, encoding.quality, TRUE);
            info_.comp_info[0].h_samp_factor = info_.num_components == 1 ? 1 : encoding.horizontal;
            info_.comp_info[0].v_samp_factor = info_.num_components == 1 ? 1 : encoding.vertical;
            if (encoding.progressive) jpeg_simple_progression(&info_);
            jpeg_start_compress(&info_, TRUE);
            for (int y = 0; y < height; ++y) {
                JSAMPROW row = const_cast<JSAMPROW>(image + y * pitch);
                jpeg_write_scanlines(&info_, &row, 1);
            }
            jpeg_finish_compress(&info_);
        });
    }

private:
    void write_to(Encoded& out, std::size_t room) {
        destination_.file = &out;
        destination_.init_destination = [](j_compress_ptr) {};
        destination_.empty_output_buffer = [](j_compress_ptr info) -> boolean {
            Destination& to = Destination::of(info);
            to.grow(info, 2 * to.room);
            return TRUE;
        };
        destination_.term_destination = [](j_compress_ptr info) {
            Destination& to = Destination::of(info);
            to.file->bytes = to.room - to.free_in_buffer;
        };
        info_.dest = &destination_;
        destination_.grow(&info_, room);
    }

    Guard guard_;
    Destination destination_{};
    jpeg_compress_struct info_{};
};

}  // namespace

bool read_header(const unsigned char* data, std::size_t bytes, const Limits& limits, Header& header,
                 Failure& failure) noexcept {
    Decompressor image(limits, false, failure);
    if (!image.read_header(data, bytes)) return false;
    const jpeg_decompress_struct& info = image.info();
    header.height = info.image_height;
    header.width = info.image_width;
    header.channels = info.num_components;
    header.subsampling = place_in(subsamplings, subsampling_of(info));
    header.space = place_in(spaces, space_name(info.jpeg_color_space));
    header.progressive = info.progressive_mode != FALSE;
    header.orientation = orientation({data, bytes});
    header.ended = data[bytes - 2] == 0xff && data[bytes - 1] == 0xd9;
    header.bytes = static_cast<std::int64_t>(bytes);
    return true;
}

bool decode(const unsigned char* data, std::size_t bytes, const Limits& limits, int scale, const Region& region,
            Color color, bool strict, unsigned char* out, long long pitch, Failure& failure) noexcept {
    Decompressor image(limits, strict, failure);
    if (!image.read_header(data, bytes)) return false;
    const int height = scaled(static_cast<int>(image.info().image_height), scale),
              width = scaled(static_cast<int>(image.info().image_width), scale);
    if (!lies_within(region, height, width))
        return fail(failure, Failure::Decode, "a region from (%lld, %lld) of %lldx%lld is not within %dx%d", region.top,
                    region.left, region.height, region.width, height, width);
    return image.start(scale, color) && image.read(region, color, out, pitch);
}

bool encode(const unsigned char* image, int height, int width, long long pitch, Color color, const Encoding& encoding,
            Encoded& out, Failure& failure) noexcept {
    return Compressor(failure).write(image, height, width, pitch, color, encoding, out);
}

const char* version() {
#define CUAUG_TEXT(value) #value
#define CUAUG_TEXT_OF(value) CUAUG_TEXT(value)
    return CUAUG_TEXT_OF(LIBJPEG_TURBO_VERSION);
}

}  // namespace jpeg
