#pragma once

#include <cstddef>
#include <cstdio>

#include <jpeglib.h>

#include "jpeg.hpp"

namespace jpeg {

inline J_COLOR_SPACE libjpeg_color_space(Color color) {
    return color == Color::Gray ? JCS_GRAYSCALE : color == Color::Rgb ? JCS_EXT_RGB : JCS_EXT_BGR;
}

}  // namespace jpeg
