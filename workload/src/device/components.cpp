#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/workload/components.hpp>

namespace astrolabe::workload {
namespace {

std::optional<MeasuredTime> read_measured_time(const ConfigNode& node, const std::string& key,
                                               ReadContext& context) {
    const Range<Time> not_negative{Time(0), {}};
    if (!node.is_mapping()) {
        const std::optional<Time> time = read_scalar<Time>(node, "'" + key + "'", context, not_negative);
        return time ? std::optional(MeasuredTime(*time)) : std::nullopt;
    }
    std::vector<std::pair<std::int64_t, Time>> by_rows;
    for (const ConfigEntry& entry : node.entries) {
        ConfigNode rows_node = ConfigNode::scalar(entry.key);
        rows_node.where = entry.key_where;
        const std::optional<std::int64_t> rows =
            read_scalar<std::int64_t>(rows_node, fmt::format("rows of '{}'", key), context, {1, {}});
        const std::optional<Time> time = read_scalar<Time>(
            entry.value, fmt::format("'{}' of {} rows", key, entry.key), context, not_negative);
        if (!rows || !time) {
            return std::nullopt;
        }
        if (!by_rows.empty() && *rows <= by_rows.back().first) {
            context.error("config.value", entry.key_where,
                          fmt::format("'{}': {} rows follow {}", key, *rows, by_rows.back().first),
                          "list the rows in rising order");
            return std::nullopt;
        }
        by_rows.emplace_back(*rows, *time);
    }
    if (by_rows.empty()) {
        context.error("config.value", node.where, fmt::format("'{}' lists no times", key),
                      "write {1024: 0.9ms, 2048: 1.8ms}, or one time");
        return std::nullopt;
    }
    return MeasuredTime(std::move(by_rows));
}

ConfigNode write_measured_time(const MeasuredTime& time) {
    if (time.is_same()) {
        return ConfigNode::scalar(to_string(time.by_rows().front().second));
    }
    ConfigNode node = ConfigNode::mapping();
    for (const auto& [rows, listed] : time.by_rows()) {
        node.set(std::to_string(rows), ConfigNode::scalar(to_string(listed)));
    }
    return node;
}

Schema<LayerTimes> layer_times_schema() {
    Schema<LayerTimes> schema("layer", "measured times of a layer");
    const auto pass = [&schema](std::string key, std::optional<MeasuredTime> LayerTimes::*member,
                                std::string help) {
        schema.field(
            {key, "time, or mapping of rows to times", "unset", false, "at least 0s", help, {}},
            [key, member](LayerTimes& times, const ConfigNode& node, ReadContext& context) {
                times.*member = read_measured_time(node, key, context);
            },
            [member](const LayerTimes& times) -> std::optional<ConfigNode> {
                return times.*member ? std::optional(write_measured_time(*(times.*member))) : std::nullopt;
            });
    };
    pass("forward", &LayerTimes::forward, "forward pass, by samples of a rank");
    pass("input_gradient", &LayerTimes::input_gradient, "gradient of the layer's input");
    pass("weight_gradient", &LayerTimes::weight_gradient, "gradient of the weights, or the embedding update");
    return schema;
}

Schema<TableTimes> table_times_schema() {
    Schema<TableTimes> schema("tables", "measured times of embedding tables, one for all or one each");
    schema
        .required("samples", &TableTimes::samples, "that the times are for; they grow in proportion",
                  {1, std::int64_t{1} << 32})
        .list("forward", &TableTimes::forward, "lookup", false, {Time(0), {}})
        .list("backward", &TableTimes::backward, "update", false, {Time(0), {}});
    return schema;
}

ValidationErrors nothing_measured(const Device& device) {
    if (!device.measured.empty() || device.tables) {
        return {};
    }
    return {
        {.key = "", .message = "no times are given", .hint = "give layers or tables, or use kind: roofline"}};
}

}  // namespace

void register_builtin_devices(Registry<Device>& registry) {
    Schema<Device> roofline("roofline", "time = max(FLOP / peak, bytes / memory_bandwidth)");
    roofline.optional("peak", &Device::peak, "what dense layers reach", {FlopRate(1), {}})
        .optional("memory_bandwidth", &Device::memory_bandwidth, "of the device's memory",
                  {Bandwidth(1), {}});
    registry.add<Device>(roofline, [](const Device& device) { return device; });

    Schema<Device> measured("measured", "measured times by layer; roofline for what was not measured");
    measured.optional("peak", &Device::peak, "for layers that were not measured", {FlopRate(1), {}})
        .optional("memory_bandwidth", &Device::memory_bandwidth, "for layers that were not measured",
                  {Bandwidth(1), {}})
        .field(
            {"layers",
             "mapping of layer names",
             "",
             false,
             {},
             "times by layer name: Embedding, Bottom_0, Top_0, …",
             layer_times_schema().parameters()},
            [](Device& device, const ConfigNode& node, ReadContext& context) {
                if (!node.is_mapping()) {
                    context.error("config.type", node.where,
                                  fmt::format("'layers' takes a mapping, found {}", node.kind_name()),
                                  "write Top_0: {forward: 75us, …}");
                    return;
                }
                for (const ConfigEntry& entry : node.entries) {
                    if (const std::optional<LayerTimes> times =
                            layer_times_schema().read(entry.value, context)) {
                        device.measured[entry.key] = *times;
                    }
                }
            },
            [](const Device& device) -> std::optional<ConfigNode> {
                ConfigNode layers = ConfigNode::mapping();
                for (const auto& [name, times] : device.measured) {
                    layers.set(name, layer_times_schema().write(times));
                }
                return layers;
            })
        .section("tables", &Device::tables, table_times_schema(), "times by embedding table")
        .check(nothing_measured);
    registry.add<Device>(measured, [](const Device& device) { return device; });
}

}  // namespace astrolabe::workload
