/// What the messages of the fluid engine wait for, by resource (resources.hpp): kept only where someone asks.
///
/// Model. From when a message is first of its connection to its last bit, at each instant,
///
///     circuits         no circuit is up, and no byte of it is sent yet; or there is no route
///     class of link    its connection's bottleneck: a full link on which no connection has more (max-min)
///     transport        the connection's own cap limits its rate
///
/// then to delivery its path's latency, and what transport terms add to that as transport. Between the slices
/// of a message over a circuit that comes and goes it is the rate of the bottleneck that makes one slice too
/// short, so that time is the bottleneck's.
///
/// Cost: O(1) at each change of a connection's rate and each message; memory 8 bytes for each resource, of
/// every connection and of every message served and not delivered.
#pragma once

#include "flow_rates.hpp"

#include <cstdint>
#include <span>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/resources.hpp>

namespace astrolabe::network {

class DelayLedger {
public:
    /// Both must outlive it.
    DelayLedger(const Resources& resources, const FlowRates& rates)
        : resources_(resources),
          rates_(rates) {}

    /// A message of the connection is first now.
    void begin(std::uint32_t connection, Time now);
    /// What limits the connection may have changed now.
    void change(std::uint32_t connection, Time now);
    /// The last bit of the first message leaves now.
    void complete(std::uint32_t connection, std::uint32_t message, Time now);
    /// A message without bytes needs no service.
    void pass(std::uint32_t message);
    /// What is served arrives after `latency` of the path and `more`.
    void launch(std::uint32_t message, Time latency, Time more);

    /// Adds what the message waited for; returns how much followed the last bit.
    Time add(std::uint32_t message, std::span<Time> times) const;

private:
    /// Of the message that is served.
    struct Account {
        Time since;       ///< up to here times are known
        Time circuit_up;  ///< until then it waits for circuits
        ResourceId limit;
        bool has_begun = false;
    };

    void open(std::uint32_t connection, Time now);
    void close(std::uint32_t connection, Time now);
    [[nodiscard]] std::span<Time> times_of(std::vector<Time>& times, std::uint32_t number);

    const Resources& resources_;
    const FlowRates& rates_;
    std::vector<Account> accounts_;    // by connection
    std::vector<Time> of_connection_;  // by connection and resource
    std::vector<Time> of_message_;     // by message and resource
    std::vector<Time> tails_;          // by message
};

}  // namespace astrolabe::network
