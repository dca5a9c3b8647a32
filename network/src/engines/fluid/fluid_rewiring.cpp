// What the fluid engine does where circuits move with the demand.
#include "fluid_backend.hpp"
#include "rounding.hpp"

#include <algorithm>

namespace astrolabe::network {

RewiredRates::Sent FluidBackend::sent_of() const {
    return [this](std::uint32_t connection) { return served_so_far(connections_[connection]); };
}

void FluidBackend::find_route(std::uint32_t index) {
    rewired_->find_route(index, now_, sent_of());
    Connection& connection = connections_[index];
    connection.latency = rewired_->latency(index);
    if (connection.state == State::kIdle && !rewired_->has_route(index)) {
        connection.state = State::kNowhere;
    }
}

void FluidBackend::settle_rewired() {
    for (const std::uint32_t index : rewired_->update()) {
        Connection& connection = connections_[index];
        connection.latency = rewired_->latency(index);
        if (const double rate = snapped(rewired_->rate(index)); rate != connection.rate) {
            change_rate(index, rate);
        }
    }
}

std::vector<WaitingPair> FluidBackend::waiting_pairs() const {
    std::vector<WaitingPair> waiting;
    for (const std::uint32_t index : rewired_->active()) {
        const Connection& connection = connections_[index];
        Bytes bytes = remaining_at_head(connection) - messages_.front(connection.queue).size;
        messages_.for_each(connection.queue,
                           [&bytes](const MessagePool::Item& message) { bytes += message.size; });
        waiting.push_back({connection.source, connection.destination, bytes});
    }
    return waiting;
}

Time FluidBackend::act_on_circuits(Time next_event) {
    const Time turn = rewired_->next_instant(now_);
    if (turn == now_) {
        ++events_;
        rewired_->act(
            now_, [this] { return waiting_pairs(); }, sent_of());
        return now_;
    }
    // Where nothing else is ahead, another look would find what the last one found.
    return next_event == Time::max() && rewired_->is_settled() ? next_event : std::min(next_event, turn);
}

}  // namespace astrolabe::network
