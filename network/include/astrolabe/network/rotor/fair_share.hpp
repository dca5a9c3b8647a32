/// Fair shares of a number of packets, as RotorLB takes them.
///
/// One dimension: elements with demands share a cap. Every hungry element is given ⌊cap / hungry⌋, at most
/// what it still wants, until that is 0; the remainder goes one by one to hungry elements, none twice: at
/// random, or round-robin. So shares of elements that stay hungry differ by at most 1, and everything is
/// given away that someone wants.
///
/// Round-robin: with a remainder of r over m hungry elements, r of them from the (index · r mod m)-th on, so
/// that over m consecutive indices each gets r. Example: 2 packets over 3 elements go to 0 and 1 with index
/// 0, to 2 and 0 with index 1, to 1 and 2 with index 2.
///
/// Two dimensions: a matrix of demands, a cap for each row and each column. Up to five rounds of a share of
/// each row over what its columns still want, then of each column over what the rows were given.
///
/// Source: RotorNet (SIGCOMM 2017) section 4.2 for the phases; the rounds and remainders are those of the
/// simulator of Opera (NSDI 2020). C++17, for the ns-3 module.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <astrolabe/core/containers/span.hpp>
#include <astrolabe/core/random.hpp>

namespace astrolabe::network::rotor {

enum class Remainders : std::uint8_t {
    kAtRandom,
    kRoundRobin  ///< the same again and again, where demands, caps and the step of the index are
};

class FairShare {
public:
    explicit FairShare(std::uint64_t seed, Remainders remainders = Remainders::kAtRandom)
        : remainders_(remainders),
          random_(seed, "fair_share") {}

    /// Of the next splits. Rows of a matrix have this index and those after it, columns likewise.
    void set_index(std::uint64_t index) { index_ = index; }
    /// After how many indices all that was given since `forget` would be given alike: the least common
    /// multiple of m / gcd(m, r) over the round-robin remainders; `kNoPeriod` or more if it is as much.
    [[nodiscard]] std::uint64_t period() const { return period_; }
    static constexpr std::uint64_t kNoPeriod = std::uint64_t{1} << 20;
    void forget() { period_ = 1; }
    /// Something else starts at the (index · `remainder` mod `elements`)-th element too.
    void depend_on_index(std::uint32_t remainder, std::uint32_t elements);

    /// Writes to `shares`, of the size of `demands`; returns their sum. O(elements · rounds), where every
    /// round but the last satisfies an element.
    std::uint32_t split(Span<const std::uint32_t> demands, std::uint32_t cap, Span<std::uint32_t> shares) {
        return split(demands, std::accumulate(demands.begin(), demands.end(), std::uint64_t{0}), cap, shares);
    }
    /// The same where the sum of the demands is known.
    std::uint32_t split(Span<const std::uint32_t> demands, std::uint64_t wanted, std::uint32_t cap,
                        Span<std::uint32_t> shares) {
        if (wanted <= cap) {
            std::copy(demands.begin(), demands.end(), shares.begin());
            return static_cast<std::uint32_t>(wanted);
        }
        share_out(demands, cap, shares);
        return cap;
    }

    /// The same for a matrix, row after row; caps are reduced by what is given. Demands may be reduced.
    void split(Span<std::uint32_t> demands, Span<std::uint32_t> row_caps, Span<std::uint32_t> column_caps,
               Span<std::uint32_t> shares);

private:
    /// All of `cap`, where more is wanted.
    void share_out(Span<const std::uint32_t> demands, std::uint32_t cap, Span<std::uint32_t> shares);
    void give_remainder(std::uint32_t left, Span<std::uint32_t> shares);

    Remainders remainders_;
    std::uint64_t index_ = 0;
    std::uint64_t period_ = 1;
    RandomStream random_;
    std::vector<std::uint32_t> hungry_;
    std::vector<std::uint32_t> offered_;  // to columns by rows
    std::vector<std::uint32_t> column_;
    std::vector<std::uint32_t> column_shares_;
};

}  // namespace astrolabe::network::rotor
