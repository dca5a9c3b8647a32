/// What the network layer offers to experiment files: topologies, and the engines of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
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

namespace astrolabe::network {

/// Builds the configured fabric: by itself, or for what a job puts on it. The experiment's seed enters all
/// random choices.
class FabricMaker {
public:
    using Build = std::function<std::shared_ptr<const Fabric>(std::uint64_t seed)>;
    /// Or what makes it impossible, by keys of the network section; "" where none is to blame.
    using BuildForJob = std::function<std::variant<std::shared_ptr<const Fabric>, ValidationErrors>(
        const Demand&, std::uint64_t seed)>;

    /// Most makers are one function.
    template <class F>
    requires(!std::is_same_v<F, FabricMaker> &&
             std::is_invocable_r_v<std::shared_ptr<const Fabric>, const F&, std::uint64_t>)
        FabricMaker(F build)  // NOLINT(google-explicit-constructor)
        : build_(std::move(build)) {}
    explicit FabricMaker(BuildForJob for_job)
        : for_job_(std::move(for_job)) {}

    /// Whether there is no network without a job.
    [[nodiscard]] bool needs_job() const { return !build_; }
    /// Precondition: needs_job().
    [[nodiscard]] const BuildForJob& for_job() const { return for_job_; }
    /// Precondition: !needs_job().
    [[nodiscard]] std::shared_ptr<const Fabric> operator()(std::uint64_t seed) const { return build_(seed); }

private:
    Build build_;
    BuildForJob for_job_;
};

/// A configured backend, not yet built.
struct BackendMaker {
    /// Why the backend cannot run this fabric, or nothing if it can.
    std::function<std::optional<std::string>(const Fabric&)> refusal;
    /// Precondition: no refusal.
    std::function<std::unique_ptr<NetworkBackend>(std::shared_ptr<const Fabric>, std::uint64_t seed)> make;
    /// As `make`, on links taken together: each message represents `flows_per_representative` of them, and
    /// the statistics are those of the whole network. Null: this engine carries every message itself. Same
    /// precondition.
    std::function<std::unique_ptr<NetworkBackend>(std::shared_ptr<const LinkClasses>, std::uint64_t seed)>
        make_folded;
    /// False: messages pass through one another, so that runs may beat the bound of their ports and links may
    /// carry more than their rate.
    bool shares_links = true;
    /// Whether bytes take the routes of the fabric's RoutingPolicy, every link its share. If not, the engine
    /// chooses among the same next links by itself, at random for instance.
    std::function<bool(const Fabric&)> follows_routes = [](const Fabric&) { return true; };
    /// Payload of a full packet; 0: the engine has no packets.
    Bytes packet_payload;
    /// Messages of a higher `traffic_class` go first where they wait, so that setting one has an effect.
    bool has_traffic_classes = false;
    /// Its backends tell of their packets (NetworkBackend::observe).
    bool tells_of_packets = false;
};

/// All of them.
void register_builtin_topologies(Registry<FabricMaker>& registry);
/// Of these: direct_connect.
void register_direct_connect(Registry<FabricMaker>& registry);
/// Of these: topoopt.
void register_topoopt(Registry<FabricMaker>& registry);
/// Of these: opera, rotornet, expander.
void register_rotor_topologies(Registry<FabricMaker>& registry);
void register_fluid_backend(Registry<BackendMaker>& registry);
void register_congestion_free_backend(Registry<BackendMaker>& registry);

}  // namespace astrolabe::network
