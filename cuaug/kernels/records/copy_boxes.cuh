#pragma once

namespace cuaug {

// Rows of bytes to copy; source and destination lie anywhere in memory.
struct BoxCopy {
    const unsigned char* from;
    unsigned char* to;
    long long from_pitch;  // bytes from a row to the next
    long long to_pitch;
    long long rows;
    long long bytes;  // of a row
};

// Copies boxes of images of any size in one launch.
struct CopyBoxesRecord {
    const BoxCopy* copies;  // [boxes]: the blocks with blockIdx.x = i copy box i
};

}  // namespace cuaug
