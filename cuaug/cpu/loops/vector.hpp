#pragma once

// A growing array of trivially copyable items. The functions of std::vector would be shared between instruction sets
// (instruction_set.hpp).

namespace cuaug {

template <class T>
class Vector {
public:
    Vector() = default;
    explicit Vector(long long count) { grow(count), count_ = count; }
    Vector(const Vector&) = delete;
    Vector& operator=(const Vector&) = delete;
    ~Vector() { ::operator delete(items_); }

    T& operator[](long long i) { return items_[i]; }
    const T& operator[](long long i) const { return items_[i]; }
    T* data() { return items_; }
    const T* data() const { return items_; }
    long long count() const { return count_; }
    void clear() { count_ = 0; }

    void add(const T& item) {
        const T copy = item;
        if (count_ == room_) grow(room_ < 64 ? 64 : 2 * room_);
        items_[count_++] = copy;
    }

private:
    void grow(long long room) {
        T* items = static_cast<T*>(::operator new(static_cast<std::size_t>(room) * sizeof(T)));
        if (count_ > 0) memcpy(static_cast<void*>(items), items_, static_cast<std::size_t>(count_) * sizeof(T));
        ::operator delete(items_);
        items_ = items, room_ = room;
    }

    T* items_ = nullptr;
    long long count_ = 0, room_ = 0;
};

}  // namespace cuaug
