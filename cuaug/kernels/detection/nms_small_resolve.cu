#include "gpu/reduce.cuh"
#include "gpu/programmatic_launch.cuh"
#include "detection/nms_small.cuh"

namespace cuaug {

constexpr int nms_few_settle_warps = nms_few / 32;

// A block settles a sample, a thread a box, by who would remove whom (detection/nms_small_overlap_mask.cu). Each warp
// settles its own 32 among themselves by what the others keep, again until nothing changes: after k rounds all is right
// that takes no more than k steps from warp to warp to decide, and boxes are decided in a few. Then the indices are
// written, each where it belongs by score among those kept. Grid: (samples).
__global__ void __launch_bounds__(nms_few_settle_warps * 32) nms_small_resolve(const __grid_constant__ Nms args) {
    constexpr unsigned int everyone = 0xffffffffu;
    __shared__ unsigned int kept[2][nms_few_settle_warps], by_score[nms_few_settle_warps];
    const int index = threadIdx.x, lane = index & 31, warp = index >> 5, words = (args.count + 31) / 32,
              parts = nms_few_parts(args);
    const long long n = blockIdx.x;
    const unsigned int* hits = nms_few_hits_of(args, n, words) + index;
    const int* ahead = nms_ahead_of(args, n) + index;
    unsigned int hit[nms_few_settle_warps], among = 0;
    wait_for_previous();
    int place = index < args.count ? 0 : -1;
    if (index < args.count) {
        for (int part = 0; part < parts; ++part) place += ahead[part * args.count];
        among = hits[warp * args.count];
    }
    for (int w = 0; w < nms_few_settle_warps; ++w)
        hit[w] = w < words && w != warp && index < args.count ? hits[w * args.count] : 0;

    if (index < nms_few_settle_warps) kept[0][index] = kept[1][index] = by_score[index] = 0;
    __syncthreads();
    unsigned int own = __ballot_sync(everyone, place >= 0);
    if (lane == 0) kept[0][warp] = own;
    __syncthreads();
    for (int round = 0, more = 1; more != 0; ++round) {
        const unsigned int* others = kept[round & 1];
        unsigned int removing = 0, now = own;
        for (int w = 0; w < nms_few_settle_warps; ++w) removing |= hit[w] & others[w];
        const bool gone = place < 0 || removing != 0;
        now = __ballot_sync(everyone, !gone);
        for (unsigned int last = ~now; now != last;) {
            last = now;
            now = __ballot_sync(everyone, !gone && (among & last) == 0);
        }
        if (lane == 0) kept[~round & 1][warp] = now;
        more = __syncthreads_or(now != own);
        own = now;
    }

    const bool stays = (own >> lane & 1) != 0;
    if (stays) atomicOr(by_score + place / 32, 1u << (place & 31));
    __syncthreads();
    const Scanned stayed = scanned(__popc(by_score[lane]));
    const int total = min(stayed.all, args.most), before = __shfl_sync(everyone, stayed.before, place >> 5 & 31);
    const long long row = n * args.most;
    if (stays) {
        const int to = before + __popc(by_score[place / 32] & ((1u << (place & 31)) - 1));
        if (to < args.most) write_index(args, args.out, row + to, index);
    }
    for (int i = total + index; i < args.most; i += blockDim.x) write_index(args, args.out, row + i, -1);
    __threadfence();
    __syncthreads();  // the host looks at the number, and takes all else for written
    if (index == 0) write_index(args, args.found, n, total);
}

}  // namespace cuaug
