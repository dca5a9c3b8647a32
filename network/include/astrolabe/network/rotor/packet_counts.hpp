/// How many packets wait at each host for each final destination: what RotorLB shares out.
///
/// Memory: 16 bytes per possible destination of a host that ever had one.
/// Complexity: every operation O(1); a host's destinations with packets are listed, in an order that depends
/// on the history only. Counts for the hosts of a rack are neighbours in memory. C++17, for the ns-3 module.
#pragma once

#include <cstdint>
#include <vector>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/containers/span.hpp>

namespace astrolabe::network::rotor {

class PacketCounts {
public:
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
        if (at.packets.empty()) {
            at.packets.resize(hosts_.size(), 0);
            at.place.resize(hosts_.size());
        }
        if (at.packets[destination] == 0) {
            at.place[destination] = static_cast<std::uint32_t>(at.destinations.size());
            at.destinations.push_back(destination);
        }
        at.packets[destination] += packets;
        of_rack_[host / hosts_per_rack_] += packets;
        total_ += packets;
    }

    /// Precondition: at least as many wait.
    void take(std::uint32_t host, std::uint32_t destination, std::uint64_t packets) {
        if (packets == 0) {
            return;
        }
        Host& at = hosts_[host];
        ASTROLABE_ASSERT((*this)(host, destination) >= packets, "only what waits is taken");
        of_rack_[host / hosts_per_rack_] -= packets;
        total_ -= packets;
        at.packets[destination] -= packets;
        if (at.packets[destination] == 0) {
            const std::uint32_t last = at.destinations.back();
            at.destinations[at.place[destination]] = last;
            at.place[last] = at.place[destination];
            at.destinations.pop_back();
        }
    }

    /// The counts at `host` for `destination` and its neighbours will be asked for: from memory into the
    /// cache.
    void prefetch(std::uint32_t host, std::uint32_t destination) const {
        if (const Host& at = hosts_[host]; !at.packets.empty()) {
            __builtin_prefetch(&at.packets[destination]);
        }
    }
    [[nodiscard]] std::uint64_t operator()(std::uint32_t host, std::uint32_t destination) const {
        const Host& at = hosts_[host];
        return at.packets.empty() ? 0 : at.packets[destination];
    }
    /// By destination, those of `host`; empty if it never had any.
    [[nodiscard]] Span<const std::uint64_t> of_host(std::uint32_t host) const { return hosts_[host].packets; }
    /// Those for which packets wait at `host`.
    [[nodiscard]] Span<const std::uint32_t> destinations(std::uint32_t host) const {
        return hosts_[host].destinations;
    }
    [[nodiscard]] std::uint64_t of_rack(std::uint32_t rack) const { return of_rack_[rack]; }
    [[nodiscard]] std::uint64_t total() const { return total_; }

private:
    struct Host {
        std::vector<std::uint32_t> destinations;
        std::vector<std::uint64_t> packets;  // by destination
        std::vector<std::uint32_t> place;    // by destination with packets, in `destinations`
    };

    std::uint32_t hosts_per_rack_;
    std::vector<Host> hosts_;
    std::vector<std::uint64_t> of_rack_;
    std::uint64_t total_ = 0;
};

}  // namespace astrolabe::network::rotor
