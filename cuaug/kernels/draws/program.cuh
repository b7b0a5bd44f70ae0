#pragma once

#include "records/draw.cuh"
#include "draws/boxes.cuh"
#include "draws/inverse_map.cuh"

// A recipe's draws as a program that every sample runs for itself: first what is random, into the sample's row of the
// table, then, from the last geometric op to the first, how the coordinates of the result are carried back to the
// source. It begins with its contents. An instruction is a few numbers: the header below, then its arguments. The kinds
// are named in cuaug/fusion/program.py, in this order.

namespace cuaug {

enum class Kind {
    // Draws: numbers into columns. Where the sample's gate is shut, `otherwise`.
    Constant,     // value, otherwise
    Uniform,      // low, high, rounded, otherwise
    Below,        // count, first, otherwise
    Chance,       // probability, yes, otherwise
    Permutation,  // count
    Order,        // count; as Permutation, but -1 throughout where the gate is shut
    Crop,         // height and width of the canvas and of the crop; draws top, left
    ResizedCrop,  // height, width, BoxRange; draws a box
    Erased,       // height, width, BoxRange; draws a box, empty where the gate is shut
    // Rare ones.
    Choice,  // count, cumulated weights[count]; -1 where the gate is shut
    Entry,   // column of an index, or -1 for any; whether half of the samples get the negative; otherwise; plus; count,
             // entries[count]
    Beta,    // a, b, otherwise
    Cut,     // height, width, column of the share kept, which becomes exact; draws a box
    Corners,  // height, width, distortion; draws 8 displacements
    Words,    // draws the stream's 8 numbers for ops that draw at each pixel: 3 of the seed, 2 of step and id, the
              // position
    // Coordinates, carried back through one op. Arguments from the table are named by their column.
    Box,       // column of top, left, height, width; height and width of the result, and 1 over each
    Shift,     // column of top, left
    Mirror,    // column; extent; 1 for rows
    KeepPass,  // count of numbers, 6 or 9: the matrix so far, into columns; starts anew
    Toggle,    // column of a flag that turns the flag of this column round
    // Rare ones.
    Affine,       // column of angle, shifts, scale, shears; centre
    Perspective,  // column of 8 displacements; height, width
    KeepAll,      // the recipe's matrix, from source to result: count; of each pass, the last one first, its column and
                  // count of numbers
};

struct Instruction {
    int kind, position;
    int index, gate;  // a column that must hold the value, or -1
    int column, own;  // the first to write; where the sample's own arguments begin that stand for those below, or -1
    double gate_value;

