/// Number of an ordered pair of hosts, for a known number of hosts: a plain table while that is small, 4
/// bytes per pair that could be, and before it the pair that each source asked for last, as ranks of a ring
/// always ask for one.
#pragma once

#include <cstdint>
#include <vector>

#include <astrolabe/network/ids.hpp>
#include <astrolabe/network/pair_index.hpp>

namespace astrolabe::network {

class HostPairIndex {
public:
    static constexpr std::uint32_t kNone = PairIndex::kNone;

    explicit HostPairIndex(std::size_t hosts)
        : hosts_(hosts),
          table_(hosts <= kLargestTable ? hosts * hosts : 0, kNone),
          last_(hosts) {}

    [[nodiscard]] std::uint32_t find(HostId source, HostId destination) {
        Last& last = last_[source.index()];
        if (last.number == kNone || last.destination != destination) {
            last.destination = destination;
            last.number =
                table_.empty() ? sparse_.find(source, destination) : table_[slot_of(source, destination)];
        }
        return last.number;
    }
    /// The same where a source seldom asks for one destination twice in a row: nothing is kept of the
    /// question.
    [[nodiscard]] std::uint32_t peek(HostId source, HostId destination) const {
        return table_.empty() ? sparse_.find(source, destination) : table_[slot_of(source, destination)];
    }
    /// Precondition: the pair has no number yet.
    void insert(HostId source, HostId destination, std::uint32_t number) {
        if (table_.empty()) {
            sparse_.insert(source, destination, number);
        } else {
            table_[slot_of(source, destination)] = number;
        }
    }

private:
    static constexpr std::size_t kLargestTable = 2048;  ///< hosts; 16 MiB

    struct Last {
        HostId destination;
        std::uint32_t number = kNone;
    };

    [[nodiscard]] std::size_t slot_of(HostId source, HostId destination) const {
        return hosts_ * source.index() + destination.index();
    }

    std::size_t hosts_;
    std::vector<std::uint32_t> table_;
    PairIndex sparse_;
    std::vector<Last> last_;  // by source
};

}  // namespace astrolabe::network
