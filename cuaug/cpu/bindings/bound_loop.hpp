#pragma once

#include <functional>

#include <pybind11/pybind11.h>

#include "../loops/loops.hpp"
#include "bindings.hpp"

namespace native {

// A loop with its arguments except the record, which differs from call to call.
struct BoundLoop {
    long long samples;
    bool reads_other_samples;
    std::function<void(const pybind11::bytes& record)> check;  // throws if the record has a wrong size or values
    // The channels x the pixels that a call writes, or that a resample reads if those are more; 0 for draws. It depends
    // on the record, because the sizes of a ragged batch's images differ from call to call.
    std::function<double(const void* record)> value_count;
    std::function<long long(const LoopTable&, const void* record)> task_count;
    // `is_last`: no other loop of the call reads the result.
    std::function<void(const LoopTable&, const void* record, long long task, void* workspace, bool is_last)> run_task;
};

// A loop and the record of one call.
struct ReadyLoop {
    const BoundLoop* loop;
    const void* record;

    long long task_count(const LoopTable& table) const { return loop->task_count(table, record); }
    int threads() const { return loop->value_count(record) < min_parallel_values ? 1 : native::threads(); }
};

}  // namespace native
