#pragma once

#include "dtype.cuh"
#include "type_list.cuh"

// Borders, under NumPy's names: each resolves any pixel index to one inside [0, n), or to -1 for the fill. Indices do
// not overflow an int: n is below 2^30, coordinates are within 2^30 of the first pixel (`in_range`), and the offset of
// a window is smaller than 2^30 by at least a sampler's taps. `Constant` also gets points that are farther away: the
// index that `Image::column_of` computes for them may wrap, but stays outside [0, n), so that the result is -1.

namespace cuaug {

struct Constant {
    static constexpr bool has_window = false;

    // One comparison: n is positive, which the compiler does not know.
    static int resolve(int i, int n) { return static_cast<unsigned int>(i) < static_cast<unsigned int>(n) ? i : -1; }
};

struct Edge {
    static constexpr bool has_window = false;

    static int resolve(int i, int n) { return i < 0 ? 0 : i < n ? i : n - 1; }
};

// This one and those below divide only if an index is more than one period away.
struct Wrap {
    static constexpr bool has_window = false;

    static int resolve(int i, int n) {
        const int shifted = i < 0 ? i + n : i < n ? i : i - n;
        if (shifted >= 0 && shifted < n) return shifted;
        const int remainder = i % n;
        return remainder < 0 ? remainder + n : remainder;
    }
};

// d c b | a b c d | c b a: the edge pixel is not repeated.
struct Reflect {
    static constexpr bool has_window = false;

    static int resolve(int i, int n) {
        const int non_negative = i < 0 ? -i : i, mirrored = non_negative < n ? non_negative : 2 * n - 2 - non_negative;
        if (mirrored >= 0) return mirrored;
        if (n == 1) return 0;
        const int folded = Wrap::resolve(i, 2 * n - 2);
        return folded < n ? folded : 2 * n - 2 - folded;
    }
};

// b a | a b c d | d c: the edge pixel is repeated.
struct Symmetric {
    static constexpr bool has_window = false;

    static int resolve(int i, int n) {
        const int non_negative = i < 0 ? -1 - i : i,
                  mirrored = non_negative < n ? non_negative : 2 * n - 1 - non_negative;
        if (mirrored >= 0) return mirrored;
        const int folded = Wrap::resolve(i, 2 * n);
        return folded < n ? folded : 2 * n - 1 - folded;
    }
};

using Borders = TypeList<Constant, Edge, Reflect, Symmetric, Wrap>;

// A border around a part of the image (WarpRecord::window) instead of around all of it.
template <class Border>
struct WindowedBorder : Border {
    static constexpr bool has_window = true;
};

template <class Border>
struct WithoutWindow {
    using type = Border;
};
template <class Border>
struct WithoutWindow<WindowedBorder<Border>> {
    using type = Border;
};
template <class Border>
using without_window_t = typename WithoutWindow<Border>::type;

// Whether the pixels outside the image are the fill, not pixels of the image.
template <class Border>
constexpr bool is_fill_border = is_same_v<without_window_t<Border>, Constant>;

}  // namespace cuaug
