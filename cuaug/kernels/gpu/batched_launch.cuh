#pragma once

#include "dtype.cuh"

namespace cuaug {

// As the `Epilogue` of a kernel: several launches in one, each with its own record. blockIdx.z is the launch's index.
struct BatchedLaunch {};

constexpr int max_batched = 4;
template <class Epilogue>
constexpr int launch_count = is_same_v<Epilogue, BatchedLaunch> ? max_batched : 1;

template <class Record, class Epilogue>
struct BatchedRecords {
    Record records[launch_count<Epilogue>];

    const Record& current() const { return records[launch_count<Epilogue> > 1 ? blockIdx.z : 0]; }
};

}  // namespace cuaug
