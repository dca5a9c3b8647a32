#include <algorithm>

#include <fmt/format.h>

#include <astrolabe/experiment/records/packet_sequencer.hpp>

namespace astrolabe::experiment {

PacketSequencer::PacketSequencer(Time window, std::vector<PacketSink*> sinks)
    : window_(window),
      sinks_(std::move(sinks)) {}

bool PacketSequencer::later(const Waiting& a, const Waiting& b) {
    return a.event.time != b.event.time ? a.event.time > b.event.time : a.sequence > b.sequence;
}

void PacketSequencer::packet(const network::PacketEvent& event) {
    if (std::none_of(sinks_.begin(), sinks_.end(),
                     [&](const PacketSink* sink) { return sink->wants(event); })) {
        return;
    }
    late_ += event.time < passed_ ? 1 : 0;
    newest_ = std::max(newest_, event.time);
    heap_.push_back({event, sequence_++});
    std::push_heap(heap_.begin(), heap_.end(), later);
    while (heap_.front().event.time < newest_ - window_) {
        pass_first();
    }
}

void PacketSequencer::pass_first() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const network::PacketEvent event = heap_.back().event;
    heap_.pop_back();
    passed_ = std::max(passed_, event.time);
    for (PacketSink* sink : sinks_) {
        if (sink->wants(event)) {
            sink->take(event);
        }
    }
}

void PacketSequencer::finish() {
    while (!heap_.empty()) {
        pass_first();
    }
}

Time reporting_window(const network::Fabric& fabric) {
    constexpr Bytes kLargestPacket(65'536);
    Time latency;
    Time serialization;
    for (network::LinkId id; id.index() < fabric.link_count(); ++id) {
        latency = std::max(latency, fabric.link(id).latency);
        serialization = std::max(serialization, kLargestPacket / fabric.link(id).rate);
    }
    return latency + serialization;
}

std::string link_name(const network::Fabric& fabric, network::LinkId link) {
    return fmt::format("{} -> {}", fabric.node(fabric.source(link)).name,
                       fabric.node(fabric.target(link)).name);
}

}  // namespace astrolabe::experiment
