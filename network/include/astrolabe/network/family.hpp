/// What a family of networks adds to a fabric: the one interface through which a network brings its own
/// behaviour, so that no layer needs to know which families there are.
///
/// A family derives from NetworkFamily, in a folder of its own, and its builder gives an object of it to the
/// fabric (FabricBuilder::set_family). Every member answers one question, and has a neutral answer for
/// networks that have nothing to add: a fabric without a family has an object of NetworkFamily itself. What
/// only the engines of a family need they ask of the derived class; engines register for the family by
/// `engines()` (components.hpp).
///
/// Example. A network of racks on switches that turn between matchings names engines of its own, describes
/// its capacity, buys a port for every uplink instead of a cable for every circuit, and has a track per
/// switch.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include <astrolabe/core/units.hpp>
#include <astrolabe/core/validation_error.hpp>
#include <astrolabe/network/analysis/route_report.hpp>
#include <astrolabe/network/cost/cost.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/failures/named_parts.hpp>

namespace astrolabe::network {

class CircuitWindows;
class ServerLayout;
struct Scaling;
struct SplitNetwork;

/// A fabric, or what makes it impossible, by keys of Scaling (scaling.hpp).
using ScaledFabric = std::variant<std::shared_ptr<const Fabric>, ValidationErrors>;

/// A fabric, or all that its family cannot break of it.
using BrokenFabric = std::variant<std::shared_ptr<const Fabric>, std::vector<PartProblem>>;

/// Figures of a network, for programs and for people.
struct Description {
    std::string key;  ///< of `json` beside the figures that every network has; empty: there are none
    nlohmann::ordered_json json;
    std::vector<std::pair<std::string, std::string>> facts;  ///< a name and a value for people
    std::string tables;                                      ///< lines that follow the facts
    std::string cables;                                      ///< a remark behind their number
};

/// Ports that several links share at different times: an uplink, whatever circuit it holds.
struct SharedPorts {
    static constexpr std::uint32_t kNone = 0xffffffffU;

    IndexedVector<LinkId, std::uint32_t> port_of;  ///< kNone: the link has its ports to itself
    std::vector<std::string> names;                ///< by port
};

/// What a job puts on a network, to estimate what simulating it costs.
struct JobSize {
    double bytes = 0;
    double messages = 0;
    double pairs = 0;         ///< of hosts that communicate
    double computations = 0;  ///< on ranks
    double iterations = 1;
};

struct EstimatedWork {
    double events = 0;
    double memory_bytes = 0;  ///< beside that of hosts and links
    double seconds = 0;       ///< of processor time
};

/// What a network does over time whatever is sent, as tracks of spans that tile the time from 0 on.
struct Activity {
    struct Span {
        Time from;
        Time to;
        std::string name;
        nlohmann::ordered_json arguments;
    };
    using Sink = std::function<void(const Span&)>;

    std::string name;                                 ///< of all tracks together: "switches"
    std::vector<std::string> tracks;                  ///< "switch 0", …
    std::vector<std::pair<Time, std::string>> marks;  ///< instants of the whole network, in order
    Time cycle;                                       ///< after which spans repeat
    std::uint32_t changes = 0;                        ///< of a track in a cycle; each has two spans at most
    /// The spans of a track from 0 to `end`, in order.
    std::function<void(std::uint32_t track, Time end, const Sink&)> spans;
    /// Of a cycle, none of which is longer as text at any time; times do not count.
    std::function<void(std::uint32_t track, const Sink&)> longest_spans;
};

/// Strides of rings, each way round by itself, in steps of a group, by the number of its members.
using JobRings = std::map<std::uint32_t, std::vector<std::uint32_t>>;

class NetworkFamily {
public:
    virtual ~NetworkFamily() = default;

    /// The name under which engines register for it; empty: those for any links of this kind.
    [[nodiscard]] virtual std::string_view engines() const { return {}; }

    /// `job` is what a job sends, empty where there is none.
    [[nodiscard]] virtual Description describe(const Fabric& fabric,
                                               const std::vector<PairTraffic>& job) const;

    /// SVG 1.1, readable without other files; empty: there is nothing to draw.
    [[nodiscard]] virtual std::string draw() const { return {}; }

    /// Whether there is a file of the network that the simulator of its authors reads.
    [[nodiscard]] virtual bool has_file() const { return false; }
    /// In pieces, in order. Precondition: has_file().
    virtual void write_file(const std::function<void(std::string_view)>& sink) const;

    /// Parts beside hosts, switches and the cables of links, with those of shared ports.
    [[nodiscard]] virtual std::vector<PartCount> parts() const { return {}; }
    /// Links of shared ports are no cables. O(links).
    [[nodiscard]] virtual std::optional<SharedPorts> shared_ports(const Fabric& fabric) const;

    /// Where messages may wait inside the network until their circuit is gone: the rate of all ports of a
    /// place to others, at any time. None: links carry while they exist, and nothing else.
    [[nodiscard]] virtual std::optional<Bandwidth> rate_of_place() const { return std::nullopt; }

    /// Of flow engines; none: that of any network.
    [[nodiscard]] virtual std::optional<EstimatedWork> estimate(const JobSize& job) const;

    [[nodiscard]] virtual std::optional<Activity> activity() const { return std::nullopt; }

    /// Of a network that chooses among services by traffic class: why giving messages this one has no effect,
    /// empty where it has one. None: engines decide.
    [[nodiscard]] virtual std::optional<std::string> ignored_class(std::uint32_t traffic_class) const;

    /// When hosts are joined directly; null where there is nothing to wait for.
    [[nodiscard]] virtual std::shared_ptr<const CircuitWindows> circuit_windows() const { return nullptr; }

    /// Whether all links have the same rate, whatever it is.
    [[nodiscard]] virtual bool has_one_rate() const { return false; }

    /// The network with other speeds, where more than links has them; none: links are scaled one by one.
    /// Classes that are named exist, rates and latencies stay within their limits, and where there is one
    /// rate all classes have the same factor.
    [[nodiscard]] virtual std::optional<ScaledFabric> scaled(const Fabric& fabric,
                                                             const Scaling& scaling) const;

    /// All rings that the network was made of. None: it was not made of rings for a job.
    [[nodiscard]] virtual std::optional<JobRings> job_rings() const { return std::nullopt; }

    /// Where messages take one of two networks that share no links, each with an engine of its own; null: one
    /// engine runs the whole. O(links).
    [[nodiscard]] virtual std::shared_ptr<const SplitNetwork> split(const Fabric& /*fabric*/) const {
        return nullptr;
    }

    /// The parts that failures may name, where they fail by the family's rules; empty: those of the fabric
    /// do.
    [[nodiscard]] virtual std::vector<NamedPart> named_parts() const { return {}; }
    /// Why a time of detection has no effect on such failures; empty: it has.
    [[nodiscard]] virtual std::string undetected() const { return {}; }
    /// The network of which these fail, in any order. Precondition: they are of named_parts().
    [[nodiscard]] virtual BrokenFabric broken(const std::vector<PartFailure>& failures) const;

    /// Which hosts share a server; null: every host is one by itself. It lives as long as the family.
    [[nodiscard]] virtual const ServerLayout* servers() const { return nullptr; }
};

}  // namespace astrolabe::network
