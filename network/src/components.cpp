#include "engines/split/split_backend.hpp"
#include "split_network.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/components.hpp>
#include <astrolabe/network/family.hpp>

namespace astrolabe::network {

namespace {

const Engine* engine_for(const BackendMaker& maker, std::string_view networks) {
    const auto found = std::find_if(maker.engines.begin(), maker.engines.end(),
                                    [&](const Engine& engine) { return engine.networks == networks; });
    return found == maker.engines.end() ? nullptr : &*found;
}

std::string_view kind_of_links(const Fabric& fabric) {
    return fabric.demand_aware_circuits() != nullptr ? kDemandAwareNetworks
           : fabric.circuits().is_static()           ? kStaticNetworks
                                                     : kScheduledNetworks;
}

const Engine* engine_of(const BackendMaker& maker, const Fabric& fabric) {
    const Engine* engine = engine_for(maker, fabric.family().engines());
    return engine != nullptr ? engine : engine_for(maker, kind_of_links(fabric));
}

const Engine& supporting_engine(const BackendMaker& maker, const Fabric& fabric) {
    const Engine* engine = engine_of(maker, fabric);
    ASTROLABE_ASSERT(engine != nullptr && engine->make, "the backend has an engine for the fabric");
    return *engine;
}

}  // namespace

std::optional<std::string> BackendMaker::unsupported(const Fabric& fabric) const {
    if (const auto split = fabric.family().split(fabric)) {
        if (fabric.failures() != nullptr) {
            return "links cannot fail in networks of servers whose circuits move";
        }
        if (!shares_links) {
            return "what servers send inside shares links, and messages of this engine do not";
        }
        const std::optional<std::string> reason = unsupported(*split->outside.fabric);
        return reason ? std::optional(fmt::format("of the network between servers: {}", *reason)) : reason;
    }
    const Engine* engine = engine_of(*this, fabric);
    if (engine == nullptr) {
        return fmt::format("it has no engine for {} networks", kind_of_links(fabric));
    }
    if (!engine->make) {
        return engine->help;
    }
    if (engine->unsupported) {
        if (const auto reason = engine->unsupported(fabric)) {
            return reason;
        }
    }
    if (fabric.failures() != nullptr && !engine->breaks_links) {
        return fmt::format(
            "links cannot fail in its engine for {} networks",
            fabric.family().engines().empty() ? kind_of_links(fabric) : fabric.family().engines());
    }
    return std::nullopt;
}

std::unique_ptr<NetworkBackend> BackendMaker::make(std::shared_ptr<const Fabric> fabric,
                                                   std::uint64_t seed) const {
    if (auto split = fabric->family().split(*fabric)) {
        std::unique_ptr<NetworkBackend> outside = make(split->outside.fabric, seed);
        return std::make_unique<SplitBackend>(std::move(fabric), std::move(split), std::move(outside));
    }
    const Engine& engine = supporting_engine(*this, *fabric);
    return engine.make(std::move(fabric), seed);
}

std::unique_ptr<NetworkBackend> BackendMaker::make_folded(std::shared_ptr<const LinkClasses> classes,
                                                          std::uint64_t seed) const {
    const Engine& engine = supporting_engine(*this, classes->fabric());
    return engine.make_folded(std::move(classes), seed);
}

bool BackendMaker::folds() const {
    return std::any_of(engines.begin(), engines.end(),
                       [](const Engine& engine) { return engine.make_folded != nullptr; });
}

bool BackendMaker::follows_routes(const Fabric& fabric) const {
    if (const auto split = fabric.family().split(fabric)) {
        return follows_routes(*split->outside.fabric);
    }
    const Engine* engine = engine_of(*this, fabric);
    return fabric.failures() == nullptr &&
           (engine == nullptr || !engine->follows_routes || engine->follows_routes(fabric));
}

}  // namespace astrolabe::network
