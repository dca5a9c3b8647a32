#include "precision_names.hpp"

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

/// A value, or a mapping of numbers to values.
template <class T>
std::optional<ByNumber<T>> read_by_number(const ConfigNode& node, const std::string& key,
                                          const std::string& numbers, const Range<T>& range,
                                          ReadContext& context) {
    if (!node.is_mapping()) {
        const std::optional<T> same = read_scalar<T>(node, "'" + key + "'", context, range);
        return same ? std::optional(ByNumber<T>(*same)) : std::nullopt;
    }
    std::map<std::int64_t, T> listed;
    for (const ConfigEntry& entry : node.entries) {
        ConfigNode number_node = ConfigNode::scalar(entry.key);
        number_node.where = entry.key_where;
        const auto number =
            read_scalar<std::int64_t>(number_node, fmt::format("{} of '{}'", numbers, key), context, {1, {}});
        const std::optional<T> value = read_scalar<T>(
            entry.value, fmt::format("'{}' of {} {}", key, entry.key, numbers), context, range);
        if (!number || !value) {
            return std::nullopt;
        }
        listed.insert_or_assign(*number, *value);
    }
    if (listed.empty()) {
        context.error("config.value", node.where, fmt::format("'{}' lists no values", key),
                      fmt::format("write one value, or a mapping of {} to values", numbers));
        return std::nullopt;
    }
    return ByNumber<T>(std::move(listed));
}

template <class T>
ConfigNode write_by_number(const ByNumber<T>& value) {
    if (value.is_same()) {
        return ConfigNode::scalar(ValueTraits<T>::format(value.listed().begin()->second));
    }
    ConfigNode node = ConfigNode::mapping();
    for (const auto& [number, listed] : value.listed()) {
        node.set(std::to_string(number), ConfigNode::scalar(ValueTraits<T>::format(listed)));
    }
    return node;
}

/// Rates of some precisions, or (where `same` is there) one of all.
void read_rates(const ConfigNode& node, const std::string& key, PrecisionRates& rates,
                std::optional<FlopRate>* same, ReadContext& context) {
    const Range<FlopRate> positive{FlopRate(1), {}};
    if (!node.is_mapping() && same != nullptr) {
        *same = read_scalar<FlopRate>(node, "'" + key + "'", context, positive);
        return;
    }
    if (!node.is_mapping() || node.entries.empty()) {
        context.error("config.type", node.where,
                      fmt::format("'{}' takes a mapping of precisions to rates, found {}", key,
                                  node.is_mapping() ? "an empty one" : node.kind_name()),
                      "write {fp32: 19.5TFLOPS, tf32: 156TFLOPS}");
        return;
    }
    for (const ConfigEntry& entry : node.entries) {
        ConfigNode name = ConfigNode::scalar(entry.key);
        name.where = entry.key_where;
        const auto precision = read_scalar<Precision>(name, fmt::format("a precision of '{}'", key), context);
        const auto rate =
            read_scalar<FlopRate>(entry.value, fmt::format("'{}' of {}", key, entry.key), context, positive);
        if (precision && rate) {
            rates[*precision] = *rate;
        }
    }
}

ConfigNode write_rates(const PrecisionRates& rates) {
    ConfigNode node = ConfigNode::mapping();
    for (const auto& [precision, rate] : rates) {
        node.set(ValueTraits<Precision>::format(precision), ConfigNode::scalar(to_string(rate)));
    }
    return node;
}

std::vector<ParameterDescriptor> rates_parameters() {
    std::vector<ParameterDescriptor> keys;
    for (const auto& [name, precision] : EnumNames<Precision>::kNames) {
        keys.push_back(
            {std::string(name), "compute rate", "unset", false, {}, "with operands of this precision", {}});
    }
    return keys;
}

Schema<GemmRates> gemm_schema() {
    Schema<GemmRates> schema("gemm", "matrix products: max(floor, FLOP·(m + half_rows) / (m·rate)), m rows");
    schema
        .field(
            {"rate",
             "mapping of precisions to compute rates",
             "that of peak",
             false,
             {},
             "what large products reach",
             rates_parameters()},
            [](GemmRates& gemm, const ConfigNode& node, ReadContext& context) {
                read_rates(node, "rate", gemm.rate, nullptr, context);
            },
            [](const GemmRates& gemm) {
                return gemm.rate.empty() ? std::nullopt : std::optional(write_rates(gemm.rate));
            })
        .field(
            {"half_rows",
             "integer, or mapping of columns to integers",
             "0",
             false,
             "at least 0",
             "rows with which a product reaches half of the rate; by the columns of its result",
             {}},
            [](GemmRates& gemm, const ConfigNode& node, ReadContext& context) {
                if (auto read = read_by_number<std::int64_t>(node, "half_rows", "columns",
                                                             {0, std::int64_t{1} << 24}, context)) {
                    gemm.half_rows = *std::move(read);
                }
            },
            [](const GemmRates& gemm) { return std::optional(write_by_number(gemm.half_rows)); })
        .optional("floor", &GemmRates::floor, "least time of a layer's forward pass", {Time(0), {}})
        .optional("backward_floor", &GemmRates::backward_floor, "least time of both its gradients together",
                  {Time(0), {}});
    return schema;
}

