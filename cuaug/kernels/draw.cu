#include "draws/program.cuh"
#include "gpu/succession.cuh"

namespace cuaug {

// Few samples to a block, so that a batch spreads over the GPU, and many warps to a sample: what counts is how long the slowest takes.
constexpr int draw_samples = 8, draw_shares = 8;

// A lane draws for a sample, each warp some of its parameters: from a copy of the program, into a copy of the row, as what is near is
// read many times faster (14.3 us from global memory). Bound to one block, it has registers enough to spill nothing. Each block of a
// captured graph counts its replays for itself.
// Grid: (samples / 8).
__global__ void __launch_bounds__(32 * draw_shares, 1) draw(const __grid_constant__ Draw args) {
    extern __shared__ double near[];   // [length + draw_samples rows]
    constexpr int threads = 32 * draw_shares;
    const int lane = threadIdx.x & 31;
    const long long first = static_cast<long long>(blockIdx.x) * draw_samples, end = min(first + draw_samples, args.samples), n = first + lane;
    let_next_begin();
    wait_for_previous();
    const long long step = args.step + (args.replays != nullptr ? args.replays[blockIdx.x] : 0);
    const int pitch = args.drawn | 1;
    double *rows = near + args.length, *table = args.table + first * args.columns;
    if (args.staged) {
        for (int i = threadIdx.x; i < args.length; i += threads) near[i] = args.program[i];
        __syncthreads();
    }
    double* row = args.staged ? rows + lane * pitch : args.table + n * args.columns;
    draw_sample(args, args.staged ? near : args.program, row, step, n, n < end, threadIdx.x >> 5, draw_shares, [] { __syncthreads(); });
    __syncthreads();
    if (args.staged) {
        const int count = static_cast<int>(end - first);
        for (int i = threadIdx.x >> 5; i < count; i += draw_shares)
            for (int j = lane; j < args.drawn; j += 32) table[i * args.columns + j] = rows[i * pitch + j];
    }
    if (args.replays != nullptr && threadIdx.x == 0) args.replays[blockIdx.x] += 1;  // after all have read it
}

}  // namespace cuaug
