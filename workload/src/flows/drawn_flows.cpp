#include "drawn_flows.hpp"

#include "line_reader.hpp"

#include <cmath>
#include <numeric>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload {
namespace {

struct Pair {
    std::uint32_t source = 0;
    std::uint32_t destination = 0;
};

/// Draws who sends to whom.
class Pairs {
public:
    Pairs(const DrawnFlows& drawn, RandomStream& random)
        : drawn_(drawn),
          random_(random) {
        if (drawn.pattern == FlowPattern::kPermutation) {
            partners_ = draw_partners(drawn, random);
        }
    }

    /// The flow of an arrival, of patterns with one.
    [[nodiscard]] Pair draw() {
        if (drawn_.pattern == FlowPattern::kHotRack && unit_interval(random_) < drawn_.hot_share) {
            const std::uint32_t source = drawn_.group + random_.below(drawn_.hosts - drawn_.group);
            return {source, random_.below(drawn_.group)};
        }
        return from(random_.below(drawn_.hosts));
    }
    /// One flow of a given host.
    [[nodiscard]] Pair from(std::uint32_t source) {
        switch (drawn_.pattern) {
            case FlowPattern::kPermutation:
                return {source, partners_[source]};
            case FlowPattern::kHotRack:
                return {source, other(source)};
            default:
                return {source, other(source)};
        }
    }
    [[nodiscard]] std::uint32_t in_hot_group() { return random_.below(drawn_.group); }
    /// Any other host that it may send to.
    [[nodiscard]] std::uint32_t other(std::uint32_t source) {
        if (drawn_.intra_group) {
            const std::uint32_t drawn = random_.below(drawn_.hosts - 1);
            return drawn < source ? drawn : drawn + 1;
        }
        const std::uint32_t first = source / drawn_.group * drawn_.group;
        const std::uint32_t drawn = random_.below(drawn_.hosts - drawn_.group);
        return drawn < first ? drawn : drawn + drawn_.group;
    }
    /// A receiver and as many different senders as an incast has.
    [[nodiscard]] std::vector<Pair> incast() {
        const std::uint32_t receiver = random_.below(drawn_.hosts);
        std::vector<std::uint32_t> others;
        for (std::uint32_t host = 0; host < drawn_.hosts; ++host) {
            if (may_send(host, receiver)) {
                others.push_back(host);
            }
        }
        std::vector<Pair> pairs;
        for (std::uint32_t i = 0; i < drawn_.senders; ++i) {
            std::swap(others[i], others[i + random_.below(static_cast<std::uint32_t>(others.size()) - i)]);
            pairs.push_back({others[i], receiver});
        }
        return pairs;
    }
    [[nodiscard]] bool may_send(std::uint32_t source, std::uint32_t destination) const {
        return source != destination &&
               (drawn_.intra_group || source / drawn_.group != destination / drawn_.group);
    }

private:
    const DrawnFlows& drawn_;
    RandomStream& random_;
    std::vector<std::uint32_t> partners_;
};

/// Arrivals of a Poisson process.
class Arrivals final : public system::FlowStream {
public:
    explicit Arrivals(const DrawnFlows& drawn)
        : drawn_(drawn),
          random_(drawn.seed, drawn.stream_name),
          pairs_(drawn_, random_) {}

    [[nodiscard]] std::optional<system::Flow> next() override {
        while (!left_.empty() || arrive()) {
            const Pair pair = left_.back();
            left_.pop_back();
            const Bytes size = drawn_.sizes.draw(random_);
            if (size < drawn_.below) {
                return system::Flow{
                    .source = pair.source, .destination = pair.destination, .size = size, .start = now_};
            }
        }
        return std::nullopt;
    }

private:
    bool arrive() {
        // What is left of a picosecond is carried over, so that gaps are right on average.
        fraction_ += draw_exponential(random_) * drawn_.mean_gap;
        const double whole = std::floor(fraction_);
        if (whole >= static_cast<double>((drawn_.duration - now_).count())) {
            return false;
        }
        now_ += Time(static_cast<std::int64_t>(whole));
        fraction_ -= whole;
        if (drawn_.pattern == FlowPattern::kIncast) {
            left_ = pairs_.incast();
        } else {
            left_.push_back(pairs_.draw());
        }
        return true;
    }

