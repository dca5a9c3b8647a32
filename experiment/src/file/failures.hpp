/// The section `failures` of an experiment: what fails or slows down of its network and its ranks, and when
/// (docs/models/failures.md).
///
///     failures:
///       detection: 1ms
///       events:
///         - {link: "leaf 0 - spine 1", at: 2ms, until: 5ms}
///         - {link: host-leaf, number: 0, rate: 0.5}
///         - {switch: spine 0, at: 1ms}
///         - {host: host 3, at: 1ms, until: 1500us}
///         - {rank: 5, speed: 0.5}
///       random:
///         - {links: leaf-spine, mean_time_between: 10ms, mean_time_to_repair: 1ms, until: 100ms}
///         - {switches: "spine *", number: 1}
///
/// Choices that are made for the network (algorithms, windows, a topology for the job) are made for it as it
/// is without failures.
///
/// Errors: names that fit nothing, numbers beyond what they fit, ranks that there are not, and times that are
/// out of order, each at its key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::experiment {

/// Exactly one of link, node and rank is given.
struct FailureEvent {
    std::optional<std::string> link;
    std::optional<std::string> of_switch;
    std::optional<std::string> host;
    std::optional<std::uint32_t> rank;
    std::optional<std::uint32_t> number;  ///< of what the name fits; unset: all
    std::optional<double> rate;           ///< of a link, unset: 0, it is down
    std::optional<double> speed;          ///< of a rank
    Time at;
    std::optional<Time> until;
};

struct RandomFailures {
    std::optional<std::string> links;
    std::optional<std::string> switches;
    std::optional<std::string> hosts;
    std::optional<std::uint32_t> number;  ///< of them fail once, at `at`
    std::optional<Time> mean_time_between;
    std::optional<Time> mean_time_to_repair;
    std::optional<double> rate;
    Time at;
    std::optional<Time> until;
    std::optional<std::uint64_t> seed;  ///< unset: that of the experiment
};

struct FailureKeys {
    Time detection;
    std::vector<FailureEvent> events;
    std::vector<RandomFailures> random;
};

[[nodiscard]] Schema<FailureKeys> failures_schema();

/// Of the fabric, which is there; `section` is where the keys were read.
void add_failures(Experiment& experiment, const FailureKeys& keys, const ConfigNode& section,
                  ReadContext& context);

}  // namespace astrolabe::experiment
