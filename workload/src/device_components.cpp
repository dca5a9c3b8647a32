#include <fmt/format.h>

#include <astrolabe/workload/components.hpp>

namespace astrolabe::workload {
namespace {

Schema<LayerTimes> layer_times_schema() {
    Schema<LayerTimes> schema("layer", "measured times of a layer");
    schema.optional("forward", &LayerTimes::forward, "forward pass", {Time(0), {}})
        .optional("input_gradient", &LayerTimes::input_gradient, "gradient of the layer's input",
                  {Time(0), {}})
        .optional("weight_gradient", &LayerTimes::weight_gradient,
                  "gradient of the weights, or the embedding update", {Time(0), {}});
    return schema;
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
             true,
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
            });
    registry.add<Device>(measured, [](const Device& device) { return device; });
}

}  // namespace astrolabe::workload