Schema<LookupRates> lookup_schema() {
    Schema<LookupRates> schema("lookup", "embedding kernels, for embedding_time: fbgemm");
    schema
        .field(
            {"bandwidth",
             "bandwidth, or mapping of columns to bandwidths",
             "memory_bandwidth",
             false,
             "above 0",
             "that the kernels reach, by the columns of a row",
             {}},
            [](LookupRates& lookup, const ConfigNode& node, ReadContext& context) {
                lookup.bandwidth =
                    read_by_number<Bandwidth>(node, "bandwidth", "columns", {Bandwidth(1), {}}, context);
            },
            [](const LookupRates& lookup) {
                return lookup.bandwidth ? std::optional(write_by_number(*lookup.bandwidth)) : std::nullopt;
            })
        .optional("floor", &LookupRates::floor, "least time of a rank's lookups of one kind of sharding",
                  {Time(0), {}})
        .optional("backward_floor", &LookupRates::backward_floor, "least time of their update, sort included",
                  {Time(0), {}});
    return schema;
}

Schema<HostCosts> host_schema() {
    Schema<HostCosts> schema("host", "what the host spends to keep the device busy, for training: torchrec");
    const Range<Time> range{Time(0), Time(kPicosecondsPerSecond)};
    schema
        .optional("forward_launch", &HostCosts::forward_launch,
                  "from one kernel's launch to the next in the forward pass", range)
        .optional("backward_launch", &HostCosts::backward_launch, "the same in the backward pass", range)
        .optional("optimizer_launch", &HostCosts::optimizer_launch, "the same in the dense optimizer", range)
        .optional("input_launch", &HostCosts::input_launch, "the same in the distribution of the input",
                  range)
        .optional("collective", &HostCosts::collective, "to issue a collective", range)
        .optional("wait", &HostCosts::wait, "to have a stream wait for a collective", range)
        .optional("iteration", &HostCosts::iteration, "once an iteration: zeroing gradients and the like",
                  range)
        .optional("batch", &HostCosts::batch, "to load the next batch and to start its copy to the device",
                  range)
        .optional("blocking_copy", &HostCosts::blocking_copy,
                  "of a copy that the host waits for, beside that wait", range);
    return schema;
}

/// What every kind of device has, with the help of the two rates.
void add_rates(Schema<Device>& schema, const std::string& peak, const std::string& bandwidth) {
    schema
        .field(
            {"peak", "compute rate, or mapping of precisions to rates", "unset", false, "above 0", peak,
             rates_parameters()},
            [](Device& device, const ConfigNode& node, ReadContext& context) {
                read_rates(node, "peak", device.peaks, &device.peak, context);
            },
            [](const Device& device) -> std::optional<ConfigNode> {
                if (device.peak) {
                    return ConfigNode::scalar(to_string(*device.peak));
                }
                return device.peaks.empty() ? std::nullopt : std::optional(write_rates(device.peaks));
            })
        .optional("memory_bandwidth", &Device::memory_bandwidth, bandwidth, {Bandwidth(1), {}})
        .optional("memory", &Device::memory, "size of the device's memory", {Bytes(1), {}})
        .optional("host_link", &Device::host_link, "rate to the memory of its host, one direction",
                  {Bandwidth(1), {}})
        .section("gemm", &Device::gemm, gemm_schema(), "matrix products, for mlp_time: gemm")
        .section("lookup", &Device::lookup, lookup_schema(), "embedding kernels, for embedding_time: fbgemm")
        .section("host", &Device::host, host_schema(), "time that its host spends; unset: none")
        .optional("kernel", &Device::kernel, "that a kernel takes at least, for training: torchrec",
                  {Time(0), Time(kPicosecondsPerSecond)});
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
    add_rates(roofline, "what dense layers reach", "of the device's memory");
    registry.add<Device>(roofline, [](const Device& device) { return device; });

    Schema<Device> measured("measured", "measured times by layer; roofline for what was not measured");
    const std::string rest = "for layers that were not measured";
    add_rates(measured, rest, rest);
    measured
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
