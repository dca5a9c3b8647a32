/// Flows: messages between hosts that start at times of their own, and the contract between those who make
/// them (the workload layer) and the one who sends them (flow_injector.hpp).
///
/// A flow is one message of the network. It starts at a given time, or when a trigger fires. A trigger counts
/// signals, one for every delivery of a flow that names it, and fires once, when it has counted `signals`:
/// 1 of a chain of flows, n where one of them waits for n others (a barrier).
///
/// Sources and destinations are numbered from 0; whoever sends the flows says which host each number is.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include <astrolabe/core/units.hpp>

namespace astrolabe::system {

using TriggerIndex = std::uint32_t;
inline constexpr TriggerIndex kNoTrigger = std::numeric_limits<TriggerIndex>::max();

struct Flow {
    std::uint32_t source = 0;
    std::uint32_t destination = 0;  ///< another one
    Bytes size;                     ///< >= 1
    Time start;                     ///< of flows that wait for a trigger: 0
    std::array<TriggerIndex, 2> signals{kNoTrigger, kNoTrigger};  ///< to whom its delivery is a signal
};

struct FlowTrigger {
    std::uint32_t signals = 1;         ///< that it waits for, >= 1
    std::vector<std::uint32_t> flows;  ///< that it starts, by place in `FlowTraffic::waiting`
};

/// Flows one after another, so that memory does not grow with their number.
class FlowStream {
public:
    virtual ~FlowStream() = default;
    /// The next one, whose start is not before that of the one before; nothing after the last.
    [[nodiscard]] virtual std::optional<Flow> next() = 0;
};

/// All flows of a run. Every flow in `waiting` is started by exactly one trigger, which fires if all flows
/// before it are delivered.
struct FlowTraffic {
    std::function<std::unique_ptr<FlowStream>()> stream;  ///< from the beginning, every time it is called
    std::vector<FlowTrigger> triggers;
    std::vector<Flow> waiting;
    Time time_limit = Time::max();   ///< when the run ends, whatever has not arrived
    std::vector<Bytes> size_limits;  ///< ascending: the largest size of each size class but the last
    std::uint8_t traffic_class = 0;

    /// What is expected, for estimates of cost; unknown (0) of flows that never end.
    double expected_flows = 0;
    double expected_bytes = 0;
};

}  // namespace astrolabe::system
