/// A 64-bit hash of a run's trajectory (FNV-1a over little-endian 64-bit words), equal on every machine and
/// build.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace astrolabe::experiment {

class Fingerprint {
public:
    void add(std::uint64_t word) {
        for (int byte = 0; byte < 8; ++byte) {
            hash_ = (hash_ ^ ((word >> (8 * byte)) & 0xff)) * 0x100000001b3;
        }
    }
    void add(std::int64_t word) { add(static_cast<std::uint64_t>(word)); }
    void add(std::string_view text) {
        add(static_cast<std::uint64_t>(text.size()));
        for (const char c : text) {
            hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
        }
    }
    [[nodiscard]] std::string text() const { return fmt::format("{:016x}", hash_); }

private:
    std::uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace astrolabe::experiment
