#pragma once

#include "records/record.cuh"

namespace cuaug {

// The parameters of a recipe, drawn for every sample by a program (program.cuh). Mirrored by cuaug/fusion/program.py.
struct Draw {
    const double* program;  // instructions, one after the other
    double* table;          // [N, columns]
    const long long* ids;   // [N]; null: first_id + n
    const double* own;      // arguments that each sample has of its own, e.g. of its image's size [N, K]
    long long* replays;     // null, or how often each block of a captured graph has drawn
    long long seed;
    long long step;
    long long first_id;
    long long samples;
    long long own_stride;  // numbers from sample to sample
    int length;            // of the program, in numbers
    int columns;
    int drawn;   // columns, the first ones, that are wanted: a matrix behind them is left out
    int staged;  // program and rows have room in a block's shared memory
};

}  // namespace cuaug
