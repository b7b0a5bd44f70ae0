#pragma once

#include "draws/compose_map.cuh"
#include "draws/draw_values.cuh"
#include "records/draw.cuh"

// Runs the program of a recipe's draws for one sample (instruction.cuh).

namespace cuaug {

inline long long sample_id(const DrawRecord& args, long long n) {
    return args.ids != nullptr ? args.ids[n] : args.first_id + n;
}

inline PhiloxStream stream_of(const DrawRecord& args, long long step, long long id) {
    return {static_cast<unsigned long long>(args.seed), static_cast<unsigned long long>(step),
            static_cast<unsigned long long>(id), 0};
}

// Runs the program for sample n and writes into `row`. `ranks` threads share a sample: each executes every `ranks`-th
// draw of a phase, then every `ranks`-th pass, then every `ranks`-th of the instructions after the passes. `barrier()`
// ends each phase, and the passes. `exists`: false for threads beyond the batch, which only take part in barriers.
template <class Barrier>
inline void run_program(const DrawRecord& args, const double* program, double* row, const PhiloxStream& stream,
                        long long n, bool exists, int rank, int ranks, const Barrier& barrier) {
    const ProgramHeader& header = *reinterpret_cast<const ProgramHeader*>(program);
    const double* sample_arguments = args.sample_arguments + n * args.sample_arguments_stride;
    // after_passes: the first instruction after the passes, and the number of all instructions.
    const int *phase_first = header.first, *pass_first = phase_first + header.draw_phases,
              *after_passes = pass_first + header.passes, *offsets = after_passes + 2;
    auto instruction_at = [&](int i) -> const Instruction& {
        return *reinterpret_cast<const Instruction*>(program + offsets[i]);
    };
    auto arguments = [&](const Instruction& instruction) {
        return instruction.sample_arguments < 0 ? instruction.arguments()
                                                : sample_arguments + instruction.sample_arguments;
    };
    auto is_needed = [&](const Instruction& instruction) { return instruction.column < args.drawn_columns; };
    for (int phase = 0; phase < header.draw_phases; ++phase) {
        const int end = exists ? phase_first[phase + 1] : 0;
        for (int i = phase_first[phase] + rank; i < end; i += ranks) {
            const Instruction& instruction = instruction_at(i);
            draw_values(instruction, arguments(instruction), row, stream);
        }
        barrier();
    }
    for (int pass = exists ? rank : header.passes; pass < header.passes; pass += ranks) {
        InverseMap map = InverseMap::identity();
        for (int i = pass_first[pass]; i < pass_first[pass + 1]; ++i) {
            const Instruction& instruction = instruction_at(i);
            if (is_needed(instruction)) compose_map(instruction, arguments(instruction), row, map);
        }
    }
    barrier();
    const int end = exists ? after_passes[1] : 0;
    for (int i = after_passes[0] + rank; i < end; i += ranks)
        if (is_needed(instruction_at(i))) store_forward_matrix(instruction_at(i), row);
}

}  // namespace cuaug
