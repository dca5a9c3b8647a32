#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <astrolabe/experiment/run/engine_cost.hpp>

namespace astrolabe::experiment {
namespace {

using Json = nlohmann::ordered_json;

// See engine_cost.hpp for where these come from.
constexpr double kLeastOfPackets = 0.4;
constexpr double kMostOfPackets = 2.5;
constexpr double kLeastUnseen = 0.1;
constexpr double kMostUnseen = 10;
constexpr double kLeastOfAnEvent = 0.1e-6;
constexpr double kMostOfAnEvent = 1.6e-6;
constexpr double kMostOfAConnection = 0.4e-9;  // that may be active, in an update
constexpr double kUpdatesOfAMessage = 2;
constexpr double kSlowestBeginning = 50;
constexpr double kFastestBeginning = 5;

/// As it is registered; nothing where it has keys without a default.
std::optional<network::BackendMaker> maker_of(const std::string& kind, const Components& components) {
    ConfigNode node = ConfigNode::mapping();
    node.set("kind", ConfigNode::scalar(kind));
    ReadContext context;
    const auto backend = components.backends.read(node, context);
    return backend ? std::optional(backend->make()) : std::nullopt;
}

bool has_packets(const network::BackendMaker& backend) {
    return backend.packet_payload > Bytes(0);
}

/// Not what serves as reference, or is no model of shared links.
bool is_offered(const network::BackendMaker& backend) {
    return backend.shares_links && (!has_packets(backend) || backend.reports_packets);
}

std::string cost_text(const EngineCost& cost) {
    return fmt::format("{:.3g} s to {:.3g} s", cost.least, cost.most);
}

Json cost_json(const EngineCost& cost) {
    return {{"kind", cost.kind}, {"cpu_s", cost.seconds}, {"cpu_s_between", {cost.least, cost.most}}};
}

}  // namespace

EngineCost engine_cost(const std::string& kind, bool has_packets, const Prediction& prediction) {
    const double seconds = prediction.wall_seconds;
    const bool is_seen = prediction.was_looked_at;
    if (has_packets) {
        return {kind, seconds, (is_seen ? kLeastOfPackets : kLeastUnseen) * seconds,
                (is_seen ? kMostOfPackets : kMostUnseen) * seconds};
    }
    double least = prediction.events * kLeastOfAnEvent;
    double most = prediction.events * kMostOfAnEvent +
                  kUpdatesOfAMessage * prediction.messages * prediction.pairs * kMostOfAConnection;
    if (is_seen) {
        most = std::min(most, kFastestBeginning * seconds);
        least = std::min(std::max(least, seconds / kSlowestBeginning), most);
    }
    return {kind, std::clamp(seconds, least, most), least, most};
}

bool is_cheaper(const EngineCost& other, const EngineCost& own) {
    return own.seconds >= kWorthSaving && other.most < own.least;
}

std::optional<EngineSuggestion> cheaper_engine(const Experiment& experiment, const Prediction& prediction,
                                               const Components& components) {
    const network::Fabric& fabric = *experiment.fabric;
    if (experiment.jobs != nullptr || experiment.flows != nullptr || experiment.background != nullptr ||
        !fabric.is_static() || fabric.demand_aware_circuits() != nullptr || fabric.failures() != nullptr ||
        prediction.wall_seconds < kWorthSaving) {
        return std::nullopt;
    }
    EngineSuggestion suggestion{
        engine_cost(experiment.backend_kind, has_packets(experiment.backend), prediction), {}};
    for (const ComponentDescription& engine : components.backends.descriptions()) {
        if (engine.name == experiment.backend_kind) {
            continue;
        }
        std::optional<network::BackendMaker> maker = maker_of(engine.name, components);
        if (!maker || !is_offered(*maker) || maker->unsupported(fabric)) {
            continue;
        }
        Experiment other = experiment;
        other.backend_kind = engine.name;
        other.backend = *std::move(maker);
        const EngineCost cost = engine_cost(engine.name, has_packets(other.backend), predict(other));
        const bool is_first = suggestion.cheaper.kind.empty();
        if (is_cheaper(cost, suggestion.own) && (is_first || cost.seconds < suggestion.cheaper.seconds)) {
            suggestion.cheaper = cost;
        }
    }
    return suggestion.cheaper.kind.empty() ? std::nullopt : std::optional(suggestion);
}

std::string engine_suggestion_text(const EngineSuggestion& suggestion) {
    return fmt::format("{} takes {} of a processor, where {} takes {}: --set backend.kind={}",
                       suggestion.cheaper.kind, cost_text(suggestion.cheaper), suggestion.own.kind,
                       cost_text(suggestion.own), suggestion.cheaper.kind);
}

Json engine_suggestion_json(const EngineSuggestion& suggestion) {
    return {{"own", cost_json(suggestion.own)}, {"cheaper", cost_json(suggestion.cheaper)}};
}

}  // namespace astrolabe::experiment
