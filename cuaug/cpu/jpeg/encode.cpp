#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>

#include "color_space.hpp"
#include "error_trap.hpp"
#include "jpeg.hpp"

namespace jpeg {
namespace {

// The buffer that libjpeg writes a file into; its capacity doubles when it is full.
struct Destination : jpeg_destination_mgr {
    EncodedBytes* file;
    std::size_t capacity;

    static Destination& of(j_compress_ptr info) { return *static_cast<Destination*>(info->dest); }

    void grow(j_compress_ptr info, std::size_t new_capacity) {
        void* const larger = std::realloc(file->data, new_capacity);
        if (larger == nullptr)
            ErrorTrap::of(reinterpret_cast<j_common_ptr>(info))
                .stop(Failure::TooLarge, "no memory for a file of %zu bytes", new_capacity);
        file->data = static_cast<unsigned char*>(larger);
        next_output_byte = file->data + capacity;
        free_in_buffer = new_capacity - capacity;
        capacity = new_capacity;
    }
};

class Compressor {
public:
    explicit Compressor(Failure& failure) : trap_(failure, /*strict=*/false) {}
    ~Compressor() { jpeg_destroy_compress(&info_); }
    Compressor(const Compressor&) = delete;

    bool write(const unsigned char* image, int height, int width, long long pitch, Color color,
               const Encoding& encoding, EncodedBytes& out) {
        return trap_.run([&] {
            trap_.attach(info_);
            jpeg_create_compress(&info_);
            set_destination(out, static_cast<std::size_t>(height) * width / 4 + 4096);
            info_.image_height = static_cast<JDIMENSION>(height);
            info_.image_width = static_cast<JDIMENSION>(width);
            info_.input_components = channels(color);
            info_.in_color_space = libjpeg_color_space(color);
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
    void set_destination(EncodedBytes& out, std::size_t capacity) {
        destination_.file = &out;
        destination_.init_destination = [](j_compress_ptr) {};
        destination_.empty_output_buffer = [](j_compress_ptr info) -> boolean {
            Destination& destination = Destination::of(info);
            destination.grow(info, 2 * destination.capacity);
            return TRUE;
        };
        destination_.term_destination = [](j_compress_ptr info) {
            Destination& destination = Destination::of(info);
            destination.file->bytes = destination.capacity - destination.free_in_buffer;
        };
        info_.dest = &destination_;
        destination_.grow(&info_, capacity);
    }

    ErrorTrap trap_;
    Destination destination_{};
    jpeg_compress_struct info_{};
};

}  // namespace

bool encode(const unsigned char* image, int height, int width, long long pitch, Color color, const Encoding& encoding,
            EncodedBytes& out, Failure& failure) noexcept {
    return Compressor(failure).write(image, height, width, pitch, color, encoding, out);
}

}  // namespace jpeg
