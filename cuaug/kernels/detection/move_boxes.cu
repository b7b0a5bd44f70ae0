#include "detection/move_boxes.cuh"
#include "gpu/convert.cuh"

namespace cuaug {

constexpr int move_boxes_threads = 128;

// One box per thread. Grid: (boxes of all rows / threads of a block).
__global__ void __launch_bounds__(move_boxes_threads) move_boxes(const __grid_constant__ MoveBoxesRecord args) {
    const long long i = static_cast<long long>(blockIdx.x) * move_boxes_threads + threadIdx.x;
    if (i < args.rows * args.boxes_per_row) move_box(args, i);
}

}  // namespace cuaug
