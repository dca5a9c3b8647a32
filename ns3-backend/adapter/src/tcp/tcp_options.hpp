// SPDX-License-Identifier: GPL-2.0-only
/// What can be chosen about the TCP backend, and whether a choice can be run.
///
/// Every option ends as a value of a documented ns-3 attribute (docs/models/tcp.md has the table with ns-3's
/// own default and why ours differs); `attributes` reaches all the others by name. Nothing is left for ns-3
/// to find wrong, because ns-3 ends the process when it does: `validation_errors` and `unsupported` report it
/// first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/fabric.hpp>

namespace astrolabe::ns3 {

enum class TcpVariant : std::uint8_t { kNewReno, kCubic, kDctcp };

/// What the packet memory of a switch (`network::Node::buffer`) means to one of its ports.
enum class BufferSharing : std::uint8_t {
    kPerPort,  ///< memory / ports for each, whatever the others use
    kShared    ///< any port may take any free byte
};

struct TcpOptions {
    /// Send and receive buffer of a connection: at most so much is in flight.
    Bytes window{500'000};
    /// Largest IP datagram.
    Bytes mtu{1500};
    TcpVariant variant = TcpVariant::kNewReno;
    /// Smallest retransmission timeout. Must exceed the longest time a packet may wait in queues, else
    /// packets that are only late are sent again: 127 windows of 0.5 MB in front of it make 5.1 ms at 100
    /// Gb/s. 10 ms is also what the DCTCP study ran with (Alizadeh et al., SIGCOMM 2010, section 4.1).
    Time min_rto{10'000'000'000};
    /// First timeout of an unanswered connection request; doubles with every try.
    Time connect_timeout{10'000'000'000};
    std::uint32_t initial_window = 10;  ///< segments
    /// Segments per acknowledgement; 1 acknowledges each at once.
    std::uint32_t delayed_ack = 1;
    /// How long an acknowledgement is held back when delayed_ack > 1.
    Time delayed_ack_timeout{50'000'000};
    /// The TCP timestamp option: 12 B in every segment. ns-3 stamps whole milliseconds and then measures
    /// round trips with the stamps, so the default goes without and measures exactly.
    bool timestamps = false;
    BufferSharing buffer_sharing = BufferSharing::kPerPort;
    /// An ECN-capable packet that finds more than this waiting at a switch port is marked. 65
    /// packets of 1500 B as in the DCTCP paper at 10 Gb/s (section 3.4).
    Bytes ecn_threshold{97'500};
    /// Length of the frame header in front of every message in the byte stream, part of the load, not of
    /// bytes_delivered.
    Bytes frame_header{16};
    std::uint64_t seed = 1;  ///< of ns-3's random streams
    /// ns-3 attributes by name, applied after everything above: {"ns3::TcpSocketBase::MinRto", "2ms"}.
    std::vector<std::pair<std::string, std::string>> attributes;

    /// TCP payload of a full segment: mtu less 20 B of IP, 20 B of TCP and 12 B of timestamp option if used.
    [[nodiscard]] Bytes segment_size() const { return mtu - Bytes(timestamps ? 52 : 40); }
};

struct OptionProblem {
    std::string key;      ///< member of TcpOptions
    std::string message;  ///< found and expected
    std::string hint;     ///< near names; may be empty
};

/// Everything out of range, in the order of the members. Empty: the options can be run.
[[nodiscard]] std::vector<OptionProblem> validation_errors(const TcpOptions& options);

/// Of options that are right: those with a value other than the default that change nothing, because what
/// they are for is not chosen.
[[nodiscard]] std::vector<OptionProblem> effect_errors(const TcpOptions& options);

/// Why the ns-3 attribute `name` ("ns3::TypeName::Attribute") cannot be set to `value`, with the nearest
/// names, or would do nothing; none if it can be. Does not need a backend.
[[nodiscard]] std::optional<std::string> attribute_problem(const std::string& name, const std::string& value);

/// Why TCP cannot run between these hosts, on whatever joins them: too many of them, or links over which a
/// frame of this size takes longer than its timers wait. O(links).
[[nodiscard]] std::optional<std::string> hosts_unsupported(const network::Fabric& fabric, Bytes frame);

/// Why the static fabric cannot be run over TCP, or none. Cheap: reads nodes and links once, and of named
/// paths those of one host.
[[nodiscard]] std::optional<std::string> unsupported(const network::Fabric& fabric,
                                                     const TcpOptions& options = {});

}  // namespace astrolabe::ns3
