#pragma once

#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

// Files, or pieces of them, read into memory that the caller has.

namespace native {

struct Piece {
    std::string path;
    long long offset, bytes;  // bytes < 0: to the end
};

// How many bytes there are to read; -1, and why, where they cannot be.
inline long long piece_bytes(const Piece& piece, long long most, std::string& reason) {
    struct stat found;
    if (stat(piece.path.c_str(), &found) != 0) return reason = std::strerror(errno), -1;
    if (!S_ISREG(found.st_mode)) return reason = "not a file", -1;
    const long long rest = found.st_size - piece.offset, bytes = piece.bytes < 0 ? rest : piece.bytes;
    if (piece.offset < 0 || bytes > rest || rest < 0) return reason = "the file is shorter than it was", -1;
    if (most > 0 && bytes > most) return reason = std::to_string(bytes) + " bytes, more than the limit of " + std::to_string(most), -1;
    return bytes;
}

// Reads what `piece_bytes` has counted; false, and why, where it cannot be read.
inline bool read_piece(const Piece& piece, long long bytes, char* to, std::string& reason) {
    const int file = open(piece.path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return reason = std::strerror(errno), false;
    long long done = 0;
    while (done < bytes) {
        const ssize_t count = pread(file, to + done, bytes - done, piece.offset + done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) {
            reason = count < 0 ? std::strerror(errno) : "the file is shorter than it was";
            break;
        }
        done += count;
    }
    close(file);
    return done == bytes;
}

}  // namespace native
