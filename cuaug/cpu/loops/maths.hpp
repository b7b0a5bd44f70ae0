#pragma once

// The C functions that kernels/ calls. A compiler turns rintf, floor, ceil, minimum and maximum into one vector
// instruction each, also these comparisons. It cannot do so with fminf and fmaxf of the C library, whose rules for NaNs
// no instruction of x86 has. Here the minimum and the maximum are the second argument if either argument is a NaN.

namespace cuaug {

inline int min(int a, int b) { return a < b ? a : b; }
inline int max(int a, int b) { return a > b ? a : b; }
inline float fminf(float a, float b) { return a < b ? a : b; }
inline float fmaxf(float a, float b) { return a > b ? a : b; }
inline float fmin(float a, float b) { return a < b ? a : b; }
inline float fmax(float a, float b) { return a > b ? a : b; }
inline double fmin(double a, double b) { return a < b ? a : b; }
inline double fmax(double a, double b) { return a > b ? a : b; }
inline float rintf(float a) { return __builtin_rintf(a); }
inline float rint(float a) { return __builtin_rintf(a); }
inline double rint(double a) { return __builtin_rint(a); }
inline float floor(float a) { return __builtin_floorf(a); }
inline double floor(double a) { return __builtin_floor(a); }
inline float ceil(float a) { return __builtin_ceilf(a); }
inline double ceil(double a) { return __builtin_ceil(a); }
inline float round(float a) { return __builtin_roundf(a); }
inline double round(double a) { return __builtin_round(a); }
inline float fabs(float a) { return __builtin_fabsf(a); }
inline double fabs(double a) { return __builtin_fabs(a); }
inline float sin(float a) { return __builtin_sinf(a); }
inline double sin(double a) { return __builtin_sin(a); }
inline float cos(float a) { return __builtin_cosf(a); }
inline double cos(double a) { return __builtin_cos(a); }
inline float tanh(float a) { return __builtin_tanhf(a); }
inline double tanh(double a) { return __builtin_tanh(a); }
inline float atan2(float a, float b) { return __builtin_atan2f(a, b); }
inline double atan2(double a, double b) { return __builtin_atan2(a, b); }
inline float sqrt(float a) { return __builtin_sqrtf(a); }
inline double sqrt(double a) { return __builtin_sqrt(a); }
inline float pow(float a, float b) { return __builtin_powf(a, b); }
inline double pow(double a, double b) { return __builtin_pow(a, b); }
inline float exp(float a) { return __builtin_expf(a); }
inline double exp(double a) { return __builtin_exp(a); }
inline float log(float a) { return __builtin_logf(a); }
inline double log(double a) { return __builtin_log(a); }
inline float exp2(float a) { return __builtin_exp2f(a); }
inline double exp2(double a) { return __builtin_exp2(a); }

}  // namespace cuaug
