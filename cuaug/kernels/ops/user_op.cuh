#pragma once

#include "ops/pixel_context.cuh"
#include "ops/expression_value.cuh"

// A user's own op (transforms.PixelOp): cuaug/_program/user_ops.py writes a struct whose `evaluate` is the expression,
// with the names that it takes from an `ExpressionContext`. Everything else is here.

namespace cuaug {

// What the expression may name besides the functions of ExpressionValue. Each member function returns what its name
// stands for: a number, a pixel or, for `rgb` and `luma`, a function. Names of colors also compile for K < 3, but
// PixelOp rejects them for images without 3 or 4 channels.
template <class R, int K>
struct ExpressionContext {
    using Number = ExpressionValue<R, 1>;

    const Pixel<R, K>& pixel;
    const PixelContext<R>& context;

    ExpressionValue<R, K> px() const { return pixel; }
    Number red() const { return pixel.c[0]; }
    Number green() const { return pixel.c[K < 3 ? 0 : 1]; }
    Number blue() const { return pixel.c[K < 3 ? 0 : 2]; }

    Number x() const { return context.x; }
    Number y() const { return context.y; }
    Number width() const { return context.width; }
    Number height() const { return context.height; }
    // The pixel's centre, in 0..1 of the image.
    Number u() const { return (R(context.x) + R(0.5)) * reciprocal(R(context.width)); }
    Number v() const { return (R(context.y) + R(0.5)) * reciprocal(R(context.height)); }
    // The squared distance from the centre: 1 at the centres of the corner pixels; 0 in an image of one pixel.
    Number r2() const {
        const R x_max = R(context.width - 1), y_max = R(context.height - 1), r2_max = x_max * x_max + y_max * y_max;
        const R x = R(2 * context.x) - x_max, y = R(2 * context.y) - y_max;
        return (x * x + y * y) * reciprocal(fmax(r2_max, R(1)));
    }
    Number pi() const { return R(3.14159265358979323846); }

    // A pixel from three numbers; a fourth channel is kept.
    auto rgb() const {
        return [this](const Number& r, const Number& g, const Number& b) {
            ExpressionValue<R, K> out = pixel;
            if constexpr (K >= 3) out.c[0] = r.c[0], out.c[1] = g.c[0], out.c[2] = b.c[0];
            return out;
        };
    }
    auto luma() const {
        return [](const ExpressionValue<R, K>& value) {
            if constexpr (K >= 3)
                return Number(cuaug::luma(value.pixel()));
            else
                return Number(value.c[0]);
        };
    }
};

// Parameters: whether the sample gets the op, whether results are clamped to 0..1, and the expression's N parameters.
template <class R, int K, int N, class Derived>
struct UserOp {
    static constexpr int sample_params = 2 + N, channel_params = 0;
    static constexpr bool uses_position = true;
    R params[sample_params];

    ExpressionValue<R, 1> parameter(int i) const { return params[2 + i]; }

    template <class Visitor>
    void active_steps(const Visitor& visit) const {
        if (params[0] != R(0)) visit(static_cast<const Derived&>(*this));
    }

    Pixel<R, K> operator()(const Pixel<R, K>& in, const PixelContext<R>& context) const {
        const Pixel<R, K> result =
            static_cast<const Derived&>(*this).evaluate(ExpressionContext<R, K>{in, context}).pixel();
        return params[1] != R(0) ? fma_saturate(R(1), result, R(0)) : result;
    }
};

}  // namespace cuaug
