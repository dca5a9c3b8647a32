/// Every message from sending to delivery, on any backend: a decorator that passes everything on and notes
/// when messages leave and arrive.
///
/// Cost: one virtual call more to send and one more to deliver; 52 bytes for every message outstanding at
/// once, none for those delivered. What happens in the simulation does not change.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <astrolabe/network/backend.hpp>

namespace astrolabe::network {

/// A delivered message.
struct MessageRecord {
    HostId source;
    HostId destination;
    Bytes size;
    Time sent;       ///< when it was handed to the backend
    Time delivered;  ///< when its receiver was notified
    std::uint32_t label = 0;
    std::uint8_t traffic_class = 0;
};

class MessageObserver {
public:
    /// In order of delivery, before the receiver is notified.
    virtual void message(const MessageRecord& record) = 0;

protected:
    ~MessageObserver() = default;
};

class ObservedBackend final : public NetworkBackend, private NotificationHandler {
public:
    /// Both must outlive it.
    ObservedBackend(NetworkBackend& backend, MessageObserver& observer)
        : backend_(backend),
          observer_(observer) {}

    [[nodiscard]] bool observe(PacketObserver& observer) override { return backend_.observe(observer); }
    [[nodiscard]] LinkReports observe_links(LinkObserver& observer) override {
        return backend_.observe_links(observer);
    }
    [[nodiscard]] bool account_delays(const Resources& resources) override {
        return backend_.account_delays(resources);
    }
    Time add_delays(std::span<Time> times) const override { return backend_.add_delays(times); }
    [[nodiscard]] std::optional<Bytes> carried(LinkId link) const override { return backend_.carried(link); }
    [[nodiscard]] Time now() const override { return backend_.now(); }
    void send(const Message& message) override;
    void send_batch(std::span<const Message> messages) override;
    void schedule(Time delay, NotificationHandler& handler, std::uint64_t token) override {
        backend_.schedule(delay, handler, token);
    }
    void run() override { backend_.run(); }
    void stop() override { backend_.stop(); }
    [[nodiscard]] std::uint64_t outstanding_messages() const override {
        return backend_.outstanding_messages();
    }
    [[nodiscard]] std::vector<OutstandingMessage> describe_outstanding(std::size_t limit) const override {
        return backend_.describe_outstanding(limit);
    }
    [[nodiscard]] std::string explain_stall() const override { return backend_.explain_stall(); }
    [[nodiscard]] std::uint64_t events_processed() const override { return backend_.events_processed(); }
    [[nodiscard]] NetworkStatistics statistics() const override { return backend_.statistics(); }

private:
    struct UnderWay {
        Message message;
        Time sent;
    };

    void notify(std::uint64_t token) override;
    /// The message as the backend gets it.
    [[nodiscard]] Message noted(const Message& message);

    NetworkBackend& backend_;
    MessageObserver& observer_;
    std::vector<UnderWay> under_way_;  ///< by token; places of delivered messages are used again
    std::vector<std::uint32_t> free_;
    std::vector<Message> batch_;
};

}  // namespace astrolabe::network
