#pragma once

// What the binding asks of the loops. The loops are compiled once per instruction set and picked when the program runs;
// nothing here is inline, so that no function compiled for one set can stand in for that of another.

namespace native {

// Indices into the lists of dtypes and functors (kernels/dtype.cuh, type_list.cuh).
enum class Dtype : int {};
enum class Geometry : int {};
enum class Sampler : int {};
enum class Border : int {};
enum class Filter : int {};
enum class Op : int {};
enum class Mix : int {};

// A record (kernels/records/record.cuh) and the types it was made for.
struct WarpCall {
    const void* record;
    Dtype source, target;
    Geometry geometry;
    Sampler sampler;
    Border border;
};

struct ResampleCall {
    const void* record;  // kernels/records/resample.cuh
    Dtype source, target;
    Filter filter;
};

// A user's op, over a piece of a row (user_op.hpp): numbers of `bytes` bytes, its fields, where the piece begins
// (kernels/ops/pixel_context.cuh).
using UserOpLoop = void (*)(int bytes, int channels, const void* field, const void* context, int count, void* channel);

constexpr int max_user_params = 32, max_ops = 128,
              max_params = max_ops * max_user_params;  // of an op, and of a chain

// One op of a chain.
struct ChainOp {
    Op op;
    UserOpLoop user;  // null: `op` it is
    int user_params;
};

struct PointwiseCall {
    const void* record;  // kernels/records/pointwise.cuh
    Dtype source, target;
    const ChainOp* op;  // [ops]
    int ops;
    int out_channels;
    bool in_place;  // of a mean: what the ops make takes the image's place
    bool last;      // of a run: no loop reads the result
};

struct MixCall {
    const void* record;  // kernels/records/pointwise.cuh
    Dtype dtype;
    Mix mix;
};

struct GaussianBlurCall {
    const void* record;  // kernels/records/gaussian_blur.cuh
    Dtype source;
};

// Of loops that take nothing besides.
struct ImageCall {
    const void*
        record;  // kernels/records/record.cuh, blend_record.cuh, pointwise_record.cuh, lut_record.cuh, records/nms.cuh
    Dtype source;
};

enum class Pooling { average, greatest, pixels };  // of samples: roi_align; of whole pixels: roi_pool

struct PoolingCall {
    const void* record;  // kernels/records/roi.cuh
    Dtype dtype;
    Pooling kind;
    int blocks;  // a task is one of so many parts of the channels: of a region or, on the way back, of a sample of a
                 // level
    const int* order;        // [K]: the regions, gathered by level and sample
    const long long* first;  // [levels * N + 1]: where those of each begin; null: the way forward
};

// Scratch memory of one thread, aligned to a cache line.
constexpr unsigned long workspace_bytes = 1 << 20;

// A call is cut into tasks, independent of each other and of about equal size.
struct LoopTable {
    const char* instruction_set;
    const char* flags;  // of the compiler
    long long (*warp_tasks)(const WarpCall& call);
    void (*warp)(const WarpCall& call, long long task, void* workspace);
    long long (*resample_tasks)(const ResampleCall& call);
    void (*resample)(const ResampleCall& call, long long task, void* workspace);
    long long (*pointwise_tasks)(const PointwiseCall& call);
    void (*pointwise)(const PointwiseCall& call, long long task, void* workspace);
    long long (*luma_mean_tasks)(const PointwiseCall& call);
    void (*luma_mean)(const PointwiseCall& call, long long task, void* workspace);
    long long (*mix_tasks)(const MixCall& call);
    void (*mix)(const MixCall& call, long long task, void* workspace);
    long long (*gaussian_blur_tasks)(const GaussianBlurCall& call);
    void (*gaussian_blur)(const GaussianBlurCall& call, long long task, void* workspace);
    long long (*adjust_sharpness_tasks)(const ImageCall& call);
    void (*adjust_sharpness)(const ImageCall& call, long long task, void* workspace);
    long long (*blend_tasks)(const ImageCall& call);
    void (*blend)(const ImageCall& call, long long task, void* workspace);
    long long (*relevel_tasks)(const ImageCall& call);
    void (*relevel)(const ImageCall& call, long long task, void* workspace);
    long long (*extremes_tasks)(const ImageCall& call);
    void (*extremes)(const ImageCall& call, long long task, void* workspace);
    long long (*lut_tasks)(const ImageCall& call);
    void (*lut)(const ImageCall& call, long long task, void* workspace);
    void (*nms)(const ImageCall& call, long long task, void* workspace);
    void (*pooling)(const PoolingCall& call, long long task);
    void (*soft_nms)(const void* record, long long n);       // kernels/records/soft_nms.cuh
    void (*rotated_iou)(const void* record, long long row);  // kernels/records/rotated_iou.cuh
};

extern const LoopTable loops_baseline, loops_v3, loops_v4;

}  // namespace native
