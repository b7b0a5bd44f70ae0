#pragma once

#include "ops/user_op.cuh"
#include "convert.hpp"
#include "row_segment.hpp"

// The loop that applies a user's op to a segment. cuaug/_host/compiler.py compiles the loop together with the op into a
// library; the extension calls the library's function as a native::UserOpLoop.

namespace cuaug {

template <template <class, int> class Op, class R>
inline void apply_user_op(int channels, const void* params, const void* context, int count, void* rows) {
    dispatch_channels(channels, [&](auto K) {
        const auto op = op_of<Op<R, decltype(K)::value>>(static_cast<const R*>(params));
        apply_op<R, decltype(K)::value>(op, *static_cast<const PixelContext<R>*>(context), count,
                                        *static_cast<SegmentRows<R>*>(rows));
    });
}

template <template <class, int> class Op>
inline void user_loop(int value_bytes, int channels, const void* params, const void* context, int count, void* rows) {
    if (value_bytes == sizeof(double))
        apply_user_op<Op, double>(channels, params, context, count, rows);
    else
        apply_user_op<Op, float>(channels, params, context, count, rows);
}

}  // namespace cuaug
