#pragma once

namespace cuaug {

// Rows of bytes, and where they are put: both lie anywhere in memory.
struct BoxCopy {
    const unsigned char* from;
    unsigned char* to;
    long long from_pitch;  // bytes from a row to the next
    long long to_pitch;
    long long rows;
    long long bytes;  // of a row
};

// Boxes of images of any size, moved in one launch. Mirrored by cuaug/_engine.py.
struct CopyBoxesRecord {
    const BoxCopy* copies;
};

}  // namespace cuaug