    const double* arguments() const { return &gate_value + 1; }
};

inline void put(double* to, const DrawnBox& box) {
    to[0] = box.top;
    to[1] = box.left;
    to[2] = box.height;
    to[3] = box.width;
}

// By itself, so that what is common lies close together: what runs once waits for its instructions, most of all where
// it jumps far.
__attribute__((noinline)) inline void draw_rarely(const Instruction& it, const double* a, double* row, bool open,
                                                  unsigned long long seed, unsigned long long step,
                                                  unsigned long long id) {
    auto from = [&](int i) { return row + static_cast<int>(a[i]); };
    double* out = row + it.column;
    if (static_cast<Kind>(it.kind) == Kind::Words) {
        auto piece = [](unsigned long long number, int i) { return static_cast<double>(number >> 24 * i & 0xFFFFFFu); };
        for (int i = 0; i < 3; ++i) out[i] = piece(seed, i);
        for (int i = 0; i < 2; ++i) out[3 + i] = piece(step & 0xFFFFFFFFu, i), out[5 + i] = piece(id, i);
        out[7] = it.position;
        return;
    }
    Random random({seed, step, id, static_cast<unsigned int>(it.position)}, static_cast<unsigned int>(it.index));
    switch (static_cast<Kind>(it.kind)) {
        case Kind::Choice: {
            const double at = random.uniform();
            int i = 0;
            while (i < static_cast<int>(a[0]) - 1 && at >= a[1 + i]) ++i;
            *out = open ? i : -1.0;
            return;
        }
        case Kind::Entry: {
            const int at = a[0] < 0.0 ? random.below(static_cast<int>(a[4])) : static_cast<int>(*from(0));
            const double sign = a[1] != 0.0 && random.uniform() < 0.5 ? -1.0 : 1.0;
            *out = open && at >= 0 ? a[3] + sign * a[5 + at] : a[2];
            return;
        }
        case Kind::Beta:
            *out = open ? random.beta(a[0], a[1]) : a[2];
            return;
        case Kind::Cut: {
            DrawnBox box = {0.0, 0.0, 0.0, 0.0};
            if (open) box = cut_box(random, static_cast<int>(a[0]), static_cast<int>(a[1]), *from(2));
            put(out, box);
            *from(2) = 1.0 - box.height * box.width / (a[0] * a[1]);
            return;
        }
        default: {  // Corners
            const int down = static_cast<int>(a[2] * (static_cast<int>(a[0]) / 2)) + 1,
                      across = static_cast<int>(a[2] * (static_cast<int>(a[1]) / 2)) + 1;
#pragma unroll 1
            for (int i = 0; i < 8; ++i) out[i] = open ? random.below(i % 2 == 0 ? across : down) : 0.0;
            return;
        }
    }
}

inline void draw_one(const Instruction& it, const double* a, double* row, const Stream& of) {
    const Kind kind = static_cast<Kind>(it.kind);
    double* out = row + it.column;
    const bool open = it.gate < 0 || row[it.gate] == it.gate_value;
    if (kind > Kind::Erased) return draw_rarely(it, a, row, open, of.seed, of.step, of.id);
    if (kind == Kind::Constant) {
        *out = open ? a[0] : a[1];
        return;
    }
    Random random({of.seed, of.step, of.id, static_cast<unsigned int>(it.position)},
                  static_cast<unsigned int>(it.index));
    random.renew();  // once, for all that follow
    if (kind == Kind::Uniform) {
        const double value = random.uniform(a[0], a[1]);
        *out = !open ? a[3] : a[2] != 0.0 ? rounded(value) : value;
    } else if (kind <= Kind::Chance) {
        const double at = random.uniform();
        if (kind == Kind::Below)
            *out = open ? static_cast<int>(at * a[0]) + a[1] : a[2];
        else
            *out = open && at < a[0] ? a[1] : a[2];
    } else if (kind <= Kind::Order) {
        const int count = static_cast<int>(a[0]);
        const bool none = !open && kind == Kind::Order;
#pragma unroll 1
        for (int i = 0; i < count; ++i) out[i] = none ? -1.0 : i;
#pragma unroll 1
        for (int i = count - 1; open && i > 0; --i) {  // Fisher and Yates
            const int j = random.below(i + 1);
            const double held = out[i];
            out[i] = out[j];
            out[j] = held;
        }
    } else if (kind == Kind::Crop) {
        const int down = static_cast<int>(a[0] - a[2]) + 1, across = static_cast<int>(a[1] - a[3]) + 1;
        out[0] = open ? random.below(down) : 0.0;
        out[1] = open ? random.below(across) : 0.0;
    } else {
        const bool erased = kind == Kind::Erased;
        DrawnBox box = {0.0, 0.0, erased ? 0.0 : a[0], erased ? 0.0 : a[1]};
        if (open)
            box = attempted_box(random, static_cast<int>(a[0]), static_cast<int>(a[1]),
                                *reinterpret_cast<const BoxRange*>(a + 2), erased);
        put(out, box);
    }
}

// As with draws, what is rare.
__attribute__((noinline)) inline void carry_rarely(const Instruction& it, const double* a, double* row, Carry& pass) {
    const double* drawn = row + static_cast<int>(a[0]);
    if (static_cast<Kind>(it.kind) != Kind::KeepAll) {
        const bool affine = static_cast<Kind>(it.kind) == Kind::Affine;
        pass = (affine ? carry_affine(drawn[0], drawn[1], drawn[2], drawn[3], drawn[4], drawn[5], a[1], a[2])
                       : carry_corners(drawn, static_cast<int>(a[1]), static_cast<int>(a[2]))) *
               pass;
    } else {
        Carry all = Carry::identity();
#pragma unroll 1
        for (int i = 0; i < static_cast<int>(a[0]); ++i) {
            const double* kept = row + static_cast<int>(a[1 + 2 * i]);
            Carry back = Carry::affine(kept[0], kept[1], kept[2], kept[3], kept[4], kept[5]);
            for (int j = 6; a[2 + 2 * i] > 6.0 && j < 9; ++j) back.m[j] = kept[j];
            all = back * all;
        }
        all = inverse(all);
        for (int i = 0; i < 9; ++i) row[it.column + i] = all.m[i];
    }
}

inline void carry_one(const Instruction& it, const double* a, double* row, Carry& pass) {
    auto from = [&](int i) { return row + static_cast<int>(a[i]); };
    double* out = row + it.column;
    const Kind kind = static_cast<Kind>(it.kind);
    if (kind <= Kind::Mirror) {
        const double* drawn = from(0);
        Axes axes = {1.0, 0.0, 1.0, 0.0};
        if (kind == Kind::Box)
            axes = axes_of_box(drawn[0], drawn[1], quotient(drawn[2], a[1], a[3]), quotient(drawn[3], a[2], a[4]));
        else if (kind == Kind::Shift)
            axes.tx = drawn[1], axes.ty = drawn[0];
        else if (drawn[0] == 0.0)
            return;
        else if (a[2] != 0.0)
            axes.sy = -1.0, axes.ty = a[1] - 1.0;
        else
            axes.sx = -1.0, axes.tx = a[1] - 1.0;
        pass = pass.then(axes);
    } else if (kind == Kind::KeepPass) {
        const bool projective = a[0] > 6.0;
        for (int i = 0; i < 6; ++i) out[i] = pass.m[i];
        for (int i = 6; projective && i < 9; ++i) out[i] = pass.m[i];
        pass = Carry::identity();
    } else if (kind == Kind::Toggle) {
        if (*from(0) != 0.0) *out = *out == 0.0 ? 1.0 : 0.0;
    } else {
        Carry in_memory = pass;  // this alone
        carry_rarely(it, a, row, in_memory);
        pass = in_memory;
    }
}

// Phases: of draws that do not depend on each other, and after those that their gates and arguments name; the last is
// of coordinates.
struct Contents {
    int phases;
    int first[1];  // instruction of a phase, and behind the last how many there are; then where in the program each
                   // begins

