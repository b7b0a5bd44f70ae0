#pragma once

#include <cstddef>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

// Lists the fields of a struct with their offsets and sizes.

namespace native {

struct Field {
    std::string name;
    std::size_t offset, size;
};
using Fields = std::vector<Field>;

// `FieldsOf<Struct>::list()` returns the fields of a struct and of its bases. A nested struct becomes "field.inner" for
// each inner field; an array is one field.
template <class Struct>
struct FieldsOf;

// Offsets are measured on an object, since offsetof is not portable for structs with a base.
template <class Struct>
const Struct sample_object{};

template <class Struct>
std::size_t offset_of(const void* part) {
    const auto* object = reinterpret_cast<const char*>(&sample_object<Struct>);
    return static_cast<std::size_t>(static_cast<const char*>(part) - object);
}

inline void append(Fields& all, const Fields& inner, const std::string& prefix, std::size_t offset) {
    for (const Field& field : inner) all.push_back({prefix + field.name, offset + field.offset, field.size});
}

// `names`: the names of the members, separated by spaces.
template <class Struct, class... Members>
Fields fields(const char* names, Members Struct::*... members) {
    Fields all;
    std::istringstream stream(names);
    const auto add = [&](auto member, auto size) {
        using Member = std::decay_t<decltype(sample_object<Struct>.*member)>;
        std::string name;
        stream >> name;
        const std::size_t offset = offset_of<Struct>(&(sample_object<Struct>.*member));
        if constexpr (std::is_class_v<Member>)
            append(all, FieldsOf<Member>::list(), name + ".", offset);
        else
            all.push_back({name, offset, size});
    };
    (add(members, sizeof(Members)), ...);
    return all;
}

template <class Struct, class Base>
Fields with_base(const Fields& members) {
    Fields all;
    append(all, FieldsOf<Base>::list(), "", offset_of<Struct>(static_cast<const Base*>(&sample_object<Struct>)));
    all.insert(all.end(), members.begin(), members.end());
    return all;
}

}  // namespace native
