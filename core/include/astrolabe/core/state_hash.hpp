/// A 64-bit hash of the state of a simulation, for those who look for a state that has been before: two
/// different states have the same one with a probability of about 2^-64.
///
/// Each word is mixed in with the finaliser of splitmix64 (Steele, Lea and Flood, "Fast splittable
/// pseudorandom number generators", OOPSLA 2014), so that order matters. O(1) a word.
#pragma once

#include <cstdint>

#include <astrolabe/core/random.hpp>
#include <astrolabe/core/units.hpp>

namespace astrolabe {

class StateHash {
public:
    void add(std::uint64_t word) {
        hash_ = mix_bits((hash_ ^ word) + kGoldenGamma);
    }
    void add(std::int64_t word) { add(static_cast<std::uint64_t>(word)); }
    void add(Time time) { add(time.count()); }
    void add(Bytes bytes) { add(bytes.count()); }

    [[nodiscard]] std::uint64_t value() const { return hash_; }

private:
    std::uint64_t hash_ = 0;
};

}  // namespace astrolabe
