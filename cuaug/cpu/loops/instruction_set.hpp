#pragma once

// What every source file of the loops begins with. Each is compiled once per instruction set, whose namespace is
// ISA_NAMESPACE. Whatever is inline, kernels/ included, lies in that namespace: otherwise the linker would merge
// functions of two instruction sets into one of them. For the same reason the standard library stays outside.

#include <cstddef>
#include <cstring>
#include <new>
#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

#include "loops.hpp"
