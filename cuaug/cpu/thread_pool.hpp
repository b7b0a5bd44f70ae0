#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include <pthread.h>
#ifdef __linux__
#include <sched.h>
#endif

#include "loops/loops.hpp"

namespace native {

// The number of processors that this process may run on.
inline int usable_cpus() {
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
    return std::max(1u, std::thread::hardware_concurrency());
}

// One thread's workspace, allocated at first use.
class Workspace {
public:
    void* get() {
        if (!memory_) memory_.reset(static_cast<char*>(::operator new(workspace_bytes, cache_line)));
        return memory_.get();
    }

private:
    static constexpr std::align_val_t cache_line{64};
    struct Delete {
        void operator()(char* p) const { ::operator delete(p, cache_line); }
    };
    using Memory = std::unique_ptr<char, Delete>;
    Memory memory_;
};

// Worker threads that wait for jobs. The thread that submits a job works on it too; several threads may submit jobs at
// the same time.
class ThreadPool {
public:
    // A forked child has its parent's memory but none of its threads, so it starts a new pool. A pool with threads is
    // never destroyed: neither a child nor the end of the process can join them.
    static ThreadPool& instance() {
        static const int registered = pthread_atfork(nullptr, nullptr, [] { current.store(nullptr); });
        static_cast<void>(registered);
        ThreadPool* pool = current.load();
        if (pool != nullptr) return *pool;
        auto new_pool = std::make_unique<ThreadPool>();
        return current.compare_exchange_strong(pool, new_pool.get()) ? *new_pool.release() : *pool;
    }

    // Calls `work(task, workspace)` for tasks 0 .. tasks - 1 on up to `threads` threads, including this one; on fewer
    // if the system refuses to start a thread.
    template <class Work>
    void run(long long tasks, int threads, const Work& work) {
        threads = static_cast<int>(std::min<long long>(threads, tasks));
        Job job{
            tasks, std::max(1LL, tasks / (16LL * std::max(threads, 1))), &work,
            [](const void* w, long long task, void* workspace) { (*static_cast<const Work*>(w))(task, workspace); }};
        if (threads > 1) {
            std::lock_guard<std::mutex> lock(mutex_);
            start_workers(threads - 1);
            job.open_places = std::min(threads - 1, workers_);
            if (job.open_places > 0) jobs_.push_back(&job);
            for (int i = 0; i < job.open_places; ++i) wake_.notify_one();
        }
        work_on(job);
        if (threads > 1) {
            std::unique_lock<std::mutex> lock(mutex_);
            jobs_.erase(std::remove(jobs_.begin(), jobs_.end(), &job), jobs_.end());
            done_.wait(lock, [&] { return job.helpers == 0; });
        }
        if (job.error) std::rethrow_exception(job.error);
    }

private:
    struct Job {
        const long long tasks, chunk_tasks;  // a thread takes `chunk_tasks` tasks at a time
        const void* const work;
        void (*const call)(const void*, long long, void*);
        std::atomic<long long> next_task{0};
        int open_places = 0;  // workers that may still join
        int helpers = 0;      // workers that work on the job
        std::exception_ptr error{};
        std::mutex error_mutex{};
    };

    // Starts workers until there are `count`, or the system refuses to start a thread. Call with the mutex locked.
    void start_workers(int count) {
        try {
            for (; workers_ < count; ++workers_) std::thread([this] { serve(); }).detach();
        } catch (const std::system_error&) {  // fewer workers do the work
        }
    }

    static void work_on(Job& job) {
        static thread_local Workspace workspace;
        try {
            void* memory = workspace.get();
            for (long long first; (first = job.next_task.fetch_add(job.chunk_tasks)) < job.tasks;)
                for (long long task = first; task < std::min(first + job.chunk_tasks, job.tasks); ++task)
                    job.call(job.work, task, memory);
        } catch (...) {
            std::lock_guard<std::mutex> lock(job.error_mutex);
            job.error = std::current_exception();
            job.next_task.store(job.tasks);
        }
    }

    void serve() {
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            wake_.wait(lock, [&] { return !jobs_.empty(); });
            Job& job = *jobs_.front();
            if (--job.open_places == 0) jobs_.pop_front();
            ++job.helpers;
            lock.unlock();
            work_on(job);
            lock.lock();
            if (--job.helpers == 0) done_.notify_all();
        }
    }

    static inline std::atomic<ThreadPool*> current{nullptr};
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    std::deque<Job*> jobs_;
    int workers_ = 0;
};

}  // namespace native
