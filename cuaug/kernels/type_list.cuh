#pragma once

// Every set of functors and dtypes has one list, in the file named for the set. The CPU's enumeration, names and
// dispatch follow from the list (cpu/loops/dispatch.hpp, cpu/bindings/names.hpp); kernels need none.

namespace cuaug {

template <class... Types>
struct TypeList {
    template <class... Others>
    using Append = TypeList<Types..., Others...>;
};

// Templates over the arithmetic type and the number of channels.
template <template <class, int> class... Functors>
struct FunctorList {
    template <class R, int K>
    using For = TypeList<Functors<R, K>...>;
};

}  // namespace cuaug
