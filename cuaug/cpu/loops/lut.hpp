#pragma once

#include "records/lut.cuh"
#include "batch_record.hpp"
#include "level_map.hpp"
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
void lut_task(const native::RecordCall& call, long long task, void*) {
    const auto args = read_record<LutRecord>(call.record);
    const TaskRows rows = segment_task_rows(args, task);
    if (is_identity_table(args, rows.n)) return copy_rows<uint8>(args, rows);
    for (int c = 0; c < args.channels; ++c) {
        LevelMap map;
        for (int level = 0; level < 256; ++level) map.table[level] = table_entry(args, rows.n, c, level);
        map.find_bits();
        const uint8* in = static_cast<const uint8*>(args.in.data) + rows.n * args.in.n_stride +
                          rows.t * args.in.t_stride + c * args.in.c_stride;
        uint8* out = static_cast<uint8*>(args.out.data) + rows.n * args.out.n_stride + rows.t * args.out.t_stride +
                     c * args.out.c_stride;
        for (int y = rows.top; y < rows.bottom; ++y)
            map_run(map, in + y * args.in.y_stride, args.in.x_stride, args.in_width, out + y * args.out.y_stride,
                    args.out.x_stride);
    }
}

long long lut_task_count(const native::RecordCall& call) {
    return segment_task_count(read_record<LutRecord>(call.record));
}

}  // namespace cuaug
