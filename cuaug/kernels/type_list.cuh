#pragma once

// Each set of types, such as ops or dtypes, has one list, from which the CPU side derives the enumeration, the names
// and the dispatch (cpu/loops/dispatch.hpp, cpu/bindings/names.hpp). Kernels do not use the lists: their name
// expressions name the types.

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
