#include "records/copy_boxes.cuh"
#include "gpu/copy_row.cuh"

namespace cuaug {

constexpr int copy_threads = 256, copy_rows = 32;

// A block copies `copy_rows` rows of a box, each by a warp. Grid: (boxes, blocks for the tallest).
__global__ void __launch_bounds__(copy_threads, 4) copy_boxes(const __grid_constant__ CopyBoxesRecord args) {
    const BoxCopy copy = args.copies[blockIdx.x];
    const long long first = static_cast<long long>(blockIdx.y) * copy_rows, end = min(first + copy_rows, copy.rows);
    for (long long row = first + threadIdx.x / 32; row < end; row += copy_threads / 32)
        copy_row<32>(copy.from + row * copy.from_pitch, copy.to + row * copy.to_pitch, static_cast<int>(copy.bytes),
                     threadIdx.x & 31);
}

}  // namespace cuaug
