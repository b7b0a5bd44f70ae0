#pragma once

#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdio>

#include <jpeglib.h>
#include <jerror.h>

#include "jpeg.hpp"

namespace jpeg {

// Records a failure. Returns false, so that a caller can write `return fail(...)`.
__attribute__((format(printf, 3, 4))) inline bool fail(Failure& failure, Failure::Kind kind, const char* format, ...) {
    failure.kind = kind;
    std::va_list values;
    va_start(values, format);
    std::vsnprintf(failure.reason, sizeof(failure.reason), format, values);
    va_end(values);
    return false;
}

inline Failure::Kind failure_kind(int libjpeg_code) {
    switch (libjpeg_code) {
        case JERR_IMAGE_TOO_BIG:
        case JERR_WIDTH_OVERFLOW:
        case JERR_OUT_OF_MEMORY:
            return Failure::TooLarge;
#if JPEG_LIB_VERSION < 70
        case JERR_ARITH_NOTIMPL:
#endif
        case JERR_BAD_PRECISION:
        case JERR_CCIR601_NOTIMPL:
        case JERR_COMPONENT_COUNT:
        case JERR_CONVERSION_NOTIMPL:
        case JERR_FRACT_SAMPLE_NOTIMPL:
        case JERR_NOT_COMPILED:
        case JERR_NOTIMPL:
        case JERR_SOF_UNSUPPORTED:
            return Failure::Unsupported;
        default:
            return Failure::Decode;
    }
}

// Turns errors of libjpeg into a `Failure`. libjpeg reports an error through the function `error_exit`, which must not
// return. Here `error_exit` jumps back into `run`, past the stack frames of libjpeg and of the callable given to `run`.
// That callable must not own anything that has a destructor: such objects belong to the caller of `run`.
class ErrorTrap {
public:
    // If `strict`, a warning is an error.
    ErrorTrap(Failure& failure, bool strict) : failure_(failure), strict_(strict) {
        jpeg_std_error(&errors_);
        errors_.error_exit = [](j_common_ptr info) { of(info).stop(info); };
        errors_.emit_message = [](j_common_ptr info, int level) {
            if (level < 0 && of(info).strict_) of(info).stop(info);  // levels from 0 up are traces
        };
        errors_.output_message = [](j_common_ptr) {};
    }

    // Call before libjpeg creates the object.
    template <class Info>
    void attach(Info& info) {
        info.err = &errors_;
        info.client_data = this;
    }

    // Runs `work`. Returns false if `stop` ended it.
    template <class Work>
    __attribute__((noinline)) bool run(const Work& work) {
        if (setjmp(jump_) != 0) return false;
        work();
        return true;
    }

    // Ends the `work` of `run` with a failure. Only for functions that `work` calls.
    template <class... Values>
    [[noreturn]] void stop(Failure::Kind kind, const char* format, Values... values) {
        fail(failure_, kind, format, values...);
        std::longjmp(jump_, 1);
    }

    static ErrorTrap& of(j_common_ptr info) { return *static_cast<ErrorTrap*>(info->client_data); }

private:
    [[noreturn]] void stop(j_common_ptr info) {
        char text[JMSG_LENGTH_MAX];
        errors_.format_message(info, text);
        stop(failure_kind(errors_.msg_code), "%s", text);
    }

    jpeg_error_mgr errors_;
    Failure& failure_;
    const bool strict_;
    std::jmp_buf jump_;
};

}  // namespace jpeg
