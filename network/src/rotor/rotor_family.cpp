#include "rotor_family.hpp"

#include "rotor_description.hpp"
#include "topology_file.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/network/rotor/rotor_links.hpp>
#include <astrolabe/network/scaling.hpp>

namespace astrolabe::network::rotor {

namespace {

// Of the slot engine. Memory in bytes, of a pair of hosts and of a message; times on the machine of record.
constexpr double kPair = 300 + 96;
constexpr double kMessage = 64.0 / 3;  // three to a line of the cache
constexpr double kWaiting = 0.5;       // of the messages of an iteration, at a time
constexpr double kSecondsOfAnEvent = 0.2e-6;
constexpr double kSecondsOfAService = 0.013e-6;  // of a pair, once a cycle

class RotorFamily final : public NetworkFamily {
public:
    explicit RotorFamily(std::shared_ptr<const RotorNetwork> network, RotorVariants variants)
        : network_(std::move(network)),
          variants_(std::move(variants)) {}

    [[nodiscard]] const RotorNetwork& network() const { return *network_; }

    [[nodiscard]] std::string_view engines() const override { return kRotorEngines; }

    [[nodiscard]] Description describe(const Fabric&, const std::vector<PairTraffic>&) const override {
        return describe_rotors(*network_);
    }

    [[nodiscard]] std::string draw() const override { return draw_schedule(network_->schedule); }

    [[nodiscard]] bool has_file() const override { return network_->paths != nullptr; }
    void write_file(const std::function<void(std::string_view)>& sink) const override {
        if (network_->file) {
            write_topology(*network_->file, sink);
        } else {
            write_topology({network_->schedule, network_->hosts_per_rack, network_->paths}, sink);
        }
    }

    [[nodiscard]] std::vector<PartCount> parts() const override {
        const std::uint64_t uplinks =
            std::uint64_t{network_->schedule.racks()} * network_->schedule.uplinks();
        std::vector<PartCount> parts;
        for (const Part part : {Part::kSwitchPort, Part::kTransceiver, Part::kFibre, Part::kRotorPort}) {
            parts.push_back({part, network_->rate, uplinks});
        }
        return parts;
    }

    [[nodiscard]] std::optional<SharedPorts> shared_ports(const Fabric& fabric) const override {
        const RotorSchedule& schedule = network_->schedule;
        const RotorLinks links(fabric);
        SharedPorts ports;
        ports.port_of.assign(fabric.link_count(), SharedPorts::kNone);
        for (Rack rack = 0; rack < schedule.racks(); ++rack) {
            for (Rotor rotor = 0; rotor < schedule.uplinks(); ++rotor) {
                ports.names.push_back(fmt::format("rack {} uplink {}", rack, rotor));
                for (std::uint32_t matching = 0; matching < schedule.matchings_per_rotor(); ++matching) {
                    if (schedule.matching(rotor, matching)[rack] != rack) {
                        ports.port_of[links.circuit(rotor, matching, rack)] =
                            rack * schedule.uplinks() + rotor;
                    }
                }
            }
        }
        return ports;
    }

    [[nodiscard]] std::optional<Bandwidth> rate_of_place() const override {
        return network_->has_low_latency() ? std::optional(network_->rate * network_->schedule.uplinks())
                                           : std::nullopt;
    }

    [[nodiscard]] std::optional<EstimatedWork> estimate(const JobSize& job) const override {
        // Cycles that repeat are fast-forwarded; it takes a message that starts or ends to break them.
        const double cycle = network_->schedule.superslices();
        const double superslices = std::min(busy_superslices(job.bytes), job.messages * cycle);
        EstimatedWork work;
        work.events = job.computations;
        work.events += job.messages + superslices;
        const double iterations = std::max(1.0, job.iterations);  // of what has no message there are none
        work.memory_bytes = job.pairs * kPair + kWaiting * kMessage * job.messages / iterations;
        work.seconds = work.events * kSecondsOfAnEvent + job.pairs * superslices / cycle * kSecondsOfAService;
        return work;
    }

    [[nodiscard]] std::optional<Activity> activity() const override { return rotor_activity(network_); }

    [[nodiscard]] std::optional<std::string> ignored_class(std::uint32_t traffic_class) const override {
        return network_->lists(traffic_class)
                   ? ""
                   : "the network lists it neither in low_latency.classes nor in bulk.classes";
    }

    [[nodiscard]] std::shared_ptr<const CircuitWindows> circuit_windows() const override {
        return rotor_windows(network_);
    }

    [[nodiscard]] bool has_one_rate() const override { return !network_->host_rate; }

    [[nodiscard]] std::optional<ScaledFabric> scaled(const Fabric& /*fabric*/,
                                                     const Scaling& scaling) const override {
        if (!variants_.scaled) {
            return ValidationErrors{{"", "its rotors are not made for other speeds", "leave it out"}};
        }
        return variants_.scaled(scaling);
    }

    [[nodiscard]] std::vector<NamedPart> named_parts() const override {
        return variants_.broken ? rotor_parts(*network_) : std::vector<NamedPart>();
    }

    [[nodiscard]] std::string undetected() const override {
        return "hosts and switches know of a failure from the start of the next superslice on";
    }

    [[nodiscard]] BrokenFabric broken(const std::vector<PartFailure>& failures) const override {
        return break_rotor_parts(*network_, failures, variants_.broken);
    }

private:
    /// Superslices in which slots are shared out, if every host uses all of what circuits offer.
    [[nodiscard]] double busy_superslices(double bytes) const {
        const double hosts = static_cast<double>(network_->schedule.racks()) * network_->hosts_per_rack;
        const double seconds = 8 * bytes / hosts / capacity_of(*network_).host_rate;
        return seconds / to_seconds(network_->schedule.timing().superslice());
    }

    std::shared_ptr<const RotorNetwork> network_;
    RotorVariants variants_;
};

}  // namespace

std::shared_ptr<const NetworkFamily> rotor_family(std::shared_ptr<const RotorNetwork> network,
                                                  RotorVariants variants) {
    return std::make_shared<const RotorFamily>(std::move(network), std::move(variants));
}

const RotorNetwork* rotors_of(const Fabric& fabric) {
    const auto* family = dynamic_cast<const RotorFamily*>(&fabric.family());
    return family != nullptr ? &family->network() : nullptr;
}

}  // namespace astrolabe::network::rotor