    const DrawnFlows drawn_;
    RandomStream random_;
    Pairs pairs_;
    std::vector<Pair> left_;  // of the last arrival
    Time now_;
    double fraction_ = 0;
};

/// All at time 0.
class Round final : public system::FlowStream {
public:
    explicit Round(const DrawnFlows& drawn)
        : drawn_(drawn),
          random_(drawn.seed, drawn.stream_name),
          pairs_(drawn_, random_) {
        if (drawn_.pattern == FlowPattern::kIncast) {
            incast_ = pairs_.incast();
        }
        source_ = drawn_.pattern == FlowPattern::kHotRack ? drawn_.group : 0;
    }

    [[nodiscard]] std::optional<system::Flow> next() override {
        while (const std::optional<Pair> pair = next_pair()) {
            const Bytes size = drawn_.sizes.draw(random_);
            if (size < drawn_.below) {
                return system::Flow{
                    .source = pair->source, .destination = pair->destination, .size = size, .start = Time(0)};
            }
        }
        return std::nullopt;
    }

private:
    std::optional<Pair> next_pair() {
        if (drawn_.pattern == FlowPattern::kIncast) {
            return place_ < incast_.size() ? std::optional(incast_[place_++]) : std::nullopt;
        }
        if (drawn_.pattern == FlowPattern::kShuffle) {
            return next_of_shuffle();
        }
        if (source_ == drawn_.hosts) {
            return std::nullopt;
        }
        const std::uint32_t source = source_++;
        return drawn_.pattern == FlowPattern::kHotRack ? Pair{source, pairs_.in_hot_group()}
                                                       : pairs_.from(source);
    }
    std::optional<Pair> next_of_shuffle() {
        for (; source_ < drawn_.hosts; ++source_, destination_ = 0) {
            while (destination_ < drawn_.hosts) {
                const std::uint32_t destination = destination_++;
                if (pairs_.may_send(source_, destination)) {
                    return Pair{source_, destination};
                }
            }
        }
        return std::nullopt;
    }

    const DrawnFlows drawn_;
    RandomStream random_;
    Pairs pairs_;
    std::vector<Pair> incast_;
    std::size_t place_ = 0;
    std::uint32_t source_ = 0;
    std::uint32_t destination_ = 0;
};

}  // namespace

double draw_exponential(RandomStream& random) {
    // The first of a falling run of odd length, and one more for every run of even length before it.
    for (double whole = 0;; whole += 1) {
        const double first = unit_interval(random);
        double last = first;
        bool is_odd = true;
        for (double next = unit_interval(random); next < last; next = unit_interval(random)) {
            last = next;
            is_odd = !is_odd;
        }
        if (is_odd) {
            return whole + first;
        }
    }
}

std::vector<std::uint32_t> draw_partners(const DrawnFlows& drawn, RandomStream& random) {
    std::vector<std::uint32_t> partners(drawn.hosts);
    std::iota(partners.begin(), partners.end(), 0U);
    random.shuffle(partners);
    const auto group_of = [&drawn](std::uint32_t host) {
        return drawn.intra_group ? host : host / drawn.group;
    };
    const auto is_allowed = [&](std::uint32_t host) { return group_of(host) != group_of(partners[host]); };
    for (std::uint32_t host = 0; host < drawn.hosts; ++host) {
        while (!is_allowed(host)) {
            // Those before it stay allowed: the exchange is undone where it would break one.
            const std::uint32_t other = random.below(drawn.hosts);
            const bool was_allowed = is_allowed(other);
            std::swap(partners[host], partners[other]);
            if (!is_allowed(host) || (was_allowed && !is_allowed(other))) {
                std::swap(partners[host], partners[other]);
            }
        }
    }
    return partners;
}

std::uint32_t flows_of_arrival(const DrawnFlows& drawn) {
    return drawn.pattern == FlowPattern::kIncast ? drawn.senders : 1;
}

std::uint64_t flows_of_round(const DrawnFlows& drawn) {
    const std::uint64_t hosts = drawn.hosts;
    switch (drawn.pattern) {
        case FlowPattern::kIncast:
            return drawn.senders;
        case FlowPattern::kShuffle:
            return hosts * (hosts - (drawn.intra_group ? 1 : drawn.group));
        case FlowPattern::kHotRack:
            return hosts - drawn.group;
        default:
            return hosts;
    }
}

std::unique_ptr<system::FlowStream> drawn_stream(const DrawnFlows& drawn) {
    if (drawn.mean_gap > 0) {
        return std::make_unique<Arrivals>(drawn);
    }
    return std::make_unique<Round>(drawn);
}

}  // namespace astrolabe::workload
