#include "draws/program.cuh"

namespace cuaug {

// Few samples to a block, so that a batch spreads over the GPU, and many warps to a sample: what counts is how long the slowest takes.
constexpr int draw_samples = 32, draw_shares = 8;

// A lane draws for a sample, each warp some of its parameters. The last block of a captured graph's replay counts the replay.
// Grid: (samples / 32).
__global__ void __launch_bounds__(draw_samples * draw_shares) draw(const __grid_constant__ Draw args) {
    const long long n = static_cast<long long>(blockIdx.x) * draw_samples + (threadIdx.x & 31);
    const long long step = args.step + (args.replays != nullptr ? args.replays[0] : 0);
    // All of the program is on its way before the first of it is waited for.
    for (int i = threadIdx.x * 16; i < args.length; i += draw_samples * draw_shares * 16) asm volatile("prefetch.global.L1 [%0];" ::"l"(args.program + i));
    draw_sample(args, step, n, threadIdx.x >> 5, draw_shares, [] { __syncthreads(); });
    if (args.replays == nullptr) return;
    __syncthreads();
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
