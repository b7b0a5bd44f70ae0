#include "detection/upright_iou.cuh"
#include "gpu/convert.cuh"

namespace cuaug {

constexpr int upright_rows = 128, upright_columns = 32, upright_threads = 256;

// A block compares 128 boxes of `a` with 32 of `b`: a lane has one box of `b`, a warp every eighth box of `a`. R: float
// or double, the dtype of the result. Grid: (tiles of pairs x samples), fewer than 2^31.
template <class R>
__global__ void __launch_bounds__(upright_threads) upright_pairs(const __grid_constant__ BoxPairsRecord args) {
    __shared__ UprightBox<R> a[upright_rows];
    const unsigned int columns = static_cast<unsigned int>((args.q + upright_columns - 1) / upright_columns),
                       rows = static_cast<unsigned int>((args.p + upright_rows - 1) / upright_rows);
    const unsigned int row = blockIdx.x / columns, n = row / rows;
    const int lane = threadIdx.x & 31, warp_index = threadIdx.x >> 5;
    const long long first = static_cast<long long>(row - n * rows) * upright_rows,
                    q = static_cast<long long>(blockIdx.x - row * columns) * upright_columns + lane;
    const int count = static_cast<int>(args.p - first < upright_rows ? args.p - first : upright_rows);
    if (static_cast<int>(threadIdx.x) < count)
        a[threadIdx.x] = read_upright_box<R>(args.a, n, first + threadIdx.x, args.kind);
    UprightBox<R> b;
    if (q < args.q) b = read_upright_box<R>(args.b, n, q, args.kind);
    __syncthreads();
    if (q >= args.q) return;
    R* out = static_cast<R*>(args.out) + (n * args.p + first) * args.q + q;
    for (int i = warp_index; i < count; i += upright_threads / 32)
        out[i * args.q] = overlap(a[i], b, args.kind, static_cast<R>(args.eps));
}

}  // namespace cuaug
