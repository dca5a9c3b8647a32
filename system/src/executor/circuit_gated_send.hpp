/// Holds messages back until a circuit comes for them: handover of collectives that use circuits.
///
/// Model (network/direct_opportunities.hpp; a host may send P packets over an opportunity). A rank keeps a
/// *lane* for every place that it has something for. Just before an opportunity of a lane, messages leave it
/// and are handed over, in whole packets: of each as much as its pace, hosts of the place sharing P evenly,
/// messages for one host first come, first served. A message that does not fit goes in pieces.
///
/// Pace. What becomes ready at one rank in one notification is looked at together. With N_y packets for place
/// y it takes H periods, the least whole number for which
///
///     Σ_y min(N_y, HP) + 2 Σ_y max(0, N_y - HP) + 2·N_own <= H·P·places met,
///
/// for a period gives the rank P packets to every place directly, and what goes over a third place, as all
/// does within a place that does not meet itself, takes two of the packets left over. A message of n packets
/// leaves at n/H an opportunity, rounded up, which leaves as much room for what is relayed all the time.
///
/// Relays. Where one place is to get much more than others, its lane would be slow and the capacity of others
/// idle. What exceeds HP is handed over at once, for the network to relay, and so are messages within a
/// place, those without bytes, those of a class that does not wait and those for places that are never met.
/// Even traffic, N_y alike, has no excess.
///
/// Limits: ranks look at what they send, not at what others send to the same host, and not at what was in a
/// lane before; an opportunity is shared out once.
///
/// Complexity: O(n log n + places) for n messages that become ready together, O(nm) for each opportunity of a
/// lane with n messages for m hosts; one timer for all lanes with an opportunity at one time. Memory:
/// messages held, and a lane for each host and place.
#pragma once

#include "timers.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/direct_opportunities.hpp>

namespace astrolabe::system::detail {

class CircuitGatedSend final : private network::NotificationHandler {
public:
    /// `copy` passes between what `release` returns and its handover to the network. `on_release` is notified
    /// when something is due.
    CircuitGatedSend(std::shared_ptr<const network::DirectOpportunities> opportunities,
                     const network::NetworkBackend& backend, Time copy, Timers& timers,
                     network::NotificationHandler& on_release);

    /// Takes over messages that became ready in one notification; `ready` is empty afterwards.
    void take_over(std::vector<network::Message>& ready);

    /// Appends what is due. To be called once for every notification, with its token.
    void release(std::uint64_t token, std::vector<network::Message>& due);

    /// To be called for everything that was due, once the network has it: the message that has now been
    /// handed over to its last byte, or nothing if that was not the last piece of one.
    [[nodiscard]] std::optional<network::Message> handed_over(const network::Message& due);

private:
    using Number = std::uint32_t;  // of a message held

    struct Held {
        network::Message message;
        Bytes left;                   // in its lane
        std::int64_t pace = 0;        // packets an opportunity, at most
        std::uint32_t in_copy = 0;    // pieces due, not yet handed over
        std::uint32_t in_flight = 0;  // pieces due, not yet delivered
    };
    struct Lane {
        std::vector<Number> waiting;  // in the order they came
        Time begin{-1};               // of the opportunity it waits for, or of the last
        bool is_open = false;         // waits for one
    };
    /// What is due at one time.
    struct Opening {
        std::vector<std::size_t> lanes;
        std::vector<network::Message> at_once;
    };
    struct Share {
        std::uint32_t who = 0;
        std::int64_t packets = 0;
    };

    void notify(std::uint64_t number) override;  // a piece was delivered

    void sort_out(std::span<const network::Message> of_one_rank);
    [[nodiscard]] bool has_lane(const network::Message& message) const;
    [[nodiscard]] std::int64_t periods_needed(std::span<const network::Message> of_one_rank);
    void enter_lane(std::span<const network::Message> for_one_place, std::int64_t periods);
    void wait(std::size_t lane);
    void open(std::size_t lane, std::vector<network::Message>& due);
    [[nodiscard]] Opening& opening_at(Time time);
    /// Cuts the shares down to one level so that they sum to at most `packets`; ordered by `who` afterwards.
    void level_shares(std::int64_t packets);
    [[nodiscard]] Number hold(const network::Message& message);
    [[nodiscard]] network::Message take(Number number, Bytes size);

    [[nodiscard]] std::int64_t packets_of(Bytes size) const;
    [[nodiscard]] network::PlaceId place_of(network::HostId host) const {
        return opportunities_->place_of(host);
    }

    std::shared_ptr<const network::DirectOpportunities> opportunities_;
    const network::NetworkBackend& backend_;
    Time copy_;
    Timers& timers_;
    network::NotificationHandler& on_release_;

    std::vector<Held> held_;
    std::vector<Number> free_;
    std::vector<Lane> lanes_;  // by host and place
    std::map<Time, Opening> openings_;
    std::vector<Share> shares_;        // scratch
    std::vector<std::int64_t> needs_;  // scratch: packets, by place
};

}  // namespace astrolabe::system::detail
