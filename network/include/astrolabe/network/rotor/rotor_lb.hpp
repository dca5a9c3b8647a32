/// RotorLB: which packets use a circuit between two racks while it is there.
///
/// Model. Time goes by installations: when a rotor connects racks x and y, every host of both may send `slot`
/// packets through it and receive `slot`, its share of one rotor. Each host i has packets of its own for host
/// d, own_i[d], and packets of others that it relays, relayed_i[d]. For each direction, here x to y:
///   1. second hop: i in x sends j in y min(relayed_i[j], ⌊slot / h⌋), h hosts a rack, as far as what is
///      reserved for other traffic leaves room;
///   2. direct: fair share in two dimensions of own_i[j] (fair_share.hpp), what 1 left as caps;
///   3. offer: i offers packets for hosts of other racks than y that circuits connect with y, x included, a
///      fair share over d of what it may still send;
///   4. accept: every j takes a fair share over all (i, d) of what it may still receive, then for each d as
///      much as keeps relayed_j[d] + own_j[d], after steps 1 and 2 of both directions, within ⌊2 slot / h⌋.
///      Up to five times over what is left;
///   5. commit: what was accepted goes to j, which relays it when a circuit leads to d.
/// So a packet takes two hops at most, relayed packets go first, and intra-rack packets go through
/// another rack, in capacity that is left over.
///
/// Receivers see an even share each of every offer: rounded up, of what those before left, starting with a
/// random one. The source leaves open how an offer is split; with this, seven packets offered to four hosts
/// go to them as 2, 2, 2, 1, which the times of the reference simulator show.
///
/// Remainders go to elements drawn at random, as there, or round-robin: then the same queues with the same
/// index are shared out alike, and where the index counts cycles full queues repeat what they do.
///
/// Options. Without `two_hops` steps 1, 3, 4 and 5 do nothing. With `intra_rack_direct` intra-rack packets
/// are not offered; between steps 2 and 3 hosts of a rack share what they may still send and receive as
/// in step 2, also while the uplink of their rack idles.
///
/// Complexity: O(h² + packets that can be granted · rounds of fair share) for two connected racks; racks
/// where nothing waits cost nothing. No allocation once every queue has had its largest length.
///
/// Source: RotorNet (SIGCOMM 2017) section 4.2; limits and orders as in the simulator of Opera (NSDI 2020).
/// C++17, for the ns-3 module.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <astrolabe/core/containers/span.hpp>
#include <astrolabe/core/random.hpp>
#include <astrolabe/network/rotor/fair_share.hpp>
#include <astrolabe/network/rotor/matching.hpp>
#include <astrolabe/network/rotor/packet_counts.hpp>

namespace astrolabe::network::rotor {

/// What a host sends through one circuit while it is there.
struct Grant {
    enum class Kind : std::uint8_t {
        kSecondHop,  ///< relayed packets, on to their destination
        kDirect,     ///< own packets, to their destination
        kIntraRack,  ///< own packets, within the rack
        kFirstHop    ///< own packets, to a host that relays them
    };
    std::uint32_t from;
    std::uint32_t to;
    std::uint32_t destination;  ///< `to`, but for kFirstHop
    std::uint32_t packets;      ///< > 0
    Kind kind;

    friend bool operator==(const Grant& a, const Grant& b) {
        return a.from == b.from && a.to == b.to && a.destination == b.destination && a.packets == b.packets &&
               a.kind == b.kind;
    }
};

struct RotorLbOptions {
    std::uint32_t racks = 0;
    std::uint32_t hosts_per_rack = 0;
    std::uint32_t slot = 0;  ///< packets a host may send, and receive, while a circuit is there
    bool two_hops = true;
    bool intra_rack_direct = false;
    Remainders remainders = Remainders::kAtRandom;
    /// By rack and rack, `racks` a row: does a circuit ever connect them? Packets are relayed only where one
    /// will take them on. Empty: all are connected.
    std::vector<std::uint8_t> connected{};
};

class RotorLb {
public:
    /// `seed` is that of what is drawn: remainders of fair shares, who accepts first, and what is offered
    /// where queues are many.
    RotorLb(const RotorLbOptions& options, std::uint64_t seed);

    /// Of the next `share`, where remainders go round-robin.
    void set_index(std::uint64_t index) { index_ = index; }
    /// After how many indices all that was shared out since `forget` would be shared out alike; nothing if
    /// something was drawn.
    [[nodiscard]] std::optional<std::uint64_t> period() const {
        return drew_ ? std::nullopt : std::optional(fair_.period());
    }
    void forget() {
        fair_.forget();
        drew_ = false;
    }

