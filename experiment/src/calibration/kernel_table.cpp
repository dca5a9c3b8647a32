/// The readers of kernel_table.hpp.
#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/config/quantity.hpp>
#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/core/utf8.hpp>
#include <astrolabe/experiment/calibration/kernel_table.hpp>
#include <astrolabe/experiment/results/fingerprint.hpp>

namespace astrolabe::experiment {
namespace {

std::optional<std::int64_t> positive_number(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    const bool is_good =
        error == std::errc() && end == text.data() + text.size() && value > 0 && value <= kMost;
    return is_good ? std::optional(value) : std::nullopt;
}

std::vector<std::string_view> split_at(std::string_view text, char mark) {
    std::vector<std::string_view> parts;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t end = std::min(text.find(mark, from), text.size());
        parts.push_back(text.substr(from, end - from));
        from = end + 1;
    }
    return parts;
}

/// What the name says; of another name a kernel without a model.
void name_kernel(KernelPoint& point, std::string_view name, std::int64_t lookups) {
    point.kernel = name;
    const std::vector<std::string_view> words = split_at(name, '_');
    if (words.size() == 3 && words[0] == "Dense") {
        const auto inputs = positive_number(words[1]);
        const auto columns = positive_number(words[2]);
        if (inputs && columns) {
            point.kind = KernelKind::kDense;
            point.inputs = *inputs;
            point.columns = *columns;
        }
    } else if (words.size() == 2 && words[0] == "Embed") {
        const std::vector<std::string_view> sides = split_at(words[1], 'x');
        const auto columns = sides.size() > 1 ? positive_number(sides[1]) : std::nullopt;
        const auto given = sides.size() > 2 ? positive_number(sides[2]) : std::optional(lookups);
        if (columns && given && sides.size() <= 3) {
            point.kind = KernelKind::kLookup;
            point.inputs = *columns;
            point.columns = *columns;
            point.lookups = *given;
        }
    }
}

class CsvReader {
public:
    CsvReader(const std::string& text, const std::string& name, const KernelTableOptions& options)
        : source_(std::make_shared<const SourceText>(SourceText{name, text})),
          options_(options) {
        table_.file = name;
    }

    Result<KernelTable> read() && {
        if (std::optional<Diagnostic> error = not_utf8(source_, "calibrate.kernels")) {
            return *std::move(error);
        }
        int line = 0;
        for (const std::string_view raw : split_at(source_->text, '\n')) {
            ++line;
            const std::string_view text = raw.ends_with('\r') ? raw.substr(0, raw.size() - 1) : raw;
            if (text.empty() || text.starts_with('#')) {
                continue;
            }
            if (!has_header_) {
                has_header_ = true;
                if (text != kHeader) {
                    error(line, 1, fmt::format("'{}' where the header is expected", text),
                          fmt::format("begin with {}", kHeader));
                    break;
                }
                continue;
            }
            read_row(text, line);
        }
        if (errors_.empty() && table_.points.empty()) {
            error(0, 1, "no row of a kernel is in it", fmt::format("write {} and a row a point", kHeader));
        }
        if (!errors_.empty()) {
            return errors_;
        }
        return std::move(table_);
    }

private:
    static constexpr std::string_view kHeader = "kernel,samples,forward,backward";

    SourceRange place(int line, std::size_t column) const {
        return {source_, line, static_cast<int>(column), 1};
    }
    void error(int line, std::size_t column, std::string message, std::string hint) {
        errors_.push_back(
            {"calibrate.kernels", place(line, column), std::move(message), std::move(hint), {}});
    }

    std::optional<Time> time_at(std::string_view text, int line, std::size_t column) {
        const Parsed<Time> parsed = parse_time(text);
        if (const auto* failure = std::get_if<ParseFailure>(&parsed)) {
            error(line, column, failure->message, failure->hint);
            return std::nullopt;
        }
        if (std::get<Time>(parsed) <= Time(0)) {
            error(line, column, fmt::format("a time of {}, expected more than 0", text), "");
            return std::nullopt;
        }
        return std::get<Time>(parsed);
    }

