#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <thread>
#include <utility>

#include <pybind11/pybind11.h>

namespace native {

// Work that is done without Python, and what has come of it for whoever waits.
class Pending {
public:
    Pending(std::function<void()> work, std::function<pybind11::object()> result)
        : work_(std::move(work)), result_(std::move(result)) {}
    Pending(const Pending&) = delete;
    Pending& operator=(const Pending&) = delete;
    ~Pending() { join(); }

    // Has a thread of its own do it, which `wait` does otherwise.
    void begin() {
        if (!thread_.joinable() && done_ == 0) thread_ = std::thread([this] { run(); });
    }

    // When it was done, in seconds of the clock that never goes back; and the result.
    pybind11::tuple wait() {
        join();
        if (done_ == 0) {
            const pybind11::gil_scoped_release release;
            run();
        }
        if (error_) std::rethrow_exception(error_);
        return pybind11::make_tuple(done_, result_());
    }

private:
    void run() {
        try {
            work_();
        } catch (...) {
            error_ = std::current_exception();
        }
        done_ = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    }

    void join() {
        if (!thread_.joinable()) return;
        const pybind11::gil_scoped_release release;
        thread_.join();
    }

    const std::function<void()> work_;  // it holds Python objects, so that it goes where the lock is held
    const std::function<pybind11::object()> result_;
    std::exception_ptr error_{};
    double done_ = 0;
    std::thread thread_{};
};

}  // namespace native
