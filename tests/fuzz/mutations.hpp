/// Parts of a mutation that several syntaxes share.
#pragma once

#include "mutate.hpp"

#include <cstddef>
#include <string>

namespace astrolabe::fuzzing {

/// Of bytes of a text, the end not included.
struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;

    [[nodiscard]] std::size_t size() const { return end - begin; }
};

/// What numbers, names and texts are least likely to have been tried with.
[[nodiscard]] std::string edge_value(Draw& draw);

/// Changes a few bytes without knowing what they are. Precondition: not empty.
void change_bytes(std::string& bytes, Draw& draw);

/// Changes one message of a file of messages behind their lengths, or its length.
void change_record(std::string& bytes, Draw& draw);

}  // namespace astrolabe::fuzzing
