#pragma once

namespace cuaug {

// What an op or a mix knows besides the pixel. Ops see every dtype divided by its `max_value`: 0..1, int16 -1..1. Mixes
// see the images' own range.
template <class R>
struct PixelContext {
    int x, y;
    int width, height;
    R max_value;            // of the images' dtype: 255 for uint8
    R out_max_value;        // of the output dtype
    int channel_group = 0;  // index of the group of up to four channels, counted through all frames
};

}  // namespace cuaug
