#include "draws/program.cuh"
#include "gpu/programmatic_launch.cuh"

namespace cuaug {

// Few samples to a block, so that a batch spreads over the GPU, and many warps to a sample: the slowest thread decides
// how long a block takes.
constexpr int draw_samples = 8, draw_warps = 8;

// Each thread executes some of a sample's instructions. The program and the rows are in shared memory if they fit: from
// global memory the kernel took 14.3 us instead of 11.5 (benchmarks/log/draws-gpu.md). 32 threads share a sample, four
// per warp. A warp runs the draws of its four ranks (draws/program.cuh) one after the other. Each group of eight ranks
// begins one warp later than the group before it, so that no warp has the first rank of two groups: warp 0 has the
// ranks 0, 15, 22 and 29. With one block per SM no register is spilled. In a captured graph each
// block counts the replays in a counter of its own. Grid: (samples / 8).
__global__ void __launch_bounds__(32 * draw_warps, 1) draw(const __grid_constant__ DrawRecord args) {
    extern __shared__ double shared[];  // [length + draw_samples rows]
    constexpr int threads = 32 * draw_warps;
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, sample = lane % draw_samples,
              rank_in_warp = lane / draw_samples;
    const long long first = static_cast<long long>(blockIdx.x) * draw_samples, n = first + sample;
    allow_next_launch();
    wait_for_previous();
    const int pitch = args.drawn_columns | 1;  // odd: rows begin in different banks
    double* rows = shared + args.length;
    const long long replays = args.replays != nullptr ? args.replays[blockIdx.x] : 0,
                    id = sample_id(args, n < args.samples ? n : first);
    if (args.fits_in_shared)  // the copy overlaps the loads of the replay count and the id
#pragma unroll 1
        for (int i = threadIdx.x; i < args.length; i += threads) shared[i] = args.program[i];
    __syncthreads();
    const PhiloxStream stream = stream_of(args, args.step + replays, id);
    double* row = args.fits_in_shared ? rows + sample * pitch : args.table + n * args.table_stride;
    const int rank = draw_warps * rank_in_warp + (warp + draw_warps - rank_in_warp) % draw_warps;
    run_program(args, args.fits_in_shared ? shared : args.program, row, stream, n, n < args.samples, rank,
                threads / draw_samples, [] { __syncthreads(); });
    __syncthreads();
    if (args.fits_in_shared && first + warp < args.samples)
#pragma unroll 1
        for (int j = lane; j < args.drawn_columns; j += 32)
            args.table[(first + warp) * args.table_stride + j] = rows[warp * pitch + j];
    if (args.replays != nullptr && threadIdx.x == 0) args.replays[blockIdx.x] = replays + 1;  // after all have read it
}

}  // namespace cuaug