    /// Other traffic takes part of what `host` may send and receive in the next `share` of its rack, packets.
    void reserve(std::uint32_t host, std::uint32_t send, std::uint32_t receive) {
        reserved_[host] = {send, receive};
        any_reserved_ = true;
    }

    /// From now on circuits connect these racks (RotorLbOptions::connected).
    void set_connected(std::vector<std::uint8_t> connected) { options_.connected = std::move(connected); }

    /// Shares out the circuits between `x` and `y`, both directions; x = y: the uplink of x idles. Takes the
    /// granted packets out of the counts and appends the grants: those of one sender together, in the order
    /// second hop, direct, intra-rack, first hop, and first hops for one destination together. Adding first
    /// hops to `relayed` when they arrive is left to the caller, for they take time.
    void share(Rack x, Rack y, PacketCounts& own, PacketCounts& relayed, std::vector<Grant>& grants);

private:
    struct Offer {
        std::uint32_t from;  // in its rack
        std::uint32_t destination;
        std::uint32_t packets;
    };
    /// One direction of the circuit.
    struct Direction {
        Rack from = 0;
        Rack to = 0;
        std::vector<std::uint32_t> send;        // left to each host of `from`
        std::vector<std::uint32_t> receive;     // left to each host of `to`
        std::vector<std::uint32_t> second_hop;  // by sender, receiver
        std::vector<std::uint32_t> direct;      // by sender, receiver
        std::vector<std::uint32_t> intra_rack;  // by sender, receiver of the same rack
        std::vector<Offer> offers;              // those of one sender together
        std::vector<std::uint32_t> accepted;    // by offer, receiver
    };

    struct Group {
        std::uint32_t number = 0;
        std::uint32_t end = 0;  ///< in order_
    };
    struct Reserved {
        std::uint32_t send = 0;
        std::uint32_t receive = 0;
    };

    [[nodiscard]] std::uint32_t host(Rack rack, std::uint32_t port) const {
        return rack * options_.hosts_per_rack + port;
    }
    void open(Direction& direction, Rack from, Rack to);
    void release(Rack rack);
    void grant_relayed(Direction& direction, PacketCounts& relayed);
    void grant_direct(Direction& direction, PacketCounts& own);
    void grant_intra_rack(Direction& direction, Span<std::uint32_t> receive, PacketCounts& own);
    void fill_demands(Rack from, Rack to, const PacketCounts& own);
    void offer(Direction& direction, const PacketCounts& own);
    void offer_one_of_each(Direction& direction, std::uint32_t port, const PacketCounts& own);
    [[nodiscard]] bool is_offered(const Direction& direction, std::uint32_t destination) const;
    void group_offers(const Direction& direction);
    void drop_empty_offers();
    void accept(Direction& direction, const PacketCounts& own, const PacketCounts& relayed);
    [[nodiscard]] std::uint32_t first_receiver();
    [[nodiscard]] std::uint32_t accept_at(Direction& direction, std::uint32_t port, std::uint32_t receivers,
                                          const PacketCounts& own, const PacketCounts& relayed);
    void commit(const Direction& direction, PacketCounts& own, std::vector<Grant>& grants) const;

    RotorLbOptions options_;
    std::uint32_t second_hop_limit_;  // of a pair of hosts
    std::uint32_t relay_limit_;       // of packets a host holds for one destination
    FairShare fair_;
    RandomStream random_;
    std::vector<Reserved> reserved_;  // by host
    bool any_reserved_ = false;       // ever
    std::uint64_t index_ = 0;
    bool drew_ = false;  // since `forget`
    Direction out_;
    Direction back_;

    // Scratch.
    std::vector<std::uint32_t> demands_;
    std::vector<std::uint32_t> shares_;
    std::vector<std::uint32_t> group_shares_;
    std::vector<std::uint32_t> order_;  // of offers with something left, those for one destination together
    std::vector<std::uint32_t> left_;   // of them, packets
    bool is_some_empty_ = false;        // of them
    std::vector<Group> groups_;         // of offers for one destination
    std::vector<std::uint32_t> taken_;  // by number of a group, receiver
    std::vector<std::uint32_t> group_of_;  // by destination, from 1; 0: none. All 0 between calls
};

}  // namespace astrolabe::network::rotor
