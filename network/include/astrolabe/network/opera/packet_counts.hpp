/// How many packets wait at each host for each final destination: what RotorLB shares out.
///
/// Memory: 16 bytes per pair with packets, and 4 per possible destination of a host that ever had one.
/// Complexity: every operation O(1); a host's destinations with packets are listed, in an order that depends
/// on the history only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network::opera {

class PacketCounts {
public:
    struct Waiting {
        std::uint32_t destination;
        std::uint64_t packets;  ///< > 0

        friend bool operator==(const Waiting&, const Waiting&) = default;
    };

    PacketCounts(std::uint32_t racks, std::uint32_t hosts_per_rack)
        : hosts_per_rack_(hosts_per_rack),
          hosts_(std::size_t{racks} * hosts_per_rack),
          of_rack_(racks, 0) {}

    /// `packets` may be 0.
    void add(std::uint32_t host, std::uint32_t destination, std::uint64_t packets) {
        if (packets == 0) {
            return;
        }
        Host& at = hosts_[host];
        if (at.number_of.empty()) {
            at.number_of.resize(hosts_.size(), 0);
        }
        std::uint32_t& number = at.number_of[destination];
        if (number == 0) {
            at.waiting.push_back({destination, 0});
            number = static_cast<std::uint32_t>(at.waiting.size());
        }
        at.waiting[number - 1].packets += packets;
        of_rack_[host / hosts_per_rack_] += packets;
        total_ += packets;
    }

    /// Precondition: at least as many wait.
    void take(std::uint32_t host, std::uint32_t destination, std::uint64_t packets) {
        if (packets == 0) {
            return;
        }
        Host& at = hosts_[host];
        const std::uint32_t number = at.number_of.empty() ? 0 : at.number_of[destination];
        ASTROLABE_ASSERT(number > 0 && at.waiting[number - 1].packets >= packets, "only what waits is taken");
        of_rack_[host / hosts_per_rack_] -= packets;
        total_ -= packets;
        at.waiting[number - 1].packets -= packets;
        if (at.waiting[number - 1].packets == 0) {
            const Waiting last = at.waiting.back();
            at.waiting[number - 1] = last;
            at.number_of[last.destination] = number;
            at.number_of[destination] = 0;
            at.waiting.pop_back();
        }
    }

    [[nodiscard]] std::uint64_t operator()(std::uint32_t host, std::uint32_t destination) const {
        const Host& at = hosts_[host];
        const std::uint32_t number = at.number_of.empty() ? 0 : at.number_of[destination];
        return number == 0 ? 0 : at.waiting[number - 1].packets;
    }
    /// Destinations for which packets wait at `host`.
    [[nodiscard]] std::span<const Waiting> at(std::uint32_t host) const { return hosts_[host].waiting; }
    [[nodiscard]] std::uint64_t of_rack(std::uint32_t rack) const { return of_rack_[rack]; }
    [[nodiscard]] std::uint64_t total() const { return total_; }

private:
    struct Host {
        std::vector<Waiting> waiting;
        std::vector<std::uint32_t> number_of;  // by destination, in `waiting` from 1; 0: none
    };

    std::uint32_t hosts_per_rack_;
    std::vector<Host> hosts_;
    std::vector<std::uint64_t> of_rack_;
    std::uint64_t total_ = 0;
};

}  // namespace astrolabe::network::opera
