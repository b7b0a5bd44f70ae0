#pragma once

namespace cuaug {

// What an op knows besides the pixel. Ops see every dtype scaled to 0..1.
template <class R>
struct PixelContext {
    int x, y;
    int width, height;
    R max_value;            // of the images' dtype: 255 for uint8
    R out_max_value;        // of the output dtype
    int channel_group = 0;  // index of the group of up to four channels, counted through all frames
};

}  // namespace cuaug
