// Used instead of libFuzzer if there is none: mutates files of a corpus for some seconds. mutate SECONDS SEED FILE...

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t header_bytes = 700;  // half of all mutations are among a file's first bytes

Bytes mutate(std::mt19937& random, Bytes file, const Bytes& other) {
    const auto below = [&](std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random()) % n; };
    for (std::size_t times = 1 + below(4); times-- > 0 && file.size() > 16;) {
        const std::size_t offset = below(below(2) ? file.size() : std::min(file.size(), header_bytes));
        const std::size_t length = std::min(1 + below(64), file.size() - offset);
        const auto first = file.begin() + static_cast<std::ptrdiff_t>(offset);
        const auto last = first + static_cast<std::ptrdiff_t>(length);
        switch (below(7)) {
            case 0:
                *first ^= static_cast<std::uint8_t>(1 << below(8));
                break;
            case 1:
                *first = static_cast<std::uint8_t>(random());
                break;
            case 2:
                file.resize(offset);
                break;
            case 3:
                file.erase(first, last);
                break;
            case 4: {
                const Bytes copy(first, last);
                file.insert(first, copy.begin(), copy.end());
                break;
            }
            case 5: {
                const std::uint8_t marker[] = {0xff, static_cast<std::uint8_t>(0xc0 + below(64))};
                file.insert(first, marker, marker + 2);
                break;
            }
            case 6:
                file.insert(first, other.begin() + static_cast<std::ptrdiff_t>(below(other.size())), other.end());
                break;
        }
    }
    for (int i = 0; i < 8; ++i) file.push_back(static_cast<std::uint8_t>(random()));  // the fuzz target's choices
    return file;
}

const Bytes* current_input = nullptr;

void save_crash(int signal) {
    std::ofstream("crash.jpg", std::ios::binary)
        .write(reinterpret_cast<const char*>(current_input->data()),
               static_cast<std::streamsize>(current_input->size()));
    std::_Exit(128 + signal);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) return std::fprintf(stderr, "mutate SECONDS SEED FILE...\n"), 2;
    std::vector<Bytes> corpus;
    for (int i = 3; i < argc; ++i) {
        std::ifstream stream(argv[i], std::ios::binary);
        corpus.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
        if (corpus.back().empty()) return std::fprintf(stderr, "nothing in %s\n", argv[i]), 2;
    }
    for (const int signal : {SIGABRT, SIGALRM, SIGSEGV, SIGFPE}) std::signal(signal, save_crash);
    std::mt19937 random(static_cast<unsigned>(std::atoi(argv[2])));
    const auto stop = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[1]));
    long long inputs = 0;
    double slowest = 0;
    while (std::chrono::steady_clock::now() < stop) {
        const Bytes input = mutate(random, corpus[random() % corpus.size()], corpus[random() % corpus.size()]);
        current_input = &input;
        const auto start = std::clock();
        alarm(10);  // seconds; an input that takes longer ends the run
        LLVMFuzzerTestOneInput(input.data(), input.size());
        slowest = std::max(slowest, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
        ++inputs;
    }
    std::printf("%lld inputs, the slowest %.3f s, seed %s\n", inputs, slowest, argv[2]);
    return slowest < 2 ? 0 : 1;  // seconds, as libFuzzer's -timeout in the Makefile
}