    void read_row(std::string_view text, int line) {
        const std::vector<std::string_view> fields = split_at(text, ',');
        if (fields.size() != 4) {
            error(line, 1, fmt::format("a row of {} fields, expected 4", fields.size()),
                  std::string(kHeader));
            return;
        }
        const auto column = [&](std::size_t i) {
            return static_cast<std::size_t>(fields[i].data() - text.data()) + 1;
        };
        KernelPoint point;
        name_kernel(point, fields[0], options_.lookups);
        const std::optional<std::int64_t> samples = positive_number(fields[1]);
        if (!samples) {
            error(line, column(1), fmt::format("'{}' where a number of samples is expected", fields[1]), "");
            return;
        }
        point.samples = *samples;
        const std::optional<Time> forward = time_at(fields[2], line, column(2));
        if (!forward) {
            return;
        }
        point.forward = *forward;
        if (!fields[3].empty()) {
            point.backward = time_at(fields[3], line, column(3));
            if (!point.backward) {
                return;
            }
        }
        point.where = place(line, 1);
        table_.points.push_back(std::move(point));
    }

    std::shared_ptr<const SourceText> source_;
    const KernelTableOptions& options_;
    KernelTable table_;
    Diagnostics errors_;
    bool has_header_ = false;
};

struct MeasurementKeys {
    std::string name;
    std::string parts;
    double forward = 0;
    double backward = 0;
    double memory = 0;
    SourceRange where{};
};

Schema<MeasurementKeys> measurement_schema() {
    const Range<double> positive{1e-9, 1e15};
    const Range<double> milliseconds{1e-9, 9e9};  // 2^63 ps are 9.2e9 ms
    Schema<MeasurementKeys> schema("measurements", "a kernel's times");
    schema.required("name", &MeasurementKeys::name, "of the kernel")
        .required("pc_str", &MeasurementKeys::parts, "how the batch is cut")
        .required("fw_time", &MeasurementKeys::forward, "ms", milliseconds)
        .required("bw_time", &MeasurementKeys::backward, "ms", milliseconds)
        .required("mem_req", &MeasurementKeys::memory, "bytes", positive);
    return schema;
}

Result<KernelTable> read_measurements(const std::string& text, const std::string& name,
                                      const KernelTableOptions& options) {
    const Result<ConfigNode> root = parse_config(text, name);
    if (!root) {
        return root.error();
    }
    ReadContext context;
    const ConfigNode* measurements = root->find("measurements");
    const ConfigNode* batch_node = root->find("batch_size");
    if (measurements == nullptr || !measurements->is_sequence() || batch_node == nullptr) {
        context.error("calibrate.kernels", root->where, "no 'batch_size' and list of 'measurements' is in it",
                      "give a measure_*.json of FlexFlow's kernels, or CSV");
        return context.errors();
    }
    const std::optional<std::int64_t> batch = read_scalar<std::int64_t>(
        *batch_node, "'batch_size'", context, {std::int64_t{1}, std::int64_t{1} << 40});
    KernelTable table;
    table.file = name;
    const Schema<MeasurementKeys> schema = measurement_schema();
    for (const ConfigNode& item : measurements->items) {
        const std::optional<MeasurementKeys> keys = schema.read(item, context);
        if (!keys || !batch) {
            continue;
        }
        const std::optional<std::int64_t> parts = positive_number(split_at(keys->parts, '-').back());
        if (!parts || *batch % *parts != 0) {
            context.error(
                "calibrate.kernels", item.find("pc_str")->where,
                fmt::format("'{}' does not cut a batch of {} into equal parts", keys->parts, *batch),
                "its last number is the number of parts");
            continue;
        }
        const auto milliseconds = [](double value) {
            return Time(static_cast<std::int64_t>(value * 1e9 + 0.5));
        };
        KernelPoint point;
        name_kernel(point, keys->name, options.lookups);
        point.samples = *batch / *parts;
        point.parts = *parts;
        point.forward = milliseconds(keys->forward);
        point.backward = milliseconds(keys->backward);
        point.memory = Bytes(static_cast<std::int64_t>(keys->memory));
        point.where = item.where;
        table.points.push_back(std::move(point));
    }
    if (context.error_count() > 0) {
        return context.errors();
    }
    return table;
}

}  // namespace

Result<KernelTable> read_kernel_table(const std::string& text, const std::string& name,
                                      const KernelTableOptions& options) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    const bool is_json = first != std::string::npos && text[first] == '{';
    Result<KernelTable> table =
        is_json ? read_measurements(text, name, options) : CsvReader(text, name, options).read();
    if (table) {
        Fingerprint print;
        print.add(std::string_view(text));
        table->fingerprint = print.text();
    }
    return table;
}

}  // namespace astrolabe::experiment
