#pragma once

namespace cuaug {

// Draws the parameters of a recipe for every sample, by a program (draws/program.cuh).
struct DrawRecord {
    const double* program;           // instructions, one after the other (draws/instruction.cuh)
    double* table;                   // [N, at least drawn_columns]
    const long long* ids;            // [N]; null: first_id + n
    const double* sample_arguments;  // [N, K]: arguments that differ between samples, such as image sizes
    long long* replays;  // null, or a counter per block of the kernel `draw`: how often a captured graph has been
                         // replayed; the block adds the number to `step`
    long long seed;
    long long step;
    long long first_id;
    long long samples;
    long long sample_arguments_stride;  // numbers from sample to sample
    int length;                         // of the program, in numbers
    int table_stride;                   // numbers from row to row of the table
    int drawn_columns;   // only the first drawn_columns columns are computed: instructions after the draws that write
                         // later columns are skipped
    int fits_in_shared;  // whether the program and the block's rows fit into shared memory
};

}  // namespace cuaug
