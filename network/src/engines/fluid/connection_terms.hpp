/// Transport terms (transport_terms.hpp) of the connections of a fluid engine, and what they remember: when a
/// connection was last busy, what it delivers last, and how many messages are under way to a host.
///
/// Connections are numbered 0, 1, … as they are added. All O(1) but adding, which asks for two routes.
#pragma once

#include "transport_terms.hpp"

#include <vector>

#include <astrolabe/network/link_classes.hpp>

namespace astrolabe::network {

class ConnectionTerms {
public:
    /// `classes` must outlive it; terms without problems.
    ConnectionTerms(const TransportTerms& terms, const LinkClasses& classes)
        : terms_(terms),
          classes_(classes),
          entering_(classes.size(), 0.0) {}
    ConnectionTerms(const ConnectionTerms&) = delete;
    ConnectionTerms& operator=(const ConnectionTerms&) = delete;

    /// `route` from source to destination is not empty, or nothing else is ever asked.
    void add(HostId source, HostId destination, const ClassRoute& route);

    /// Greatest rate of a connection in bit/s; may be infinite.
    [[nodiscard]] double cap(std::uint32_t connection) const { return connections_[connection].path.cap(); }
    /// Longest time from the last bit served to delivery.
    [[nodiscard]] Time longest_delay(std::uint32_t connection) const;
    /// Of its path, whatever the size of a message; 0 where the terms leave it out.
    [[nodiscard]] Time latency(std::uint32_t connection) const {
        return connections_[connection].path.latency();
    }
    [[nodiscard]] Bytes wire(std::uint32_t connection, Bytes size) const {
        return connections_[connection].path.wire(size);
    }
    /// How long a message waits that finds the connection idle; from now on the connection is busy.
    [[nodiscard]] Time start(std::uint32_t connection, Bytes size, Time now);
    /// The connection has nothing left to serve.
    void end(std::uint32_t connection, Time now);
    /// From now, when a message was served, to its delivery: never before one of its connection served
    /// earlier.
    [[nodiscard]] Time deliver(std::uint32_t connection, Bytes size, Time now);

private:
    struct Connection {
        PathTerms path;
        std::uint32_t last_class = 0;  ///< of links, into the destination
        double last_load = 0.0;
        bool was_busy = false;
        Time idle_since;
        Time last_delivery;
    };

    TransportTerms terms_;
    const LinkClasses& classes_;
    std::vector<Connection> connections_;
    std::vector<double> entering_;  ///< connections under way over a link of the class, by class
};

}  // namespace astrolabe::network
