// Where there is no libFuzzer: mutates files of a corpus for some seconds. mutate SECONDS SEED FILE...

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

using Bytes = std::vector<std::uint8_t>;

static Bytes mutated(std::mt19937& random, Bytes file, const Bytes& other) {
    const auto below = [&](std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random()) % n; };
    for (std::size_t times = 1 + below(4); times-- > 0 && file.size() > 16;) {
        const std::size_t at = below(below(2) ? file.size() : std::min<std::size_t>(file.size(), 700)), length = 1 + below(64);
        const auto place = file.begin() + static_cast<std::ptrdiff_t>(at), end = file.begin() + static_cast<std::ptrdiff_t>(std::min(file.size(), at + length));
        switch (below(7)) {
        case 0: file[at] ^= static_cast<std::uint8_t>(1 << below(8)); break;
        case 1: file[at] = static_cast<std::uint8_t>(random()); break;
        case 2: file.resize(at); break;
        case 3: file.erase(place, end); break;
        case 4: { const Bytes piece(place, end); file.insert(place, piece.begin(), piece.end()); break; }
        case 5: { const std::uint8_t marker[] = {0xff, static_cast<std::uint8_t>(0xc0 + below(64))}; file.insert(place, marker, marker + 2); break; }
        case 6: file.insert(place, other.begin() + static_cast<std::ptrdiff_t>(below(other.size())), other.end()); break;
        }
    }
    for (int i = 0; i < 8; ++i) file.push_back(static_cast<std::uint8_t>(random()));   // what the target chooses by
    return file;
}

static const Bytes* current = nullptr;

// The input that ended the run, in crash.jpg.
static void keep(int signal) {
    std::ofstream("crash.jpg", std::ios::binary).write(reinterpret_cast<const char*>(current->data()), static_cast<std::streamsize>(current->size()));
    std::_Exit(128 + signal);
}

int main(int count, char** words) {
    if (count < 4) return std::fprintf(stderr, "mutate SECONDS SEED FILE...\n"), 2;
    std::vector<Bytes> corpus;
    for (int i = 3; i < count; ++i) {
        std::ifstream stream(words[i], std::ios::binary);
        corpus.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
        if (corpus.back().empty()) return std::fprintf(stderr, "nothing in %s\n", words[i]), 2;
    }
    for (int signal : {SIGABRT, SIGALRM, SIGSEGV, SIGFPE}) std::signal(signal, keep);
    std::mt19937 random(static_cast<unsigned>(std::atoi(words[2])));
    const auto stop = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(words[1]));
    long long inputs = 0;
    double slowest = 0;
    while (std::chrono::steady_clock::now() < stop) {
        const Bytes input = mutated(random, corpus[random() % corpus.size()], corpus[random() % corpus.size()]);
        current = &input;
        const auto start = std::clock();
        alarm(10);                                                                     // a hang ends the run
        LLVMFuzzerTestOneInput(input.data(), input.size());
        slowest = std::max(slowest, double(std::clock() - start) / CLOCKS_PER_SEC);
        ++inputs;
    }
    std::printf("%lld inputs, the slowest %.3f s, seed %s\n", inputs, slowest, words[2]);
    return slowest < 2 ? 0 : 1;
}
