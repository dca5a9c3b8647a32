/// Calls as a replay carries them out, one after another: what a trace without times says.
///
/// Calls and computations are issued in the order of the trace. A call is *asynchronous* if
///     overlap waited   some wait is for it (the rule of PARAM's replay)
///     overlap all      always
///     overlap none     never, and waits are passed over
/// and what is issued after one that is not waits for it; a wait is a computation of no duration. Calls of
/// one group are carried out one after another, as on the stream of a communicator. A call that nothing has
/// waited for at the end of its step is waited for there.
///
/// A step without computations takes no longer than its communication: the lower bound of a real one.
#pragma once

#include "../rank_graphs/rank_graphs.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/core/units.hpp>

namespace astrolabe::workload::pytorch {

/// Which calls are asynchronous.
enum class Overlap : std::uint8_t { kWaited, kAll, kNone };

class ReplayTasks {
public:
    ReplayTasks(RankGraphs& graphs, RankGraph& graph, Overlap overlap)
        : graphs_(graphs),
          graph_(graph),
          overlap_(overlap) {}

    /// What follows belongs to this iteration.
    void begin_step(std::int32_t iteration);
    /// The place of the task. `is_awaited`: some wait is for it.
    std::uint32_t call(RankTask task, bool is_awaited, std::optional<Time> not_before = std::nullopt);
    void wait(std::uint32_t task);
    std::uint32_t compute(std::string_view name, Time duration);
    void end_step();

private:
    void add_compute(std::uint32_t name, Time duration, const std::vector<std::uint32_t>& dependencies);

    RankGraphs& graphs_;
    RankGraph& graph_;
    Overlap overlap_;
    std::int32_t iteration_ = 0;
    std::optional<std::uint32_t> last_compute_;
    std::map<std::pair<TaskKind, std::uint32_t>, std::uint32_t> last_of_group_;
    std::set<std::uint32_t> pending_;  // calls that nothing has waited for
    std::optional<std::uint32_t> last_tick_;
    Time clock_;
};

}  // namespace astrolabe::workload::pytorch

namespace astrolabe {

template <>
struct EnumNames<workload::pytorch::Overlap> {
    using Value = workload::pytorch::Overlap;
    static constexpr std::array<std::pair<std::string_view, Value>, 3> kNames{
        {{"waited", Value::kWaited}, {"all", Value::kAll}, {"none", Value::kNone}}};
};

}  // namespace astrolabe
