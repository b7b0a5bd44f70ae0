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
// draw of a phase, and `barrier` separates the phases. Rank 0 executes the coordinate instructions, each of which
// depends on the one before. `exists`: false for threads beyond the batch, which only take part in barriers.
template <class Barrier>
inline void run_program(const DrawRecord& args, const double* program, double* row, const PhiloxStream& stream,
                        long long n, bool exists, int rank, int ranks, const Barrier& barrier) {
    const ProgramHeader& header = *reinterpret_cast<const ProgramHeader*>(program);
    const double* sample_arguments = args.sample_arguments + n * args.sample_arguments_stride;
    const int draw_phases = header.phases - 1, *first = header.first, *offsets = first + header.phases + 1;
    auto instruction_at = [&](int i) -> const Instruction& {
        return *reinterpret_cast<const Instruction*>(program + offsets[i]);
    };
    auto arguments = [&](const Instruction& instruction) {
        return instruction.sample_arguments < 0 ? instruction.arguments()
                                                : sample_arguments + instruction.sample_arguments;
    };
    for (int phase = 0; phase < draw_phases; ++phase) {
        const int end = exists ? first[phase + 1] : 0;
        for (int i = first[phase] + rank; i < end; i += ranks) {
            const Instruction& instruction = instruction_at(i);
            draw_values(instruction, arguments(instruction), row, stream);
        }
        barrier();
    }
    if (rank > 0 || !exists) return;
    InverseMap pass_map = InverseMap::identity();
    const int end = first[draw_phases + 1];
    for (int i = first[draw_phases]; i < end; ++i) {
        const Instruction& instruction = instruction_at(i);
        if (instruction.column < args.drawn_columns) compose_map(instruction, arguments(instruction), row, pass_map);
    }
}

}  // namespace cuaug
