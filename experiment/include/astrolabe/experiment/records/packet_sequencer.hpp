/// Puts the events that a packet engine reports late, and so out of order, back into the order of time.
///
/// An event waits until one has been reported that is `window` younger; of events of one time the one
/// reported first comes first. A port knows of a start at the latest when the packet has arrived at the other
/// end, so a window of the longest latency plus the longest serialisation of a packet is enough; whatever
/// should still come later than that is passed on where it comes, and counted.
///
/// Cost: O(log n) an event, with n events of 80 bytes in the window.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/packet_observer.hpp>

namespace astrolabe::experiment {

/// Takes events in the order of time.
class PacketSink {
public:
    virtual ~PacketSink() = default;
    /// Whether it has a use for the event; such are not kept for it.
    [[nodiscard]] virtual bool wants(const network::PacketEvent& event) const = 0;
    virtual void take(const network::PacketEvent& event) = 0;
};

class PacketSequencer final : public network::PacketObserver {
public:
    /// The sinks must outlive it.
    PacketSequencer(Time window, std::vector<PacketSink*> sinks);

    void packet(const network::PacketEvent& event) override;
    /// Passes on what waits: there will be no more.
    void finish();

    /// Events that came too late to be put in order.
    [[nodiscard]] std::uint64_t late() const { return late_; }

private:
    struct Waiting {
        network::PacketEvent event;
        std::uint64_t sequence;
    };
    static bool later(const Waiting& a, const Waiting& b);
    void pass_first();

    Time window_;
    std::vector<PacketSink*> sinks_;
    std::vector<Waiting> heap_;
    std::uint64_t sequence_ = 0;
    Time newest_;
    Time passed_;
    std::uint64_t late_ = 0;
};

/// The longest latency of a link plus the longest serialisation of 64 KiB.
[[nodiscard]] Time reporting_window(const network::Fabric& fabric);

/// "host 3 -> leaf 0"; parallel links have the same name.
[[nodiscard]] std::string link_name(const network::Fabric& fabric, network::LinkId link);

}  // namespace astrolabe::experiment
