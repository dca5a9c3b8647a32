/// A backend that several use at once, as one of them sees it.
///
/// Everything is passed on. What this one sent and set is counted, so that it sees an end of its own: its
/// `outstanding_messages` are its own, and `run` returns, at the end of the instant, once nothing of it is in
/// flight and no timer of it is set, whatever the others have still to send. The first to run is the only one
/// that runs; the others send and are notified meanwhile.
///
/// One that starts and ends by itself while others go on has a clock of its own, which starts at 0 when it is
/// made, and names who is notified, at the end of a notification, that nothing of it is outstanding any more.
/// What it does then may make something outstanding again, and what else happens at the instant is still to
/// come; its `run` is never called.
///
/// Statistics, links and what explains a stall are those of all. Messages of one (source, destination, class)
/// are delivered in order whoever sent them.
///
/// Cost: one virtual call more to send, to deliver and for a timer; 24 bytes for each in flight.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <astrolabe/network/backend.hpp>

namespace astrolabe::network {

class SharedBackend final : public NetworkBackend {
public:
    /// When `run` returns, beside when it was stopped and when nothing can happen any more.
    enum class Ends : std::uint8_t {
        kWithOwn,  ///< once nothing of this one is outstanding
        kWithAll,  ///< once nothing of anyone is
        kNotified  ///< it is never called
    };

    /// `backend` must outlive it.
    SharedBackend(NetworkBackend& backend, Ends ends)
        : backend_(backend),
          ends_(ends) {}
    /// One of several that start and end by themselves: `idle` is notified with `token`. Both must outlive
    /// it.
    SharedBackend(NetworkBackend& backend, NotificationHandler& idle, std::uint64_t token)
        : backend_(backend),
          ends_(Ends::kNotified),
          start_(backend.now()),
          idle_{&idle, token} {}

    [[nodiscard]] bool observe(PacketObserver& observer) override { return backend_.observe(observer); }
    [[nodiscard]] LinkReports observe_links(LinkObserver& observer) override {
        return backend_.observe_links(observer);
    }
    [[nodiscard]] bool account_delays(const Resources& resources) override {
        return backend_.account_delays(resources);
    }
    Time add_delays(std::span<Time> times) const override { return backend_.add_delays(times); }
    [[nodiscard]] std::optional<Bytes> carried(LinkId link) const override { return backend_.carried(link); }
    [[nodiscard]] Time now() const override { return backend_.now() - start_; }
    void send(const Message& message) override;
    void send_batch(std::span<const Message> messages) override;
    void schedule(Time delay, NotificationHandler& handler, std::uint64_t token) override;
    void run() override;
    void stop() override { backend_.stop(); }
    [[nodiscard]] std::uint64_t outstanding_messages() const override { return messages_; }
    /// Of all.
    [[nodiscard]] std::vector<OutstandingMessage> describe_outstanding(std::size_t limit) const override {
        return backend_.describe_outstanding(limit);
    }
    [[nodiscard]] std::string explain_stall() const override { return backend_.explain_stall(); }
    [[nodiscard]] std::uint64_t events_processed() const override { return backend_.events_processed(); }
    [[nodiscard]] NetworkStatistics statistics() const override { return backend_.statistics(); }

    /// Timers that are set and have not fired.
    [[nodiscard]] std::uint64_t outstanding_timers() const { return timers_; }
    /// Payload of this one that has arrived.
    [[nodiscard]] Bytes bytes_delivered() const override { return bytes_delivered_; }
    /// How often this one was notified.
    [[nodiscard]] std::uint64_t notifications() const { return notifications_; }

private:
    struct Addressee {
        NotificationHandler* handler = nullptr;
        std::uint64_t token = 0;
        Bytes size{};  ///< of a message
    };
    class Deliveries final : public NotificationHandler {
    public:
        explicit Deliveries(SharedBackend& shared)
            : shared_(shared) {}
        void notify(std::uint64_t token) override;

    private:
        SharedBackend& shared_;
    };
    class Expirations final : public NotificationHandler {
    public:
        explicit Expirations(SharedBackend& shared)
            : shared_(shared) {}
        void notify(std::uint64_t token) override;
        [[nodiscard]] TimerPurpose purpose(std::uint64_t token) const override;

    private:
        SharedBackend& shared_;
    };

    [[nodiscard]] std::uint64_t keep(Addressee addressee);
    [[nodiscard]] Message kept(const Message& message);
    void pass_on(std::uint64_t place);

    NetworkBackend& backend_;
    Ends ends_;
    Time start_{};
    Addressee idle_;
    Deliveries deliveries_{*this};
    Expirations expirations_{*this};
    std::vector<Addressee> addressees_;
    std::vector<std::uint64_t> free_;
    std::vector<Message> batch_;
    Bytes bytes_delivered_{};
    std::uint64_t messages_ = 0;
    std::uint64_t timers_ = 0;
    std::uint64_t notifications_ = 0;
};

}  // namespace astrolabe::network
