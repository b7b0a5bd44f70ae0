#pragma once

#include "type_list.cuh"

// Borders: any pixel index to one inside [0, n), or to -1 for the fill. NumPy's names.
// Indices come from coordinates below 2^30 in magnitude, so that nothing here overflows.

namespace cuaug {

struct Constant {
    static constexpr bool windowed = false;

    // One comparison: n is positive, which the compiler does not know.
    static int index(int i, int n) { return static_cast<unsigned int>(i) < static_cast<unsigned int>(n) ? i : -1; }
};

struct Edge {
    static constexpr bool windowed = false;

    static int index(int i, int n) { return i < 0 ? 0 : i < n ? i : n - 1; }
};

struct Wrap {
    static constexpr bool windowed = false;

    static int index(int i, int n) {
        const int rest = i % n;
        return rest < 0 ? rest + n : rest;
    }
};

// d c b | a b c d | c b a: the edge pixel is not repeated.
struct Reflect {
    static constexpr bool windowed = false;

    static int index(int i, int n) {
        if (i >= 0 && i < n) return i;
        if (n == 1) return 0;
        const int folded = Wrap::index(i, 2 * n - 2);
        return folded < n ? folded : 2 * n - 2 - folded;
    }
};

// b a | a b c d | d c: the edge pixel is repeated.
struct Symmetric {
    static constexpr bool windowed = false;

    static int index(int i, int n) {
        if (i >= 0 && i < n) return i;
        const int folded = Wrap::index(i, 2 * n);
        return folded < n ? folded : 2 * n - 1 - folded;
    }
};

// The same around a part of the image (Warp::window).
template <class Border>
struct Windowed : Border {
    static constexpr bool windowed = true;
};

template <class Border>
struct Within {
    using type = Border;
};
template <class Border>
struct Within<Windowed<Border>> {
    using type = Border;
};

using Borders = TypeList<Constant, Edge, Reflect, Symmetric, Wrap>;

}  // namespace cuaug
