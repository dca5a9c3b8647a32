#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/rotor/factorisation.hpp>

namespace astrolabe::network::rotor {

namespace {

/// For each rack a set of numbers below their count; members can be drawn. All operations O(1).
class SetsByRack {
public:
    /// Full sets.
    explicit SetsByRack(std::uint32_t racks)
        : racks_(racks),
          size_(racks, racks),
          members_(std::size_t{racks} * racks),
          place_(std::size_t{racks} * racks) {
        for (std::uint32_t rack = 0; rack < racks; ++rack) {
            for (std::uint32_t i = 0; i < racks; ++i) {
                members_[cell(rack, i)] = place_[cell(rack, i)] = static_cast<std::uint16_t>(i);
            }
        }
    }

    [[nodiscard]] std::uint32_t size(Rack rack) const { return size_[rack]; }
    [[nodiscard]] bool contains(Rack rack, std::uint32_t item) const {
        return place_[cell(rack, item)] < size_[rack];
    }
    [[nodiscard]] std::uint32_t draw(Rack rack, RandomStream& random) const {
        return members_[cell(rack, random.below(size_[rack]))];
    }
    void insert(Rack rack, std::uint32_t item) { swap(rack, item, size_[rack]++); }
    void erase(Rack rack, std::uint32_t item) { swap(rack, item, --size_[rack]); }

private:
    [[nodiscard]] std::size_t cell(Rack rack, std::uint32_t i) const {
        return std::size_t{rack} * racks_ + i;
    }
    /// Members stand first in a permutation of all numbers.
    void swap(Rack rack, std::uint32_t item, std::uint32_t place) {
        const std::uint32_t from = place_[cell(rack, item)];
        const std::uint32_t other = members_[cell(rack, place)];
        std::swap(members_[cell(rack, from)], members_[cell(rack, place)]);
        place_[cell(rack, item)] = static_cast<std::uint16_t>(place);
        place_[cell(rack, other)] = static_cast<std::uint16_t>(from);
    }

    std::uint32_t racks_;
    std::vector<std::uint32_t> size_;
    std::vector<std::uint16_t> members_;
    std::vector<std::uint16_t> place_;
};

/// The state of the hill climbing that the header describes.
class Climb {
public:
    explicit Climb(std::uint32_t racks)
        : racks_(racks),
          unmatched_(racks),
          missing_(racks),
          matchings_(racks, Matching(racks, kNone)),
          matching_of_(std::size_t{racks} * racks, kNone),
          open_(racks),
          place_in_open_(racks) {
        std::iota(open_.begin(), open_.end(), 0);
        std::iota(place_in_open_.begin(), place_in_open_.end(), 0);
    }

    [[nodiscard]] bool done() const { return open_.empty(); }

    void step(RandomStream& random) {
        const Rack x = open_[random.below(static_cast<std::uint32_t>(open_.size()))];
        const std::uint32_t m = missing_.draw(x, random);
        if (random.below(2) == 0) {
            const Rack y = unmatched_.draw(x, random);
            if (const Rack z = matchings_[m][y]; z != kNone) {
                take_out(y, z, m);
                open_pair(y, z);
            }
            close_pair(x, y);
            put_in(x, y, m);
            return;
        }
        const Rack y = open_[random.below(static_cast<std::uint32_t>(open_.size()))];
        if (!missing_.contains(y, m)) {
            return;
        }
        if (unmatched_.contains(x, y)) {
            close_pair(x, y);
        } else {
            take_out(x, y, matching_of_[cell(x, y)]);
        }
        put_in(x, y, m);
    }

    [[nodiscard]] std::vector<Matching> take() && { return std::move(matchings_); }

private:
    static constexpr std::uint32_t kNone = 0xffffffffU;

    [[nodiscard]] std::size_t cell(Rack x, Rack y) const { return std::size_t{x} * racks_ + y; }

