/// Finds, in a folded run, events of one instant whose order matters (a *tie*).
///
/// A backend notifies the events of one instant one after another, and the executor completes the
/// consequences of one notification before the next. Equivalent ranks may be notified in different orders.
/// The whole run follows those orders and may treat equivalent ranks differently; a folded run has only the
/// order of the representative, so it stops and the whole program is run instead.
///
/// Example. Ranks 0 and 1 are equivalent and rank 0 represents both. At 5 us two computations of each rank's
/// program end, and each issues a collective, A and B, first in its group; with LIFO the later one gets the
/// higher priority. If rank 0 is notified of A's computation first and rank 1 of B's, rank 0's group starts B
/// first and rank 1's group A. The folded run would start B first everywhere. If A is issued at 5 us and B at
/// 6 us, there is no tie.
///
/// Two notifications of one instant commute but for these cases, which are watched:
///   - both send a message from one host to another: the two are delivered in the order sent;
///   - both issue a collective first in its group: priorities follow the order of issue;
///   - two collectives of a rank start, or end, because the whole of their groups has now issued them: their
///     order depends on ranks that the folded run does not simulate;
///   - both make room in a rank's window, or issue a collective for it, and a chunk enters at that instant:
///     its messages leave with those of the first;
///   - a rank completes its part of two chunks in one notification, which may be two for an equivalent rank;
///   - two ranks of a group reach the end of their agreed order at one instant and would extend it
///     differently (collective_engine.cpp).
///
/// The last rank of a group. A collective without bytes ends, and one that may not start early starts, when
/// the last rank of its group issues it; a barrier inside a collective opens when the last rank comes to it.
/// For that rank one notification brings both its own consequences and those for the whole group, for any
/// other rank of the group two do. Which of the ranks that come at one instant is the last may differ between
/// images, and only one of them can be. So a folded run completes the consequences of the last rank's own
/// notification and then lets the group go on, as in a notification of its own: what of the two does not
/// commute is one of the cases above.
///
/// Example. Ranks 0 to 3 are equivalent. At 5 us a computation ends on all of them; each issues A, which has
/// no bytes, and C, and when A ends B, which comes before C in the program. Ranks 0 to 2 send of C at once
/// and of B when rank 3 has issued A, but rank 3, notified last, of B before C. The folded run sends of C and
/// then of B, both from rank 0 to rank 1 at 5 us in two notifications: a tie. If C is issued at 6 us, there
/// is none.
///
/// Serial copy engines and slots in dimensions have more such cases: such runs are not folded.
///
/// Complexity: amortised O(1) for each, and memory in proportion to the messages of one instant
/// (pairs_of_instant.hpp); nothing in runs that are not folded.
#pragma once

#include "pairs_of_instant.hpp"

#include <cstdint>

#include <astrolabe/network/backend.hpp>

namespace astrolabe::system::detail {

class TieWatch {
public:
    /// When something happened last, and in which notification.
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
    /// To be called when the backend notifies.
    void next_notification() { ++notification_; }
    /// Whether the run begins and no backend has notified yet.
    [[nodiscard]] bool is_first_notification() const { return notification_ == 0; }

    /// Replaces `last` by now; whether it was at this instant, in another notification.
    [[nodiscard]] bool repeats(Event& last) {
        const Time now = backend_.now();
        const bool repeats = last.at == now && last.notification != notification_;
        last = {now, notification_};
        return repeats;
    }
    /// An event of a kind whose last one was `last`. Two of one instant are a tie unless one notification
    /// caused both.
    void happens(Event& last) {
        if (is_on_ && repeats(last)) {
            report();
        }
    }
    /// As `happens`, but two of one instant are a tie even in one notification.
    void happens_alone(Event& last) {
        happens(last);
        last.notification = kAlone;
    }
    /// A message of now from `source` to `destination`. Two of one instant are a tie unless one notification
    /// caused both.
    void sends(network::HostId source, network::HostId destination) {
        if (!is_on_) {
            return;
        }
        if (const Time now = backend_.now(); now != sent_at_) {
            sent_at_ = now;
            sent_.clear();
        }
        if (sent_.replace(source, destination, notification_) != notification_) {
            report();
        }
    }

private:
    static constexpr std::uint64_t kAlone = ~std::uint64_t{0};

    const network::NetworkBackend& backend_;
    const bool is_on_;
    bool found_ = false;
    std::uint64_t notification_ = 0;
    Time sent_at_ = Time::max();
    PairsOfInstant sent_;  // and the notification that caused the last message of each
};

}  // namespace astrolabe::system::detail
