#include "detection/upright_iou.cuh"
#include "gpu/convert.cuh"

namespace cuaug {

constexpr int upright_tile = 32, upright_threads = 256;

// A block compares 32 boxes of each set: a lane has one of `b`, each warp takes every eighth one of `a`. R: float or
// double, the dtype of the result. Grid: (tiles of pairs x samples).
template <class R>
__global__ void __launch_bounds__(upright_threads) upright_pairs(const __grid_constant__ BoxPairsRecord args) {
    __shared__ UprightBox<R> a[upright_tile];
    const long long columns = (args.q + upright_tile - 1) / upright_tile,
                    rows = (args.p + upright_tile - 1) / upright_tile;
    const long long n = blockIdx.x / (columns * rows), tile = blockIdx.x % (columns * rows);
    const int lane = threadIdx.x & 31, warp_index = threadIdx.x >> 5;
    const long long p = tile / columns * upright_tile, q = tile % columns * upright_tile + lane;
    if (warp_index == 0 && p + lane < args.p) a[lane] = read_upright_box<R>(args.a, n, p + lane, args.kind);
    UprightBox<R> b;
    if (q < args.q) b = read_upright_box<R>(args.b, n, q, args.kind);
    __syncthreads();
    if (q >= args.q) return;
    R* out = static_cast<R*>(args.out) + (n * args.p + p) * args.q + q;
    for (int i = warp_index; i < upright_tile && p + i < args.p; i += upright_threads / 32)
        out[i * args.q] = overlap(a[i], b, args.kind, static_cast<R>(args.eps));
}

}  // namespace cuaug