    /// action(x, y) and action(y, x), which are one where x = y.
    template <class Action>
    static void both_ways(Rack x, Rack y, Action&& action) {
        action(x, y);
        if (x != y) {
            action(y, x);
        }
    }
    void put_in(Rack x, Rack y, std::uint32_t m) {
        both_ways(x, y, [&](Rack from, Rack to) {
            matchings_[m][from] = to;
            matching_of_[cell(from, to)] = m;
            missing_.erase(from, m);
        });
    }
    void take_out(Rack x, Rack y, std::uint32_t m) {
        both_ways(x, y, [&](Rack from, Rack) {
            matchings_[m][from] = kNone;
            missing_.insert(from, m);
        });
    }
    void open_pair(Rack x, Rack y) {
        both_ways(x, y, [&](Rack from, Rack to) { open_half(from, to); });
    }
    void close_pair(Rack x, Rack y) {
        both_ways(x, y, [&](Rack from, Rack to) { close_half(from, to); });
    }
    void open_half(Rack x, Rack y) {
        if (unmatched_.size(x) == 0) {
            place_in_open_[x] = static_cast<std::uint32_t>(open_.size());
            open_.push_back(x);
        }
        unmatched_.insert(x, y);
    }
    void close_half(Rack x, Rack y) {
        unmatched_.erase(x, y);
        if (unmatched_.size(x) == 0) {
            open_[place_in_open_[x]] = open_.back();
            place_in_open_[open_.back()] = place_in_open_[x];
            open_.pop_back();
        }
    }

    std::uint32_t racks_;
    SetsByRack unmatched_;  // of a rack: with which others it is in no matching
    SetsByRack missing_;    // of a rack: the matchings it is not in; as many
    std::vector<Matching> matchings_;
    std::vector<std::uint32_t> matching_of_;  // of a pair that has one
    std::vector<Rack> open_;                  // racks with unmatched pairs
    std::vector<std::uint32_t> place_in_open_;
};

}  // namespace

std::vector<Matching> draw_factorisation(std::uint32_t racks, RandomStream& random) {
    ASTROLABE_ASSERT(racks >= 1 && racks <= kMaxRacks, "matchings are drawn for 1 to 512 racks");
    constexpr std::uint64_t kStepsPerCell = 10'000;
    const std::uint64_t most = kStepsPerCell * racks * racks;
    Climb climb(racks);
    for (std::uint64_t steps = 0; !climb.done(); ++steps) {
        ASTROLABE_ASSERT(steps < most, "hill climbing reaches a factorisation");
        climb.step(random);
    }
    std::vector<Matching> matchings = std::move(climb).take();
    ASTROLABE_ASSERT(is_factorisation(matchings), "hill climbing ends at a factorisation");
    return matchings;
}

std::vector<Matching> lift_factorisation(const std::vector<Matching>& base, std::uint32_t factor,
                                         RandomStream& random) {
    const auto racks = static_cast<std::uint32_t>(base.size());
    std::vector<Matching> lifted(std::size_t{racks} * factor, Matching(std::size_t{racks} * factor));
    for (std::uint32_t b = 0; b < racks; ++b) {
        for (Rack i = 0; i < racks; ++i) {
            const Rack j = base[b][i];
            if (j < i) {
                continue;
            }
            std::vector<Matching> blocks = draw_factorisation(factor, random);
            random.shuffle(blocks);
            for (std::uint32_t t = 0; t < factor; ++t) {
                for (Rack k = 0; k < factor; ++k) {
                    const Rack from = i * factor + k;
                    const Rack to = j * factor + blocks[t][k];
                    lifted[std::size_t{b} * factor + t][from] = to;
                    lifted[std::size_t{b} * factor + t][to] = from;
                }
            }
        }
    }
    ASTROLABE_ASSERT(is_factorisation(lifted), "a lifted factorisation is one");
    return lifted;
}

bool is_factorisation(const std::vector<Matching>& matchings) {
    const std::size_t racks = matchings.size();
    std::vector<std::uint8_t> met(racks * racks, 0);
    for (const Matching& matching : matchings) {
        if (matching.size() != racks) {
            return false;
        }
        for (std::size_t x = 0; x < racks; ++x) {
            const Rack y = matching[x];
            if (y >= racks || matching[y] != x || met[x * racks + y]++ != 0) {
                return false;
            }
        }
    }
    // N matchings of N racks fill N² cells, none of them twice.
    return true;
}

std::vector<std::vector<Matching>> deal(std::vector<Matching> matchings, std::uint32_t uplinks) {
    ASTROLABE_ASSERT(uplinks > 0 && matchings.size() % uplinks == 0, "rotors hold equally many matchings");
    const std::size_t per_rotor = matchings.size() / uplinks;
    std::vector<std::vector<Matching>> rotors(uplinks);
    for (std::size_t i = 0; i < matchings.size(); ++i) {
        rotors[i / per_rotor].push_back(std::move(matchings[i]));
    }
    return rotors;
}

}  // namespace astrolabe::network::rotor
