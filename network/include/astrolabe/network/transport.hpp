/// What an engine does to a message beside moving its payload, as far as its time can be estimated without
/// running it (experiment/src/explain/transport_estimate.hpp).
///
/// An engine describes itself by one value; what it leaves out has the value that is initial here: those of
/// an engine that carries payload at the rates of links shared with others, and nothing more.
#pragma once

#include <cstdint>
#include <optional>

#include <astrolabe/core/units.hpp>

namespace astrolabe::network {

struct Transport {
    bool shares_links = true;  ///< messages on one link take its rate together
    bool has_latency = true;

    Bytes payload;                ///< of a full packet; 0: no packets
    Bytes header;                 ///< of a packet on the wire, beside its payload
    Bytes message_header;         ///< in front of every message, as payload of its packets
    Bytes acknowledgement;        ///< on the wire; 0: none is sent
    double acknowledged = 1;      ///< packets for each acknowledgement
    bool stores_packets = false;  ///< a node sends a packet on when all of it has arrived

    std::optional<Bytes> window;          ///< most payload of a pair that is not acknowledged
    bool window_counts_packets = false;   ///< so that a short packet takes as much of it as a full one
    std::optional<Bytes> initial_window;  ///< of a connection that starts; doubles every round trip
    bool has_handshake = false;           ///< a connection starts with a round trip
    bool connects_messages = false;  ///< every message has a connection of its own, not every pair of hosts

    /// What finds no room in the memory of a switch is lost, and sent again after `timeout`.
    bool loses_packets = false;
    Time timeout;
    /// Part of a switch's memory that one busy port may take; 0: memory over the number of ports.
    double memory_share = 0;

    bool has_queues = false;      ///< bytes for a busy receiver wait in switches, and their sender goes on
    bool sprays_packets = false;  ///< where paths are sprayed, each packet takes one of them at random
    bool keeps_to_cable = false;  ///< a host with several cables sends a burst on one of them
};

}  // namespace astrolabe::network
