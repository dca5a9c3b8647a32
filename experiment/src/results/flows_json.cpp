#include "flows_json.hpp"

namespace astrolabe::experiment {
namespace {

using Json = nlohmann::ordered_json;

Json known(const std::optional<double>& value) {
    return value ? Json(*value) : Json();
}

Json values_json(const ValueSummary& values) {
    Json json{{"mean", values.mean.value},
              {"mean_low", known(values.mean.low)},
              {"mean_high", known(values.mean.high)}};
    for (std::size_t i = 0; i < kFlowPercentiles.size(); ++i) {
        const std::string name = kFlowPercentiles[i].name;
        json[name] = values.percentiles[i].value;
        json[name + "_low"] = known(values.percentiles[i].low);
        json[name + "_high"] = known(values.percentiles[i].high);
    }
    json["max"] = values.max;
    return json;
}

Json class_json(const SizeClass& one) {
    return {{"above_bytes", one.above.count()},
            {"to_bytes", one.to ? Json(one.to->count()) : Json()},
            {"flows", one.flows},
            {"bytes", one.bytes.count()},
            {"time_s", values_json(one.seconds)},
            {"slowdown", values_json(one.slowdown)}};
}

}  // namespace

Json flows_json(const FlowResults& results) {
    Json unfinished = Json::array();
    for (const system::UnfinishedFlow& flow : results.unfinished) {
        unfinished.push_back({{"source", flow.source.index()},
                              {"destination", flow.destination.index()},
                              {"bytes", flow.size.count()},
                              {"start_s", to_seconds(flow.start)}});
    }
    Json classes = Json::array();
    for (const SizeClass& one : results.classes) {
        classes.push_back(class_json(one));
    }
    return {{"started", results.started},
            {"delivered", results.delivered},
            {"started_bytes", results.started_bytes.count()},
            {"delivered_bytes", results.delivered_bytes.count()},
            {"at_time_limit", results.is_at_limit},
            {"unfinished", std::move(unfinished)},
            {"all", class_json(results.all)},
            {"classes", std::move(classes)},
            {"throughput",
             {{"interval_s", to_seconds(results.interval)},
              {"offered_Bps", results.offered},
              {"completed_Bps", results.completed}}}};
}

}  // namespace astrolabe::experiment