    int begin(int instruction) const { return first[phases + 1 + instruction]; }
};

inline long long id_of(const Draw& args, long long n) { return args.ids != nullptr ? args.ids[n] : args.first_id + n; }

inline Stream stream_of(const Draw& args, long long step, long long id) {
    return {static_cast<unsigned long long>(args.seed), static_cast<unsigned long long>(step),
            static_cast<unsigned long long>(id), 0};
}

// Sample n of a batch, into its row. Of the instructions of a phase this does every `shares`-th; the coordinates, each
// of which follows from the one before, are carried by share 0.
template <class Wait>
inline void draw_sample(const Draw& args, const double* program, double* row, const Stream& stream, long long n,
                        bool exists, int share, int shares, const Wait& wait) {
    const Contents& contents = *reinterpret_cast<const Contents*>(program);
    const double* own = args.own + n * args.own_stride;
    const int draws = contents.phases - 1, *first = contents.first, *begins = first + contents.phases + 1;
    auto instruction = [&](int i) -> const Instruction& {
        return *reinterpret_cast<const Instruction*>(program + begins[i]);
    };
    auto arguments = [&](const Instruction& it) { return it.own < 0 ? it.arguments() : own + it.own; };
    for (int phase = 0; phase < draws; ++phase) {
        const int end = exists ? first[phase + 1] : 0;
        for (int i = first[phase] + share; i < end; i += shares) {
            const Instruction& it = instruction(i);
            draw_one(it, arguments(it), row, stream);
        }
        wait();
    }
    if (share > 0 || !exists) return;
    Carry pass = Carry::identity();
    const int end = first[draws + 1];
    for (int i = first[draws]; i < end; ++i) {
        const Instruction& it = instruction(i);
        if (it.column < args.drawn) carry_one(it, arguments(it), row, pass);
    }
}

}  // namespace cuaug
