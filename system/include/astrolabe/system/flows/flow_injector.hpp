/// Sends flows over a network at their times, beside whatever else uses it.
///
/// A flow with a start is handed to the backend in that picosecond, those of one instant as one batch, in the
/// order of the stream; a flow that waits for a trigger is sent in the instant of the delivery that fires it.
/// A flow is delivered when the backend notifies its last byte.
///
/// Flows from one host to another are messages of one pair and class, so a backend delivers them in the order
/// sent: they share one connection. Where many flows have the same pair, a short one waits for a long one.
///
/// Memory: 64 bytes for every flow in flight; one flow of the stream is read ahead. O(1) for each flow beside
/// what the backend does.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <astrolabe/network/backend.hpp>
#include <astrolabe/system/flows/flow.hpp>

namespace astrolabe::system {

/// A flow that has arrived.
struct DeliveredFlow {
    network::HostId source;
    network::HostId destination;
    Bytes size;
    Time start;
    Time delivered;
};

class FlowObserver {
public:
    /// In order of delivery.
    virtual void flow_delivered(const DeliveredFlow& flow) = 0;

protected:
    ~FlowObserver() = default;
};

/// A flow that was sent and has not arrived.
struct UnfinishedFlow {
    network::HostId source;
    network::HostId destination;
    Bytes size;
    Time start;
};

class FlowInjector final : private network::NotificationHandler {
public:
    /// `hosts[i]` is the host of number i. All must outlive the injector, and nothing has run on `backend`.
    /// `label` is that of the messages.
    FlowInjector(const FlowTraffic& traffic, const std::vector<network::HostId>& hosts,
                 network::NetworkBackend& backend, FlowObserver& observer, std::uint32_t label);

    /// Sends what starts at once and sets the timer of what follows. Once, before the backend runs.
    void begin();
    /// No flow starts any more; those in flight go on.
    void end() { has_ended_ = true; }

    [[nodiscard]] std::uint64_t started() const { return started_; }
    [[nodiscard]] std::uint64_t delivered() const { return delivered_; }
    [[nodiscard]] Bytes started_bytes() const { return started_bytes_; }
    [[nodiscard]] Bytes delivered_bytes() const { return delivered_bytes_; }
    [[nodiscard]] Time last_delivery() const { return last_delivery_; }
    /// Whether the run was ended at the traffic's time limit.
    [[nodiscard]] bool is_at_limit() const { return is_at_limit_; }
    /// Whether flows wait for triggers that did not fire, or there are more in the stream.
    [[nodiscard]] bool has_more() const { return next_.has_value() || waiting_ > 0; }
    /// At most `most` of those in flight, in the order they were started.
    [[nodiscard]] std::vector<UnfinishedFlow> unfinished(std::size_t most) const;

private:
    struct InFlight {
        Flow flow;
        std::uint64_t number = 0;  ///< counted from 1 in the order of starts; 0: none
    };

    void notify(std::uint64_t token) override;
    void start(Flow flow);
    void start_due();
    void deliver(std::size_t place);
    void signal(TriggerIndex trigger);
    void flush();

    const FlowTraffic& traffic_;
    const std::vector<network::HostId>& hosts_;
    network::NetworkBackend& backend_;
    FlowObserver& observer_;
    std::uint32_t label_;

    std::unique_ptr<FlowStream> stream_;
    std::optional<Flow> next_;
    std::vector<std::uint32_t> signals_left_;  // by trigger
    std::size_t waiting_;
    std::vector<InFlight> in_flight_;
    std::vector<std::size_t> free_;
    std::vector<network::Message> batch_;
    std::uint64_t started_ = 0;
    std::uint64_t delivered_ = 0;
    Bytes started_bytes_;
    Bytes delivered_bytes_;
    Time last_delivery_;
    bool has_ended_ = false;
    bool is_at_limit_ = false;
};

}  // namespace astrolabe::system
