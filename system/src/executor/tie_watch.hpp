/// Finds, in a folded run, things of one instant whose order matters.
///
/// A backend notifies what happens at one instant in some order, and the executor carries one notification
/// through before the next. Images of a rank may be notified in different orders; then the whole run, which
/// follows that order, treats images differently, and a folded run cannot know how. What one notification
/// does commutes with what another of the same instant does, but for six cases, which are watched:
///   - both send a message from one host to another: the two are delivered in the order sent;
///   - both issue a collective first in its group: priorities go by the order of issue;
///   - two collectives of a rank start, or end, because now the whole of their groups has issued them: which
///     comes first depends on ranks that the folded run does not have;
///   - both make room in a rank's window, or issue something for it, and a chunk enters at that instant: its
///     messages go with those of the first;
///   - a rank does its part of two chunks in one notification, which for its images may be two;
///   - two ranks of a group come to the end of their agreed order at one instant and would extend it
///     differently (collective_engine.cpp).
/// Copy engines that take turns and slots in dimensions have more such cases: such runs are not folded.
///
/// Complexity: O(1) and 16 bytes for every pair that sends; nothing in runs that are not folded.
#pragma once

#include <cstdint>
#include <vector>

#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/pair_index.hpp>

namespace astrolabe::system::detail {

class TieWatch {
public:
    /// Something that happened: when, and in which notification.
    struct Event {
        Time at = Time::max();
        std::uint64_t notification = 0;
    };

    TieWatch(const network::NetworkBackend& backend, bool is_on)
        : backend_(backend),
          is_on_(is_on) {}

    [[nodiscard]] bool is_on() const { return is_on_; }
    [[nodiscard]] bool found() const { return found_; }
    void report() { found_ = true; }
    /// What follows belongs to the next notification.
    void next_notification() { ++notification_; }

    /// Whether `last`, which becomes this one, was at this instant and of another notification.
    [[nodiscard]] bool repeats(Event& last) {
        const Time now = backend_.now();
        const bool repeats = last.at == now && last.notification != notification_;
        last = {now, notification_};
        return repeats;
    }
    /// `last` is what happened last of a kind of which two at one instant must be of one notification.
    void happens(Event& last) {
        if (is_on_ && repeats(last)) {
            report();
        }
    }
    /// As `happens`, but for two that must not come at one instant at all.
    void happens_alone(Event& last) {
        happens(last);
        last.notification = kAlone;
    }
    void sends(network::HostId source, network::HostId destination) {
        if (!is_on_) {
            return;
        }
        std::uint32_t pair = pairs_.find(source, destination);
        if (pair == network::PairIndex::kNone) {
            pair = static_cast<std::uint32_t>(sent_.size());
            pairs_.insert(source, destination, pair);
            sent_.emplace_back();
        }
        happens(sent_[pair]);
    }

private:
    static constexpr std::uint64_t kAlone = ~std::uint64_t{0};

    const network::NetworkBackend& backend_;
    const bool is_on_;
    bool found_ = false;
    std::uint64_t notification_ = 0;
    network::PairIndex pairs_;
    std::vector<Event> sent_;
};

}  // namespace astrolabe::system::detail
