#include <astrolabe/network/message_observer.hpp>

namespace astrolabe::network {

Message ObservedBackend::noted(const Message& message) {
    if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(under_way_.size()));
        under_way_.emplace_back();
    }
    const std::uint32_t place = free_.back();
    free_.pop_back();
    under_way_[place] = {message, backend_.now()};
    Message passed = message;
    passed.on_delivered = this;
    passed.token = place;
    return passed;
}

void ObservedBackend::send(const Message& message) {
    backend_.send(noted(message));
}

void ObservedBackend::send_batch(std::span<const Message> messages) {
    batch_.clear();
    for (const Message& message : messages) {
        batch_.push_back(noted(message));
    }
    backend_.send_batch(batch_);
}

void ObservedBackend::notify(std::uint64_t token) {
    const UnderWay arrived = under_way_[token];
    free_.push_back(static_cast<std::uint32_t>(token));
    const Message& message = arrived.message;
    observer_.message({message.source, message.destination, message.size, arrived.sent, backend_.now(),
                       message.label, message.traffic_class});
    message.on_delivered->notify(message.token);
}

}  // namespace astrolabe::network
