/// How far a run is while it goes on, and what limits it at the moment.
///
/// Model. *Done* is the share d of the work that is behind: of the payload that has arrived on packet
/// engines, whose cost follows bytes, and of the messages on others, whose cost follows messages; of flows
/// that end at a time, the share of that time. With w the wall time of this simulation so far, the time left
/// is estimated as
///
///     w · (1 - d) / d           once d is 2 % and w half a second; before, it is unknown.
///
/// At ends of iterations d is that of the iterations, which all cost the same; in between it is as good as
/// "every byte (message) costs the same".
///
/// The *bottleneck* is that of the instant of the sample, except what links of packet engines carried, which
/// is since the sample before:
///
///     compute      every rank that has something left to do computes, or nothing is in flight and some do
///     links        full links: of flow engines the bottlenecks of those pairs whose rate they limit; of
///     packet
///                  engines links that were busy for nine tenths of the time, or where none was, the longest
///                  queue
///     host_ports   the same, of links with a host at one end
///     circuits     more waits for circuits than for links
///     transport    packets are in flight, and no link is busy and no queue filled: windows,
///     acknowledgements,
///                  propagation
///     latency      messages of a flow engine are in flight, and no link limits them (but a window may, where
///                  the engine has such terms)
///     end_points   nothing is in flight and nobody computes: copies, launches and requests of messages
///     network      messages are in flight on an engine whose links are not shared
///
/// It is a sample, a few times a second of the wall, and no account of the run: that is the critical path.
///
/// Cost: at most one hundredth of the run. A sample takes O(ranks + pairs of hosts + links), and one that
/// took t is followed by none for 100 t.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <astrolabe/core/units.hpp>

namespace astrolabe::experiment {

enum class BottleneckKind : std::uint8_t {
    kUnknown,
    kCompute,
    kLinks,
    kHostPorts,
    kCircuits,
    kTransport,
    kLatency,
    kEndPoints,
    kNetwork
};

struct Bottleneck {
    BottleneckKind kind = BottleneckKind::kUnknown;
    std::vector<std::string>
        links{};                ///< of links and host ports those that limit most, as links.csv has them
    std::size_t all_links = 0;  ///< as many limit anything
    bool are_full = false;      ///< or else have the longest queues
    std::uint64_t flows = 0;    ///< of flow engines: pairs of hosts that they limit
    Bytes waiting{};            ///< of packet engines: in front of the first
};

struct Progress {
    std::size_t simulation =
        1;             ///< of this run: 2 where folding was given up, more of jobs that run alone too
    Time simulated{};  ///< by this simulation
    int finished_iterations = 0;
    int iterations = 0;  ///< 0: there are none (flows, several jobs)
    Bytes delivered{};
    std::uint64_t events = 0;
    std::optional<double> done{};          ///< 0 to 1, of this simulation
    double simulation_seconds = 0;         ///< wall, of this simulation
    double wall_seconds = 0;               ///< of all
    std::optional<double> left_seconds{};  ///< of this simulation
    std::size_t computing_ranks = 0;
    std::size_t waiting_ranks = 0;
    Bottleneck bottleneck{};
    std::string jobs{};  ///< of several jobs how far each is, for people; else empty
};

/// Called a few times a second while a simulation runs, and when it has ended.
using ProgressObserver = std::function<void(const Progress&)>;

[[nodiscard]] std::string_view name_of(BottleneckKind kind);
/// "links leaf 0 -> spine 1 and 7 more are full"
[[nodiscard]] std::string bottleneck_text(const Progress& progress);
/// "1.2 ms simulated, 1 of 4 iterations, 31.0 %, 1.2e+06 events/s, 14 s left; link a -> b is full"; the rate
/// is given.
[[nodiscard]] std::string progress_text(const Progress& progress, double events_per_second);
/// What docs/tools.md says of a line; state, command and name are the caller's.
[[nodiscard]] nlohmann::ordered_json progress_json(const Progress& progress, double events_per_second);

}  // namespace astrolabe::experiment
