#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <system_error>
#include <thread>
#include <utility>

#include <pybind11/pybind11.h>

namespace native {

// Work without the GIL, done once: in a thread of its own if `start` is called and can start one, otherwise in `wait`.
// Both are called from one thread, `wait` once.
class BackgroundTask {
public:
    BackgroundTask(std::function<void()> work, std::function<pybind11::object()> result)
        : work_(std::move(work)), result_(std::move(result)) {}
    BackgroundTask(const BackgroundTask&) = delete;
    BackgroundTask& operator=(const BackgroundTask&) = delete;
    ~BackgroundTask() { join(); }

    void start() {
        if (thread_.joinable() || end_time_ != 0) return;
        try {
            thread_ = std::thread([this] { run(); });
        } catch (const std::system_error&) {  // `wait` does the work
        }
    }

    // The time at which the work ended, in seconds of the monotonic clock, and the result.
    pybind11::tuple wait() {
        join();
        if (end_time_ == 0) {
            const pybind11::gil_scoped_release release;
            run();
        }
        if (error_) std::rethrow_exception(error_);
        return pybind11::make_tuple(end_time_, result_());
    }

private:
    void run() {
        try {
            work_();
        } catch (...) {
            error_ = std::current_exception();
        }
        end_time_ = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    }

    void join() {
        if (!thread_.joinable()) return;
        const pybind11::gil_scoped_release release;
        thread_.join();
    }

    // Both functions may own Python objects. As members they are destroyed while the GIL is held.
    const std::function<void()> work_;
    const std::function<pybind11::object()> result_;
    std::exception_ptr error_{};
    double end_time_ = 0;  // 0: the work has not ended
    std::thread thread_{};
};

}  // namespace native
