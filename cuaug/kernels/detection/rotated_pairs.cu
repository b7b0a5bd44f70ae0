#include "gpu/convert.cuh"
#include "detection/rotated_iou.cuh"
#include "records/box_pairs.cuh"

namespace cuaug {

constexpr int pair_side = 16;

// A block compares 16 boxes with 16 others, one pair per thread. Grid: (tiles of pairs x samples).
__global__ void __launch_bounds__(pair_side* pair_side, 2) rotated_pairs(const __grid_constant__ BoxPairsRecord args) {
    __shared__ RotatedBox a[pair_side], b[pair_side];
    const long long columns = (args.q + pair_side - 1) / pair_side, rows = (args.p + pair_side - 1) / pair_side;
    const long long n = blockIdx.x / (columns * rows), tile = blockIdx.x % (columns * rows);
    const long long p = tile / columns * pair_side, q = tile % columns * pair_side;
    const int i = threadIdx.x / pair_side, j = threadIdx.x % pair_side;
    // Row 2 of the threads is in another warp than row 0, so that both loads run at the same time.
    if (i == 0 && p + j < args.p) a[j] = read_rotated_box(args.a, n, p + j);
    if (i == 2 && q + j < args.q) b[j] = read_rotated_box(args.b, n, q + j);
    __syncthreads();
    if (p + i >= args.p || q + j >= args.q) return;
    const double value = rotated_iou(a[i], b[j]);
    const long long offset = (n * args.p + p + i) * args.q + q + j;
    if (args.out_is_float64)
        static_cast<double*>(args.out)[offset] = value;
    else
        static_cast<float*>(args.out)[offset] = static_cast<float>(value);
}

}  // namespace cuaug
