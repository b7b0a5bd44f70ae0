#pragma once

// Included first by the source files of the loops. Each source file is compiled once per instruction set and includes
// its headers inside the namespace ISA_NAMESPACE, which has another name for every set. All inline functions, those of
// kernels/ too, lie in that namespace: otherwise the linker would merge the functions of two sets into one. For the
// same reason the loops call no inline functions of the standard library.

#include <cstddef>
#include <cstring>
#include <new>
#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

#include "loops.hpp"
