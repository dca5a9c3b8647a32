// A pair of hosts of a forwarder (forwarder.hpp) while the fluid engine runs ahead.
#pragma once

#include <cstddef>
#include <cstdint>

#include <astrolabe/core/containers/ring_queue.hpp>
#include <astrolabe/core/units.hpp>

namespace astrolabe::network {

struct ForwardingHop {
    static constexpr std::uint32_t kNone = 0xffffffffU;

    struct Message {
        std::uint64_t token = 0;
        Bytes size;
        Time end;  ///< of its service
        std::uint32_t sent_as = 0;
        bool ends = false;  ///< its delivery is notified
    };

    [[nodiscard]] Time delivery_at(Time end) const { return end == Time::max() ? end : end + latency; }
    [[nodiscard]] Time next_delivery() const {
        return messages.empty() ? Time::max() : delivery_at(messages.front().end);
    }
    void put(std::uint64_t token, Bytes size, Time end, std::uint32_t sent_as, bool ends) {
        Message& message = messages.add();
        message.token = token;
        message.size = size;
        message.end = end;
        message.sent_as = sent_as;
        message.ends = ends;
        if (ends) {
            endings.push(delivery_at(end));
        }
    }

    std::uint32_t connection = 0;
    std::uint32_t next = kNone;  ///< the hop that goes on from where this one leads
    Time latency;
    Time least_service;           ///< of what is still to be sent
    std::size_t on_wire = 0;      ///< of the messages, those first that were on the wire at the begin
    RingQueue<Message> messages;  ///< that have not arrived, in their order
    RingQueue<Time> endings;      ///< when those of them that end are delivered
};

}  // namespace astrolabe::network
