#pragma once

#include "dtype.cuh"

namespace cuaug {

// Several launches as one, each with a record of its own: the last axis of the grid says which, and how many.
struct Together {};

constexpr int most_together = 4;
template <class Use>
constexpr int launches = is_same_v<Use, Together> ? most_together : 1;

template <class Record, class Use>
struct Records {
    Record of[launches<Use>];

    const Record& own() const { return of[launches<Use> > 1 ? blockIdx.z : 0]; }
};

}  // namespace cuaug
