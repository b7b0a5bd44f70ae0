#include "draws/program.cuh"

namespace cuaug {

constexpr int draw_threads = 32;  // few, so that a batch spreads over the GPU: what counts is how long the slowest sample takes

// A thread draws a sample's parameters. The last block of a captured graph's replay counts the replay. Grid: (samples / threads).
__global__ void __launch_bounds__(draw_threads) draw(const __grid_constant__ Draw args) {
    const long long n = static_cast<long long>(blockIdx.x) * draw_threads + threadIdx.x;
    const long long step = args.step + (args.replays != nullptr ? args.replays[0] : 0);
    if (n < args.samples) draw_sample(args, step, n);
    if (args.replays == nullptr) return;
    __syncwarp();
    if (threadIdx.x == 0) {
        unsigned long long* done = reinterpret_cast<unsigned long long*>(args.replays + 1);
        __threadfence();
        if (atomicAdd(done, 1ull) + 1 == gridDim.x) {
            *done = 0;
            args.replays[0] += 1;
        }
    }
}

}  // namespace cuaug
