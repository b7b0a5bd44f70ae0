#include "gpu/convert.cuh"
#include "records/rotated_iou.cuh"

namespace cuaug {

constexpr int pair_side = 16;

// A block compares boxes with boxes, a pair to a thread. Grid: (tiles of pairs x samples).
__global__ void __launch_bounds__(pair_side* pair_side, 2) rotated_pairs(const __grid_constant__ RotatedIou args) {
    __shared__ RotatedBox one[pair_side], other[pair_side];
    const long long across = (args.q + pair_side - 1) / pair_side, down = (args.p + pair_side - 1) / pair_side;
    const long long n = blockIdx.x / (across * down), tile = blockIdx.x % (across * down);
    const long long p = tile / across * pair_side, q = tile % across * pair_side;
    const int i = threadIdx.x / pair_side, j = threadIdx.x % pair_side;
    if (i == 0 && p + j < args.p) one[j] = read_rotated(args.a, n, p + j);
    if (i == 2 && q + j < args.q) other[j] = read_rotated(args.b, n, q + j);
    __syncthreads();
    if (p + i >= args.p || q + j >= args.q) return;
    const double found = rotated_iou(one[i], other[j]);
    const long long to = (n * args.p + p + i) * args.q + q + j;
    if (args.float64)
        static_cast<double*>(args.out)[to] = found;
    else
        static_cast<float*>(args.out)[to] = static_cast<float>(found);
}

}  // namespace cuaug
