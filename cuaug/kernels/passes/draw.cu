#include "draws/program.cuh"
#include "gpu/programmatic_launch.cuh"

namespace cuaug {

// Few samples to a block, so that a batch spreads over the GPU, and many warps to a sample: what counts is how long the
// slowest takes.
constexpr int draw_samples = 8, draw_warps = 8;

// A thread draws some of a sample's parameters: from a copy of the program, into a copy of the row, as what is near is
// read many times faster (14.3 us from global memory). Four threads of a warp have the same sample; the shares are
// dealt out so that a warp whose first is heavy has a late second one. Bound to one block, it has registers enough to
// spill nothing. Each block of a captured graph counts its replays for itself. Grid: (samples / 8).
__global__ void __launch_bounds__(32 * draw_warps, 1) draw(const __grid_constant__ Draw args) {
    extern __shared__ double near[];  // [length + draw_samples rows]
    constexpr int threads = 32 * draw_warps;
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, sample = lane % draw_samples,
              turn = lane / draw_samples;
    const long long first = static_cast<long long>(blockIdx.x) * draw_samples, n = first + sample;
    let_next_begin();
    wait_for_previous();
    const int pitch = args.drawn | 1;
    double* rows = near + args.length;
    const long long replays = args.replays != nullptr ? args.replays[blockIdx.x] : 0,
                    id = id_of(args, n < args.samples ? n : first);
    if (args.staged)  // while those are on the way
#pragma unroll 1
        for (int i = threadIdx.x; i < args.length; i += threads) near[i] = args.program[i];
    __syncthreads();
    const Stream stream = stream_of(args, args.step + replays, id);
    double* row = args.staged ? rows + sample * pitch : args.table + n * args.columns;
    const int share = draw_warps * turn + (warp + draw_warps - turn) % draw_warps;
    draw_sample(args, args.staged ? near : args.program, row, stream, n, n < args.samples, share,
                threads / draw_samples, [] { __syncthreads(); });
    __syncthreads();
    if (args.staged && first + warp < args.samples)
#pragma unroll 1
        for (int j = lane; j < args.drawn; j += 32)
            args.table[(first + warp) * args.columns + j] = rows[warp * pitch + j];
    if (args.replays != nullptr && threadIdx.x == 0) args.replays[blockIdx.x] = replays + 1;  // after all have read it
}

}  // namespace cuaug
