#pragma once

namespace cuaug {

// What an op may know besides the pixel. Pixels are in 0..1, whatever the dtype.
template <class R>
struct PixelContext {
    int x, y;
    int width, height;
    R max_value;            // 1 in the images' own range: 255 for bytes
    R out_max_value;        // and in the result's
    int channel_group = 0;  // which four channels these are, counted through all frames of the sample
};

}  // namespace cuaug
