#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/workload/dlrm/dlrm_model.hpp>

namespace astrolabe::workload {

namespace {

// With widths up to 2^24 a matrix has up to 2^48 weights; tables are bounded by their bytes.
constexpr std::int64_t kLargestWidth = std::int64_t{1} << 24;
constexpr std::int64_t kLargestRows = std::int64_t{1} << 40;
constexpr std::int64_t kLargestElement = 16;
constexpr std::int64_t kMaxTableBytes = std::int64_t{1} << 60;
constexpr std::size_t kMaxLayers = 1024;
constexpr std::string_view kDimensionStream = "dimension";

void require_range(ValidationErrors& found, std::string key, std::int64_t value, std::int64_t largest) {
    if (value < 1 || value > largest) {
        std::string message = fmt::format("{} must be from 1 to {}, got {}", key, largest, value);
        add_error(found, std::move(key), std::move(message));
    }
}

void check_mlp(ValidationErrors& found, const std::string& key, const std::vector<std::int64_t>& widths) {
    if (widths.empty()) {
        add_error(found, key, fmt::format("{} has no layers", key),
                  "list the output width of every layer, first layer first");
    }
    if (widths.size() > kMaxLayers) {
        add_error(found, key, fmt::format("{} has {} layers, more than {}", key, widths.size(), kMaxLayers));
    }
    for (std::size_t layer = 0; layer < widths.size(); ++layer) {
        require_range(found, fmt::format("{}.{}", key, layer), widths[layer], kLargestWidth);
    }
}

void check_values(ValidationErrors& found, const std::string& key, const TableValues& values,
                  std::int64_t count, std::int64_t largest) {
    ValidationErrors more = values.validation_errors(key, count, largest);
    found.insert(found.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

void check_tables(ValidationErrors& found, const DlrmModel& model) {
    if (model.tables.empty()) {
        add_error(found, "tables", "the model has no embedding tables",
                  "give at least one group with count, rows, dimension and pooling");
    }
    for (std::size_t group = 0; group < model.tables.size(); ++group) {
        const EmbeddingTables& tables = model.tables[group];
        const std::string key = fmt::format("tables.{}", group);
        require_range(found, key + ".count", tables.count, kLargestWidth);
        if (tables.count < 1 || tables.count > kLargestWidth) {
            continue;  // how many values there must be is not known
        }
        check_values(found, key + ".rows", tables.rows, tables.count, kLargestRows);
        check_values(found, key + ".dimension", tables.dimension, tables.count, kLargestWidth);
        check_values(found, key + ".pooling", tables.pooling, tables.count, kLargestWidth);
    }
}

void check_element_sizes(ValidationErrors& found, const DlrmModel& model) {
    require_range(found, "element_size", model.element_size.count(), kLargestElement);
    if (model.activation_element_size) {
        require_range(found, "activation_element_size", model.activation_element_size->count(),
                      kLargestElement);
    }
    if (model.gradient_element_size) {
        require_range(found, "gradient_element_size", model.gradient_element_size->count(), kLargestElement);
    }
}

std::vector<EqualTables> listed_tables(const DlrmModel& model) {
    std::vector<EqualTables> runs;
    for (const EmbeddingTables& group : model.tables) {
        const bool alike = group.rows.is_same() && group.dimension.is_same() && group.pooling.is_same();
        const std::int64_t runs_of_group = alike ? 1 : group.count;
        const std::vector<std::int64_t> rows = group.rows.values(runs_of_group, "rows");
        const std::vector<std::int64_t> dimensions = group.dimension.values(runs_of_group, kDimensionStream);
        const std::vector<std::int64_t> poolings = group.pooling.values(runs_of_group, "pooling");
        for (std::size_t i = 0; i < rows.size(); ++i) {
            runs.push_back({.count = alike ? group.count : 1,
                            .rows = rows[i],
                            .dimension = dimensions[i],
                            .pooling = poolings[i],
                            .traits = group.traits});
        }
    }
    return runs;
}

std::int64_t scaled(std::int64_t value, double factor) {
    constexpr std::int64_t kParts = 1'000'000;
    const detail::Int128 parts = static_cast<detail::Int128>(value) * std::llround(factor * kParts);
    constexpr detail::Int128 kLargest = std::int64_t{1} << 61;
    const detail::Int128 nearest = (parts + kParts / 2) / kParts;
    return std::max<std::int64_t>(static_cast<std::int64_t>(std::min(nearest, kLargest)), 1);
}

/// Whether the model uses other tables than it lists.
bool is_varied(const DlrmModel& model) {
    return model.slice || model.scale || model.repeat != 1;
}

std::vector<EqualTables> sliced(std::vector<EqualTables> runs, const TableSlice& slice) {
    std::vector<EqualTables> chosen;
    const std::int64_t end =
        slice.count ? slice.from + *slice.count : std::numeric_limits<std::int64_t>::max();
    std::int64_t first = 0;  // number of the run's first table
    for (EqualTables& run : runs) {
        const std::int64_t begin = std::max(first, slice.from);
        const std::int64_t count = std::min(first + run.count, end) - begin;
        first += run.count;
        if (count > 0) {
            run.count = count;
            chosen.push_back(std::move(run));
        }
    }
    return chosen;
}

/// Of the model's list.
std::vector<EqualTables> varied(std::vector<EqualTables> runs, const DlrmModel& model) {
    if (model.slice) {
        runs = sliced(std::move(runs), *model.slice);
    }
    const TableScale scale = model.scale.value_or(TableScale());
    for (EqualTables& run : runs) {
        run.rows = scaled(run.rows, scale.rows);
        run.dimension = scaled(run.dimension, scale.dimension);
        run.pooling = scaled(run.pooling, scale.pooling);
    }
    std::vector<EqualTables> all;
    for (std::int64_t i = 0; i < model.repeat; ++i) {
        all.insert(all.end(), runs.begin(), runs.end());
    }
    return all;
}

/// Precondition: every number of the tables by itself is in range.
void check_variation(ValidationErrors& found, const DlrmModel& model) {
    std::int64_t tables = 0;
    for (const EqualTables& run : listed_tables(model)) {
        tables += run.count;
    }
    const TableSlice slice = model.slice.value_or(TableSlice());
    require(found, slice.from >= 0 && slice.from < tables, "slice.from",
            fmt::format("the model lists tables 0 to {}, none from {} on", tables - 1, slice.from));
    const std::int64_t rest = std::max<std::int64_t>(1, tables - slice.from);
    if (slice.count) {
        require_range(found, "slice.count", *slice.count, rest);
    }
    const TableScale scale = model.scale.value_or(TableScale());
    for (const auto& [key, factor] : {std::pair("rows", scale.rows), std::pair("dimension", scale.dimension),
                                      std::pair("pooling", scale.pooling)}) {
        require(found, factor >= 1e-6 && factor <= 1e6, fmt::format("scale.{}", key),
                fmt::format("a factor is from 0.000001 to 1000000, got {}", factor));
    }
    const std::int64_t selected = std::max<std::int64_t>(1, std::min(slice.count.value_or(rest), rest));
    require(
        found, model.repeat >= 1 && model.repeat <= std::max<std::int64_t>(1, kMaxDifferentTables / selected),
        "repeat",
        fmt::format("{} times {} tables are not from 1 to {}", model.repeat, selected, kMaxDifferentTables));
    if (!found.empty()) {
        return;
    }
    for (const EqualTables& run : equal_tables(model)) {
        if (run.rows > kLargestRows || run.dimension > kLargestWidth || run.pooling > kLargestWidth) {
            add_error(found, "scale",
                      fmt::format("makes a table of {} rows of {} values and {} lookups, more than can be",
                                  run.rows, run.dimension, run.pooling));
            return;
        }
    }
}

/// Precondition: every number by itself is in range.
void check_sizes(ValidationErrors& found, const DlrmModel& model) {
    detail::Int128 table_bytes = 0;
    detail::Int128 lookups = 0;
    detail::Int128 vectors = 1;
    detail::Int128 pooled = 0;
    for (const EqualTables& tables : equal_tables(model)) {
        const detail::Int128 columns = static_cast<detail::Int128>(tables.count) * tables.dimension;
        table_bytes += columns * tables.rows * model.element_size.count();
        lookups += columns * tables.pooling;
        vectors += tables.count;
        pooled += columns;
    }
    if (table_bytes > kMaxTableBytes) {
        add_error(found, "tables", "the tables hold more than 1 EiB together");
    }
    constexpr std::int64_t kMaxLookups = std::int64_t{1} << 40;
    if (lookups > kMaxLookups) {
        add_error(found, "tables",
                  fmt::format("a sample reads more than {} values from the tables", kMaxLookups),
                  "the sum of count · pooling · dimension must stay below it");
    }
    const detail::Int128 width = model.interaction == Interaction::kDot
                                     ? vectors * (vectors - 1) / 2 + model.bottom_mlp.back()
                                     : pooled + model.bottom_mlp.back();
    if (width > kLargestWidth) {
        add_error(found, "interaction",
                  fmt::format("the interaction makes more than {} values of a sample", kLargestWidth),
                  model.interaction == Interaction::kDot
                      ? "dot makes a value of every pair of tables; try concatenation"
                      : "");
    }
}

/// Precondition: the bottom MLP and the tables exist.
void check_dot(ValidationErrors& found, const DlrmModel& model) {
    const std::vector<EqualTables> runs = equal_tables(model);
    const std::int64_t dimension = runs.front().dimension;
    const auto differs = [dimension](const EqualTables& run) { return run.dimension != dimension; };
    if (is_varied(model) && std::any_of(runs.begin(), runs.end(), differs)) {
        add_error(found, "tables",
                  fmt::format("the dot interaction needs tables of one dimension, not {} and {}", dimension,
                              std::find_if(runs.begin(), runs.end(), differs)->dimension),
                  "select tables of one dimension, or set interaction to concatenation");
    }
    for (std::size_t group = 0; !is_varied(model) && group < model.tables.size(); ++group) {
        const EmbeddingTables& tables = model.tables[group];
        const std::vector<std::int64_t> dimensions =
            tables.dimension.values(tables.dimension.is_same() ? 1 : tables.count, kDimensionStream);
        const auto other = std::find_if(dimensions.begin(), dimensions.end(),
                                        [dimension](std::int64_t each) { return each != dimension; });
        if (other != dimensions.end()) {
            add_error(found, fmt::format("tables.{}.dimension", group),
                      fmt::format("the dot interaction needs tables of one dimension: {} here, {} in "
                                  "the first table",
                                  *other, dimension),
                      "make the dimensions equal, or set interaction to concatenation");
        }
    }
    if (model.bottom_mlp.back() != dimension) {
        add_error(found, fmt::format("bottom_mlp.{}", model.bottom_mlp.size() - 1),
                  fmt::format(
                      "the dot interaction needs a bottom MLP that ends in the tables' dimension {}, not {}",
                      dimension, model.bottom_mlp.back()),
                  fmt::format("make the last width {}, or set interaction to concatenation", dimension));
    }
}

void check_cross(ValidationErrors& found, const DlrmModel& model) {
    require_range(found, "interaction.layers", model.cross.layers, static_cast<std::int64_t>(kMaxLayers));
    if (model.cross.rank) {
        require_range(found, "interaction.rank", *model.cross.rank, interaction_width(model));
    }
}

std::vector<MlpLayer> mlp_layers(std::string_view prefix, std::int64_t input,
                                 std::span<const std::int64_t> widths, bool has_bias) {
    std::vector<MlpLayer> layers;
    layers.reserve(widths.size());
    for (const std::int64_t width : widths) {
        layers.push_back({.name = fmt::format("{}_{}", prefix, layers.size()),
                          .input_width = input,
                          .output_width = width,
                          .has_bias = has_bias});
        input = width;
    }
    return layers;
}

template <class Value>
std::int64_t sum_over_tables(const DlrmModel& model, Value value) {
    const std::vector<EqualTables> tables = equal_tables(model);
    return std::accumulate(
        tables.begin(), tables.end(), std::int64_t{0},
        [&value](std::int64_t sum, const EqualTables& equal) { return sum + equal.count * value(equal); });
}

std::int64_t parameters_of(const std::vector<MlpLayer>& layers) {
    return std::accumulate(layers.begin(), layers.end(), std::int64_t{0},
                           [](std::int64_t sum, const MlpLayer& layer) { return sum + layer.parameters(); });
}

}  // namespace

ValidationErrors validation_errors(const DlrmModel& model) {
    ValidationErrors found;
    require_range(found, "dense_features", model.dense_features, kLargestWidth);
    check_mlp(found, "bottom_mlp", model.bottom_mlp);
    check_mlp(found, "top_mlp", model.top_mlp);
    check_tables(found, model);
    check_element_sizes(found, model);
    if (found.empty() && is_varied(model)) {
        check_variation(found, model);
    }
    if (found.empty()) {
        check_sizes(found, model);
    }
    if (found.empty()) {
        if (model.interaction == Interaction::kDot) {
            check_dot(found, model);
        }
        if (model.interaction == Interaction::kDcnV2) {
            check_cross(found, model);
        }
    }
    return found;
}

std::vector<EqualTables> equal_tables(const DlrmModel& model) {
    std::vector<EqualTables> runs = listed_tables(model);
    return is_varied(model) ? varied(std::move(runs), model) : runs;
}

std::int64_t row_count(const DlrmModel& model) {
    return sum_over_tables(model, [](const EqualTables& tables) { return tables.rows; });
}

std::int64_t lookups_of_sample(const DlrmModel& model) {
    return sum_over_tables(model, [](const EqualTables& tables) { return tables.pooling; });
}

Bytes input_of_sample(const DlrmModel& model, Bytes index, Bytes length) {
    constexpr Bytes kValue = Bytes(4);
    return (model.dense_features + 1) * kValue + lookups_of_sample(model) * index +
           table_count(model) * length;
}

std::int64_t table_count(const DlrmModel& model) {
    return sum_over_tables(model, [](const EqualTables&) { return 1; });
}

std::int64_t pooled_width(const DlrmModel& model) {
    return sum_over_tables(model, [](const EqualTables& tables) { return tables.dimension; });
}

std::int64_t lookup_width(const DlrmModel& model) {
    return sum_over_tables(model,
                           [](const EqualTables& tables) { return tables.pooling * tables.dimension; });
}

std::int64_t interaction_width(const DlrmModel& model) {
    const std::int64_t dense = model.bottom_mlp.back();
    if (model.interaction != Interaction::kDot) {
        return dense + pooled_width(model);
    }
    const std::int64_t vectors = table_count(model) + 1;
    return vectors * (vectors - 1) / 2 + dense;
}

std::int64_t interaction_work(const DlrmModel& model) {
    if (model.interaction != Interaction::kDot) {
        return 0;
    }
    const std::int64_t vectors = table_count(model) + 1;
    return 2 * vectors * vectors * model.bottom_mlp.back();
}

std::vector<MlpLayer> bottom_layers(const DlrmModel& model) {
    return mlp_layers("Bottom", model.dense_features, model.bottom_mlp, model.biases);
}

std::vector<MlpLayer> cross_layers(const DlrmModel& model) {
    std::vector<MlpLayer> layers;
    if (model.interaction != Interaction::kDcnV2) {
        return layers;
    }
    const std::int64_t width = interaction_width(model);
    for (std::int64_t i = 0; i < model.cross.layers; ++i) {
        layers.push_back({.name = fmt::format("Cross_{}", i),
                          .input_width = width,
                          .output_width = width,
                          .rank = model.cross.rank.value_or(0),
                          .has_bias = model.biases,
                          .is_cross = true});
    }
    return layers;
}

std::vector<MlpLayer> top_layers(const DlrmModel& model) {
    return mlp_layers("Top", interaction_width(model), model.top_mlp, model.biases);
}

std::vector<MlpLayer> dense_layers(const DlrmModel& model) {
    std::vector<MlpLayer> layers = bottom_layers(model);
    for (std::vector<MlpLayer> more : {cross_layers(model), top_layers(model)}) {
        std::move(more.begin(), more.end(), std::back_inserter(layers));
    }
    return layers;
}

std::vector<DenseTensor> dense_tensors(const DlrmModel& model) {
    std::vector<DenseTensor> tensors;
    const auto add_mlp = [&tensors](const std::vector<MlpLayer>& layers) {
        for (const MlpLayer& layer : layers) {
            tensors.push_back({.layer = layer.name, .parameters = layer.weights()});
            if (layer.has_bias) {
                tensors.push_back({.layer = layer.name, .parameters = layer.output_width});
            }
        }
    };
    add_mlp(bottom_layers(model));
    const std::vector<MlpLayer> cross = cross_layers(model);
    for (const MlpLayer& layer : cross) {
        tensors.push_back(
            {.layer = layer.name,
             .parameters = layer.output_width * (layer.rank == 0 ? layer.input_width : layer.rank)});
    }
    for (const MlpLayer& layer : cross) {
        if (layer.rank != 0) {
            tensors.push_back({.layer = layer.name, .parameters = layer.rank * layer.input_width});
        }
    }
    for (const MlpLayer& layer : cross) {
        if (layer.has_bias) {
            tensors.push_back({.layer = layer.name, .parameters = layer.output_width});
        }
    }
    add_mlp(top_layers(model));
    return tensors;
}

std::int64_t mlp_parameters(const DlrmModel& model) {
    return parameters_of(dense_layers(model));
}

std::int64_t embedding_parameters(const DlrmModel& model) {
    return sum_over_tables(model, [](const EqualTables& tables) { return tables.rows * tables.dimension; });
}

Bytes embedding_size(const DlrmModel& model) {
    return model.element_size * embedding_parameters(model);
}

Bytes gradient_element_size(const DlrmModel& model) {
    return model.gradient_element_size.value_or(model.element_size);
}

Bytes activation_element_size(const DlrmModel& model) {
    return model.activation_element_size.value_or(model.element_size);
}

}  // namespace astrolabe::workload
