#pragma once

// The CPU's enumeration, names and dispatch of a set of types, such as ops or dtypes, follow from one list of the set
// (cpu/loops/dispatch.hpp, cpu/bindings/names.hpp), in the file named for the set. Kernels do not use the lists: their
// name expressions name the types.

namespace cuaug {

template <class... Types>
struct TypeList {
    template <class... Others>
    using Append = TypeList<Types..., Others...>;
};

// Templates over the compute type and the number of channels.
template <template <class, int> class... Functors>
struct FunctorList {
    template <class R, int K>
    using For = TypeList<Functors<R, K>...>;
};

}  // namespace cuaug
