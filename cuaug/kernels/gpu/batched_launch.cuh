#pragma once

#include "dtype.cuh"

namespace cuaug {

// As the last template argument, it makes a kernel do up to `max_batched` launches in one, each with its own record.
// blockIdx.z is the index of the launch.
struct BatchedLaunch {};

constexpr int max_batched = 4;
template <class Epilogue>
constexpr int max_launches = is_same_v<Epilogue, BatchedLaunch> ? max_batched : 1;

template <class Record, class Epilogue>
struct BatchedRecords {
    Record records[max_launches<Epilogue>];

    const Record& current() const { return records[max_launches<Epilogue> > 1 ? blockIdx.z : 0]; }
};

}  // namespace cuaug
