/// What the network layer offers to experiment files: topologies, and the engines of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <astrolabe/core/config/registry.hpp>
#include <astrolabe/core/validation_error.hpp>
#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/demand.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/link_classes.hpp>
#include <astrolabe/network/transport.hpp>

namespace astrolabe::network {

/// The network that is estimated to be best for a demand, and behind it others that may be better for what an
/// estimate from bytes leaves out: who knows the job compares them. Never empty.
using NetworksForJob = std::vector<std::shared_ptr<const Fabric>>;

/// Builds the configured fabric: by itself, or for what a job puts on it. The experiment's seed enters all
/// random choices.
class FabricMaker {
public:
    using Build = std::function<std::shared_ptr<const Fabric>(std::uint64_t seed)>;
    /// Or what makes it impossible, by keys of the network section; "" where none is to blame.
    using BuildForJob =
        std::function<std::variant<NetworksForJob, ValidationErrors>(const Demand&, std::uint64_t seed)>;

    /// Most makers are one function.
    template <class F>
    requires(!std::is_same_v<F, FabricMaker> &&
             std::is_invocable_r_v<std::shared_ptr<const Fabric>, const F&, std::uint64_t>)
        FabricMaker(F build)  // NOLINT(google-explicit-constructor)
        : build_(std::move(build)) {}
    /// `hosts_per_server` where servers are alike, whatever the job.
    explicit FabricMaker(BuildForJob for_job, std::uint32_t hosts_per_server = 0)
        : for_job_(std::move(for_job)),
          hosts_per_server_(hosts_per_server) {}

    /// Whether there is no network without a job.
    [[nodiscard]] bool needs_job() const { return !build_; }
    /// Precondition: needs_job().
    [[nodiscard]] const BuildForJob& for_job() const { return for_job_; }
    /// Of a network that needs a job: hosts of every server; 0: servers differ, or there are none.
    [[nodiscard]] std::uint32_t hosts_per_server() const { return hosts_per_server_; }
    /// Precondition: !needs_job().
    [[nodiscard]] std::shared_ptr<const Fabric> operator()(std::uint64_t seed) const { return build_(seed); }

private:
    Build build_;
    BuildForJob for_job_;
    std::uint32_t hosts_per_server_ = 0;
};

/// Kinds of networks that engines register for, beside those that families name (NetworkFamily::engines).
inline constexpr std::string_view kStaticNetworks = "static";             ///< all links at all times
inline constexpr std::string_view kScheduledNetworks = "scheduled";       ///< links come and go in periods
inline constexpr std::string_view kDemandAwareNetworks = "demand_aware";  ///< links move with the demand

/// What a backend has for one kind of networks: an engine, or the reason why there is none.
struct Engine {
    std::string networks;  ///< a kind above, or the name of a family's engines
    std::string help;      ///< what the engine does, or why there is none
    /// Why it cannot run this fabric of its kind, or nothing if it can.
    std::function<std::optional<std::string>(const Fabric&)> unsupported;
    /// Null: there is no engine. Precondition: not unsupported.
    std::function<std::unique_ptr<NetworkBackend>(std::shared_ptr<const Fabric>, std::uint64_t seed)> make;
    /// As `make`, on links taken together: each message stands for others that are alike, and the
    /// statistics are those of the whole network. Null: this engine carries every message itself.
    std::function<std::unique_ptr<NetworkBackend>(std::shared_ptr<const LinkClasses>, std::uint64_t seed)>
        make_folded;
    /// Whether bytes take the routes of the fabric's RoutingPolicy, every link its share. If not, the engine
    /// chooses among the same next links by itself, at random for instance. Null: they do.
    std::function<bool(const Fabric&)> follows_routes;
    /// Whether links may fail in a run of it (Fabric::failures).
    bool breaks_links = false;
};

/// A configured backend, not yet built: its engines, one for each kind of networks at most. A network of a
/// family for which there is none has that of its links, static, scheduled or demand_aware.
struct BackendMaker {
    std::vector<Engine> engines;

    /// Why no engine runs this fabric, or nothing if one does.
    [[nodiscard]] std::optional<std::string> unsupported(const Fabric& fabric) const;
    // Precondition of all: the fabric is supported.
    [[nodiscard]] std::unique_ptr<NetworkBackend> make(std::shared_ptr<const Fabric> fabric,
                                                       std::uint64_t seed) const;
    /// Precondition: the engine takes links together.
    [[nodiscard]] std::unique_ptr<NetworkBackend> make_folded(std::shared_ptr<const LinkClasses> classes,
                                                              std::uint64_t seed) const;
    /// Whether any engine takes links together.
    [[nodiscard]] bool folds() const;
    /// Never where links fail: routes change then.
    [[nodiscard]] bool follows_routes(const Fabric& fabric) const;

    /// False: messages pass through one another, so that runs may beat the bound of their ports and links may
    /// carry more than their rate.
    bool shares_links = true;
    /// Payload of a full packet; 0: the engine has no packets.
    Bytes packet_payload;
    /// Messages of a higher `traffic_class` go first where they wait, so that setting one has an effect.
    bool has_traffic_classes = false;
    /// Its backends report their packets (NetworkBackend::observe).
    bool reports_packets = false;
    /// What it does to messages beside moving their payload.
    Transport transport;
};

/// All of them.
void register_builtin_topologies(Registry<FabricMaker>& registry);
void register_fluid_backend(Registry<BackendMaker>& registry);
void register_congestion_free_backend(Registry<BackendMaker>& registry);

}  // namespace astrolabe::network
