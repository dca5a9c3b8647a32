/// Circuit-gated send: holds the messages of collectives that use circuits until a circuit comes.
///
/// Model (network/circuit_windows.hpp; a host may send P packets in a circuit window). A rank has a
/// *lane* for every place that it has messages for. Just before a circuit window of a lane, messages leave it
/// in whole packets: of each message at most its pace; the hosts of the place share P evenly, and messages
/// for one host are sent in the order in which they came. A message that does not fit is sent in pieces.
///
/// Pace. The messages that become ready at one rank in one notification are spread over H periods. With N_y
/// packets for place y, H is the smallest integer for which
///
///     Σ_y min(N_y, HP) + 2 Σ_y max(0, N_y - HP) + 2·N_intra <= H·P·(places connected):
///
/// a period gives the rank P packets to every place directly; a packet that is relayed over a third place, as
/// are all within a place that has no circuits to itself (N_intra), takes two of the packets left. A message
/// of n packets sends n/H of them in a window, rounded up, which leaves the same room for relays all the
/// time.
///
/// Relays. If one place is to get many more packets than others, its lane would be slow and the capacity to
/// the others idle. The packets beyond HP are sent at once, for the network to relay. So are messages within
/// a place, messages without bytes, those of a traffic class that does not wait, and those for places that
/// are never connected. Even traffic, with N_y alike, has no packets beyond HP.
///
/// Example. P = 10, three places with N = 15, 3 and 3 packets. H = 1 is enough: 10 + 3 + 3 direct packets and
/// 2·5 for the relayed ones are 26 <= 30. So 10 of the 15 packets wait for their circuit, 5 are sent at once.
/// With N = 15, 9 and 9 the sum is 38 > 30, and H = 2: 33 <= 60; all wait, 8 of the 15 packets a window.
///
/// Limits: ranks consider what they send, not what others send to the same host, and not what was in a lane
/// before; a window is shared out once.
///
/// Complexity: O(n log n + places) for n messages that become ready together, O(nm) for each window of a
/// lane with n messages for m hosts; one timer for all lanes with a window at one time. Memory: messages
/// held, and a lane for each host and place.
#pragma once

#include "timers.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/circuit_windows.hpp>

namespace astrolabe::system::detail {

class CircuitGatedSend final : private network::NotificationHandler {
public:
    /// `copy` passes between what `release` returns and its entry into the network. `on_release` is notified
    /// when messages are due.
    CircuitGatedSend(std::shared_ptr<const network::CircuitWindows> windows,
                     const network::NetworkBackend& backend, Time copy, Timers& timers,
                     network::NotificationHandler& on_release);

    /// Takes the messages that became ready in one notification; `ready` is empty afterwards.
    void hold_back(std::vector<network::Message>& ready);

    /// Appends what is due. To be called once for every notification, with its token.
    void release(std::uint64_t token, std::vector<network::Message>& due);

    /// To be called for every message or piece that was due, once the network has it: the message of which
    /// this was the last piece, if it was.
    [[nodiscard]] std::optional<network::Message> sent(const network::Message& due);

private:
    using Number = std::uint32_t;  // of a message held

    struct Held {
        network::Message message;
        Bytes left;                   // in its lane
        std::int64_t pace = 0;        // packets in a window, at most
        std::uint32_t in_copy = 0;    // pieces due, not yet in the network
        std::uint32_t in_flight = 0;  // pieces due, not yet delivered
    };
    struct Lane {
        std::vector<Number> waiting;  // in the order they came
        Time start{-1};               // of the window it waits for, or of the last
        bool is_open = false;         // waits for one
    };
    /// The lanes and messages due at one time.
    struct Opening {
        std::vector<std::size_t> lanes;
        std::vector<network::Message> at_once;
    };
    struct Share {
        std::uint32_t index = 0;
        std::int64_t packets = 0;
    };

    void notify(std::uint64_t number) override;  // a piece was delivered

    void distribute(std::span<const network::Message> of_one_rank);
    [[nodiscard]] bool has_lane(const network::Message& message) const;
    [[nodiscard]] std::int64_t periods_needed(std::span<const network::Message> of_one_rank);
    void enter_lane(std::span<const network::Message> for_one_place, std::int64_t periods);
    void wait(std::size_t lane);
    void open(std::size_t lane, std::vector<network::Message>& due);
    [[nodiscard]] Opening& opening_at(Time time);
    /// Cuts the shares down to one level so that they sum to at most `packets`; ordered by `index`
    /// afterwards.
    void level_shares(std::int64_t packets);
    [[nodiscard]] Number hold(const network::Message& message);
    [[nodiscard]] network::Message take(Number number, Bytes size);

    [[nodiscard]] std::int64_t packets_of(Bytes size) const;
    [[nodiscard]] network::PlaceId place_of(network::HostId host) const { return windows_->place_of(host); }

    std::shared_ptr<const network::CircuitWindows> windows_;
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
