/// throughput.csv: payload over time, on any backend.
///
/// Time is cut into intervals of length d from 0. Engines tell when messages are sent and when they have
/// arrived, not what flows in between: a message of S bytes sent at s that arrived at t counts evenly,
///     S · |[s, t] ∩ interval| / (t - s),
/// and whole to the interval that holds t, or ends with it, as `completed_bytes`. So intervals shorter than
/// messages take are smoothed, and messages that wait for others of their pair count while they wait. With B
/// the bytes of an interval,
///     share = 8 B / (d · Σ rates of the links out of hosts).
/// Intervals one after the other in which the same bytes flow and no message ends are one row; those without
/// any have none.
///
/// Memory: 80 bytes for each interval in which a message is sent or arrives. Time: O(log of these) a message.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include <astrolabe/experiment/results/output_folder.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/message_observer.hpp>

namespace astrolabe::experiment {

class ThroughputSeries final : public network::MessageObserver {
public:
    /// interval > 0
    ThroughputSeries(const network::Fabric& fabric, Time interval, OutputFile file);

    void message(const network::MessageRecord& record) override;

    /// Writes the rows and gives the file its name; nothing, or why it could not be written.
    [[nodiscard]] std::optional<Diagnostic> finish();

private:
    struct Interval {
        Bytes completed;
        double part = 0;   ///< bytes of messages that begin or end in it
        double whole = 0;  ///< more bytes of messages that flow all of this interval and the next ones
        std::int64_t messages = 0;  ///< more of these
    };

    /// `count` intervals from `number` on, with so many bytes each.
    void write_row(std::int64_t number, std::int64_t count, double bytes, Bytes completed);

    Time interval_;
    double bytes_at_full_rate_;  ///< of all hosts, in an interval
    std::map<std::int64_t, Interval> intervals_;
    OutputFile file_;
};

}  // namespace astrolabe::experiment
