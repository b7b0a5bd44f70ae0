#pragma once

// The interface between the loops and the bindings. The loops are compiled once per instruction set, and one set is
// chosen at run time. This header has no inline functions: the linker could take one that was compiled for another set.

namespace native {

// Indices into lists of kernels/: Dtypes, Geometries, Samplers, Borders, Filters, Ops and Mixes.
enum class Dtype : int {};
enum class Geometry : int {};
enum class Sampler : int {};
enum class Border : int {};
enum class Filter : int {};
enum class Op : int {};
enum class Mix : int {};

// The arguments of a loop: a record, which Python packs, and the types to run it with.
struct WarpCall {
    const void* record;  // kernels/records/warp_image.cuh
    Dtype in_dtype, out_dtype;
    Geometry geometry;
    Sampler sampler;
    Border border;
};

struct ResampleCall {
    const void* record;  // kernels/records/resample.cuh
    Dtype in_dtype, out_dtype;
    Filter filter;
};

// Applies a user's op to a segment (row_segment.hpp) of float32 or float64 values: `value_bytes` is the size of one.
// `context` is the PixelContext (kernels/ops/pixel_context.cuh) of the first pixel. rows: SegmentRows
using UserOpLoop = void (*)(int value_bytes, int channels, const void* params, const void* context, int count,
                            void* rows);

constexpr int max_op_params = 32;  // of one op, built-in or a user's
constexpr int max_ops = 128;       // of a chain
constexpr int max_params = max_ops * max_op_params;

struct ChainOp {
    Op op;
    UserOpLoop user;  // null: a built-in op, `op`
    int user_param_count;
};

struct PointwiseCall {
    const void* record;  // kernels/records/pointwise.cuh
    Dtype in_dtype, out_dtype;
    const ChainOp* ops;  // [op_count]
    int op_count;
    int out_channels;
    bool in_place;  // for luma_mean: the results of the ops replace the image
    bool is_last;   // no other loop of the function or recipe reads the result
};

struct MixCall {
    const void* record;  // kernels/records/pointwise.cuh
    Dtype dtype;
    Mix mix;
};

// For loops that need no other argument than the record and the dtype.
struct RecordCall {
    const void* record;  // of kernels/records/
    Dtype in_dtype;
};

enum class PoolingKind { roi_align_average, roi_align_max, roi_pool, ps_roi_pool };

struct PoolingCall {
    const void* record;  // kernels/records/roi.cuh
    Dtype dtype;
    PoolingKind kind;
    // The channels are divided into this many parts. A task pools one part of a region or, backward, computes the
    // gradients of one part of a sample of a level.
    int channel_parts;
    // [regions]: their indices, sorted by level and sample; null in a forward pass
    const int* region_order;
    // [levels * samples + 1]: where the regions of each sample of each level begin in `region_order`; null in a forward
    // pass
    const long long* region_begin;
};

// Scratch memory of one thread, aligned to a cache line.
constexpr unsigned long workspace_bytes = 1 << 20;

// A call is divided into tasks that are independent of each other and of about equal size. All samples have the same
// number of tasks, and the tasks of a sample follow those of the sample before.
template <class Call>
struct LoopFunctions {
    long long (*task_count)(const Call& call);
    void (*run_task)(const Call& call, long long task, void* memory);  // memory: [workspace_bytes]
};

constexpr long long upright_task_rows = 64;

struct LoopTable {
    const char* instruction_set;
    const char* flags;  // options that the compiler was given
    LoopFunctions<RecordCall> adjust_sharpness;
    LoopFunctions<RecordCall> blend;
    LoopFunctions<RecordCall> channel_min_max;
    LoopFunctions<RecordCall> gaussian_blur;
    LoopFunctions<RecordCall> histogram_lut;
    LoopFunctions<RecordCall> jpeg;
    LoopFunctions<PointwiseCall> luma_mean;
    LoopFunctions<RecordCall> lut;
    LoopFunctions<MixCall> mix;
    LoopFunctions<PointwiseCall> pointwise;
    LoopFunctions<ResampleCall> resample;
    LoopFunctions<WarpCall> warp_image;
    void (*nms)(const RecordCall& call, long long n);
    void (*pooling)(const PoolingCall& call, long long task);
    void (*soft_nms)(const void* record, long long n);        // kernels/records/soft_nms.cuh
    void (*rotated_iou)(const void* record, long long row);   // kernels/records/box_pairs.cuh
    void (*upright_iou)(const void* record, long long task);  // of `upright_task_rows` rows
};

extern const LoopTable loops_baseline, loops_v3, loops_v4;

}  // namespace native
