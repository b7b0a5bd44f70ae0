#pragma once

#include "ops/pixel_context.cuh"
#include "ops/value.cuh"

// A user's own op (transforms.PixelOp): cuaug/_user_ops.py writes a struct whose `made` is the expression, between
// names that it takes from a `Scope`, and everything else stands here.

namespace cuaug {

// What the expression may name, each by the function of its name.
template <class R, int K>
struct Scope {
    using Number = Value<R, 1>;

    const Pixel<R, K>& pixel;
    const Where<R>& where;

    Value<R, K> px() const { return pixel; }
    Number red() const { return pixel.c[0]; }
    Number green() const { return pixel.c[K < 3 ? 0 : 1]; }
    Number blue() const { return pixel.c[K < 3 ? 0 : 2]; }

    Number x() const { return where.x; }
    Number y() const { return where.y; }
    Number width() const { return where.width; }
    Number height() const { return where.height; }
    // In 0..1: the pixel's centre as a share of the image.
    Number u() const { return (R(where.x) + R(0.5)) * reciprocal(R(where.width)); }
    Number v() const { return (R(where.y) + R(0.5)) * reciprocal(R(where.height)); }
    // The squared distance from the centre: 1 in the corners, 0 of an image of one pixel.
    Number r2() const {
        const R across = R(where.width - 1), down = R(where.height - 1), most = across * across + down * down;
        const R x = R(2 * where.x) - across, y = R(2 * where.y) - down;
        return (x * x + y * y) * reciprocal(fmax(most, R(1)));
    }
    Number pi() const { return R(3.14159265358979323846); }

    // Of three numbers a pixel, whose fourth channel, if there is one, stays.
    auto rgb() const {
        return [this](const Number& r, const Number& g, const Number& b) {
            Value<R, K> out = pixel;
            if constexpr (K >= 3) out.c[0] = r.c[0], out.c[1] = g.c[0], out.c[2] = b.c[0];
            return out;
        };
    }
    auto luma() const {
        return [](const Value<R, K>& value) {
            if constexpr (K >= 3)
                return Number(cuaug::luma(value.pixel()));
            else
                return Number(value.c[0]);
        };
    }
};

// Its fields are whether the sample gets it, whether results are held to 0..1, and N parameters.
template <class R, int K, int N, class Own>
struct UserOp {
    static constexpr int shared = 2 + N, each = 0;
    static constexpr bool placed = true;
    R field[shared];

    Value<R, 1> parameter(int i) const { return field[2 + i]; }

    template <class Use>
    void steps(const Use& use) const {
        if (field[0] != R(0)) use(static_cast<const Own&>(*this));
    }

    Pixel<R, K> operator()(const Pixel<R, K>& in, const Where<R>& where) const {
        const Pixel<R, K> made = static_cast<const Own&>(*this).made(Scope<R, K>{in, where}).pixel();
        return field[1] != R(0) ? fma_saturate(R(1), made, R(0)) : made;
    }
};

}  // namespace cuaug
