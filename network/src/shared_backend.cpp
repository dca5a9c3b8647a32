#include <astrolabe/network/shared_backend.hpp>

namespace astrolabe::network {

std::uint64_t SharedBackend::keep(Addressee addressee) {
    if (free_.empty()) {
        free_.push_back(addressees_.size());
        addressees_.emplace_back();
    }
    const std::uint64_t place = free_.back();
    free_.pop_back();
    addressees_[place] = addressee;
    return place;
}

Message SharedBackend::kept(const Message& message) {
    Message passed = message;
    passed.token = keep({message.on_delivered, message.token, message.size});
    passed.on_delivered = &deliveries_;
    ++messages_;
    return passed;
}

void SharedBackend::send(const Message& message) {
    backend_.send(kept(message));
}

void SharedBackend::send_batch(std::span<const Message> messages) {
    batch_.clear();
    for (const Message& message : messages) {
        batch_.push_back(kept(message));
    }
    backend_.send_batch(batch_);
}

void SharedBackend::schedule(Time delay, NotificationHandler& handler, std::uint64_t token) {
    ++timers_;
    backend_.schedule(delay, expirations_, keep({&handler, token}));
}

void SharedBackend::run() {
    if (ends_ == Ends::kWithAll || messages_ + timers_ > 0) {
        backend_.run();
    }
}

void SharedBackend::pass_on(std::uint64_t place) {
    const Addressee addressee = addressees_[place];
    free_.push_back(place);
    ++notifications_;
    addressee.handler->notify(addressee.token);
    if (messages_ + timers_ > 0 || ends_ == Ends::kWithAll) {
        return;
    }
    if (ends_ == Ends::kWithOwn) {
        backend_.stop();
    } else {
        idle_.handler->notify(idle_.token);
    }
}

void SharedBackend::Deliveries::notify(std::uint64_t token) {
    --shared_.messages_;
    shared_.bytes_delivered_ += shared_.addressees_[token].size;
    shared_.pass_on(token);
}

void SharedBackend::Expirations::notify(std::uint64_t token) {
    --shared_.timers_;
    shared_.pass_on(token);
}

TimerPurpose SharedBackend::Expirations::purpose(std::uint64_t token) const {
    const Addressee& addressee = shared_.addressees_[token];
    return addressee.handler->purpose(addressee.token);
}

}  // namespace astrolabe::network
