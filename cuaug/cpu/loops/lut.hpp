#pragma once

#include "records/lut.cuh"
#include "batch_record.hpp"
#include "segment_tasks.hpp"

namespace cuaug {

inline uint8 table_entry(const LutRecord& args, long long n, int c, int level) {
    return args.table[n * args.table_n_stride + c * args.table_c_stride + level * args.table_x_stride];
}

// Whether sample n's table maps every level to itself: an augmentation policy leaves most samples unchanged.
inline bool is_identity_table(const LutRecord& args, long long n) {
    for (int c = 0; c < args.channels; ++c)
        for (int level = 0; level < 256; ++level)
            if (table_entry(args, n, c, level) != level) return false;
    return true;
}

// The CPU loop that corresponds to kernels/passes/lut.cu.
void lut_task(const native::RecordCall& call, long long task, void* memory) {
    const auto args = read_record<LutRecord>(call.record);
    const TaskRows rows = segment_task_rows(args, task);
    if (is_identity_table(args, rows.n)) return copy_rows<uint8>(args, rows);
    uint8* table = static_cast<uint8*>(memory);
    for (int c = 0; c < args.channels; ++c) {
        for (int level = 0; level < 256; ++level) table[level] = table_entry(args, rows.n, c, level);
        for_each_segment(args, task, [&](long long n, long long t, int y, int x, int count) {
            const uint8* in = static_cast<const uint8*>(args.in.data) + n * args.in.n_stride + t * args.in.t_stride +
                              c * args.in.c_stride + y * args.in.y_stride + x * args.in.x_stride;
            uint8* out = static_cast<uint8*>(args.out.data) + n * args.out.n_stride + t * args.out.t_stride +
                         c * args.out.c_stride + y * args.out.y_stride + x * args.out.x_stride;
            for (int i = 0; i < count; ++i) out[i * args.out.x_stride] = table[in[i * args.in.x_stride]];
        });
    }
}

long long lut_task_count(const native::RecordCall& call) {
    return segment_task_count(read_record<LutRecord>(call.record));
}

}  // namespace cuaug
