// Runs loops: one, or a recorded sequence of them. A recipe's loops run in one call from Python.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "../thread_pool.hpp"
#include "bound_loop.hpp"
#include "relocated_records.hpp"

namespace py = pybind11;
using namespace native;

namespace {

// Runs groups of adjacent loops, one group after the other. If there are many samples, all loops of a group run on one
// sample before the next sample, so that a loop finds in the cache what the previous loop has written; otherwise the
// loops of a group run one after the other. The loops of a group have the same number of samples. A loop that reads
// other samples is a group of its own. Called without the GIL.
void run_loops(const std::vector<ReadyLoop>& ready_loops) {
    const LoopTable& table = loops();
    const auto run_task = [&](const ReadyLoop& ready, long long task, void* workspace) {
        ready.loop->run_task(table, ready.record, task, workspace, &ready == &ready_loops.back());
    };
    for (auto first = ready_loops.begin(), end = first; first != ready_loops.end(); first = end) {
        const long long samples = first->loop->samples;
        end = std::find_if(first, ready_loops.end(), [&](const ReadyLoop& ready) {
            return ready.loop->reads_other_samples || ready.loop->samples != samples;
        });
        int threads = 1;
        std::for_each(first, end, [&](const ReadyLoop& ready) { threads = std::max(threads, ready.threads()); });
        if (end - first > 1 && samples >= 4 * threads) {
            ThreadPool::instance().run(samples, threads, [&](long long n, void* workspace) {
                std::for_each(first, end, [&](const ReadyLoop& ready) {
                    const long long sample_tasks = ready.task_count(table) / samples;
                    for (long long i = n * sample_tasks; i < (n + 1) * sample_tasks; ++i) run_task(ready, i, workspace);
                });
            });
            continue;
        }
        if (end == first) ++end;  // `first` reads other samples, so it runs alone
        std::for_each(first, end, [&](const ReadyLoop& ready) {
            ThreadPool::instance().run(ready.task_count(table), ready.threads(),
                                       [&](long long i, void* workspace) { run_task(ready, i, workspace); });
        });
    }
}

// Loops, recorded once. Each call runs them with its own values in their records.
class LoopSequence {
public:
    using RecordedLoop = std::tuple<BoundLoop, py::bytes, std::vector<RelocatedRecords::RelocationArguments>>;

    explicit LoopSequence(const std::vector<RecordedLoop>& recorded_loops) {
        for (const auto& [loop, record, relocations] : recorded_loops) {
            loop.check(record);
            record_begins_.push_back(records_.add(record, relocations));
            loops_.push_back(loop);
        }
    }

    void run(const std::vector<std::int64_t>& values) const {
        records_.check_values(values);
        const py::gil_scoped_release release;
        const std::vector<RelocatedRecords::Qword> records = records_.with_values(values);
        std::vector<ReadyLoop> ready_loops;
        for (std::size_t i = 0; i < loops_.size(); ++i)
            ready_loops.push_back({&loops_[i], records.data() + record_begins_[i]});
        run_loops(ready_loops);
    }

private:
    std::vector<BoundLoop> loops_{};
    std::vector<std::size_t> record_begins_{};  // index of the first Qword of each loop's record
    RelocatedRecords records_{};
};

void run(const BoundLoop& loop, const py::bytes& record) {
    loop.check(record);
    RelocatedRecords records;  // aligns the record
    records.add(record, {});
    const py::gil_scoped_release release;
    const std::vector<RelocatedRecords::Qword> aligned = records.with_values({});
    run_loops({{&loop, aligned.data()}});
}

}  // namespace

void native::bind_loop_sequence(py::module_& module) {
    using namespace py::literals;
    module.def("run", &run, "loop"_a, "record"_a);
    py::class_<LoopSequence>(module, "LoopSequence", "Loops, recorded once and run by each call of `run`.")
        .def(py::init<const std::vector<LoopSequence::RecordedLoop>&>(), "loops"_a)
        .def("run", &LoopSequence::run, "values"_a);
}
