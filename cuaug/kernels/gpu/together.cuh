#pragma once

namespace cuaug {

// N launches as one, each with a record of its own: the last axis of the grid says which.
template <int N> struct Together {};

template <class Use> constexpr int launches = 1;
template <int N> constexpr int launches<Together<N>> = N;

template <class Record, class Use>
struct Records {
    Record of[launches<Use>];

    const Record& own() const { return of[launches<Use> > 1 ? blockIdx.z : 0]; }
};

}  // namespace cuaug
