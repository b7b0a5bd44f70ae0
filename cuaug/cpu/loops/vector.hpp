#pragma once

// A growing array of trivially copyable items. std::vector cannot be used: the linker would merge its functions,
// compiled for several instruction sets, into one (instruction_set.hpp).

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
        const T copy = item;  // `item` may be an element of this array, whose memory `grow` frees
        if (count_ == capacity_) grow(capacity_ < 64 ? 64 : 2 * capacity_);
        items_[count_++] = copy;
    }

private:
    void grow(long long capacity) {
        T* items = static_cast<T*>(::operator new(static_cast<std::size_t>(capacity) * sizeof(T)));
        if (count_ > 0) memcpy(static_cast<void*>(items), items_, static_cast<std::size_t>(count_) * sizeof(T));
        ::operator delete(items_);
        items_ = items, capacity_ = capacity;
    }

    T* items_ = nullptr;
    long long count_ = 0, capacity_ = 0;
};

}  // namespace cuaug
