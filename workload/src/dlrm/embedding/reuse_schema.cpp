#include "reuse_schema.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/diagnostic.hpp>
#include <astrolabe/core/source_text.hpp>

namespace astrolabe::workload {
namespace {

/// What is read of a set, line by line.
struct LocalitySet {
    std::string name;
    std::optional<std::int64_t> batch = std::nullopt;
    std::optional<double> lookups = std::nullopt;
    std::optional<double> rows = std::nullopt;
    std::vector<double> row_shares = {};
    std::vector<double> lookup_shares = {};
    std::vector<double>* list = nullptr;  // that classes go to
};

struct ListedFile {
    std::string file;
    std::optional<std::string> set = std::nullopt;
};

Schema<ReuseHistogram> listed_schema() {
    Schema<ReuseHistogram> schema("reuse", "how often a batch meets the same row");
    schema.required("batch", &ReuseHistogram::batch, "samples that were counted", {1, {}})
        .required("lookups_per_row", &ReuseHistogram::lookups_per_row, "lookups over unique rows", {1.0, {}})
        .list("rows", &ReuseHistogram::rows, "share of the rows met 1, 2, 3 to 4, 5 to 8, … times", true,
              {0.0, 1.0})
        .list("lookups", &ReuseHistogram::lookups, "share of the lookups that meet them", true, {0.0, 1.0})
        .check([](const ReuseHistogram& histogram) { return validation_errors(histogram); });
    return schema;
}

Schema<ListedFile> file_schema() {
    Schema<ListedFile> schema("reuse", "locality statistics of a published data set");
    schema
        .required("file", &ListedFile::file,
                  "text of locality statistics, relative to the file that names it")
        .optional("set", &ListedFile::set, "name of a set in it; unset: the first");
    return schema;
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

std::optional<std::string_view> after(std::string_view line, std::string_view prefix) {
    return line.starts_with(prefix) ? std::optional(line.substr(prefix.size())) : std::nullopt;
}

/// Takes one line of a set; false where a number was expected and is not there.
bool take(LocalitySet& set, std::string_view line) {
    if (const auto batch = after(line, "Locality stats after processing 1 batches of size ")) {
        set.batch = number_in<std::int64_t>(*batch);
        return set.batch && *set.batch >= 1;
    }
    if (const auto lookups = after(line, "Avg # of indices: ")) {
        set.lookups = number_in<double>(*lookups);
        return set.lookups && std::isfinite(*set.lookups) && *set.lookups >= 1;
    }
    if (const auto rows = after(line, "Avg # of unique cols: ")) {
        set.rows = number_in<double>(*rows);
        return set.rows && std::isfinite(*set.rows) && *set.rows >= 1;
    }
    if (line.starts_with("Histogram of col sizes:")) {
        set.list = &set.row_shares;
    } else if (line.starts_with("Ratio of index distribution")) {
        set.list = &set.lookup_shares;
    } else if (line.starts_with("(") && set.list != nullptr) {
        const std::size_t colon = line.rfind(": ");
        const auto share =
            colon == std::string_view::npos ? std::nullopt : number_in<double>(line.substr(colon + 2));
        set.list->push_back(share.value_or(-1));
        return share && *share >= 0 && *share <= 1;
    }
    return true;
}

/// The line with what separates it from the next.
std::string_view trimmed(std::string_view line) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) {
        line.remove_suffix(1);
    }
    return line;
}

std::optional<ReuseHistogram> histogram_of(const LocalitySet& set, const std::string& path,
                                           const SourceRange& where, ReadContext& context) {
    if (!set.batch || !set.lookups || !set.rows || set.row_shares.empty()) {
        context.error(
            "config.value", where,
            fmt::format("{}: set '{}' lacks its batch, its numbers of indices and unique rows, or its "
                        "histograms",
                        path, set.name),
            "see the file's format in docs/models/embedding-cost.md");
        return std::nullopt;
    }
    ReuseHistogram histogram{.batch = *set.batch,
                             .lookups_per_row = *set.lookups / *set.rows,
                             .rows = set.row_shares,
                             .lookups = set.lookup_shares};
    const ValidationErrors errors = validation_errors(histogram);
    for (const ValidationError& error : errors) {
        context.error("config.value", where, fmt::format("{}: set '{}': {}", path, set.name, error.message),
                      error.hint);
    }
    return errors.empty() ? std::optional(std::move(histogram)) : std::nullopt;
}

std::optional<ReuseHistogram> read_file(const ConfigNode& node, const ListedFile& listed,
                                        ReadContext& context) {
    const std::string path = (directory_of(node) / listed.file).string();
    const SourceRange where = node.find("file")->where;
    std::error_code failure;
    if (!std::filesystem::is_regular_file(path, failure)) {
        context.error("config.file", where, fmt::format("cannot read {}", path),
                      "paths are relative to the file that names them");
        return std::nullopt;
    }
    const Result<std::shared_ptr<const SourceText>> source = read_source(path, "config.file");
    if (!source) {
        const Diagnostic& error = source.error().front();
        context.error(error.where.line > 0 ? "config.encoding" : "config.file", where,
                      fmt::format("{}: {}", error.where.to_string(), error.message), error.hint);
        return std::nullopt;
    }
    std::vector<std::string> names;
    std::optional<LocalitySet> chosen;
    bool is_chosen = false;
    std::string_view rest = (*source)->text;
    for (std::int64_t number = 1; !rest.empty(); ++number) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string_view line = trimmed(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (line.ends_with(".pt")) {
            names.emplace_back(line);
            is_chosen = !chosen && (!listed.set || *listed.set == line);
            if (is_chosen) {
                chosen.emplace().name = line;
            }
        } else if (is_chosen && !take(*chosen, line)) {
            context.error("config.value", where,
                          fmt::format("{}:{}: no number where one belongs: '{}'", path, number, line));
            return std::nullopt;
        }
    }
    if (!chosen) {
        context.error("config.value", where,
                      fmt::format("{} has no set '{}'", path, listed.set.value_or("of locality statistics")),
                      listed.set ? suggest(*listed.set, names) : "a set starts with a line that ends in .pt");
        return std::nullopt;
    }
    return histogram_of(*chosen, path, where, context);
}

}  // namespace

std::vector<ParameterDescriptor> reuse_parameters() {
    std::vector<ParameterDescriptor> keys;
    for (const std::vector<ParameterDescriptor>& form :
         {file_schema().parameters(), listed_schema().parameters()}) {
        for (ParameterDescriptor key : form) {
            key.required = false;
            key.default_value = "unset";
            keys.push_back(std::move(key));
        }
    }
    return keys;
}

std::optional<ReuseHistogram> read_reuse(const ConfigNode& node, ReadContext& context) {
    if (node.is_mapping() && node.find("file") != nullptr) {
        const std::optional<ListedFile> listed = file_schema().read(node, context);
        return listed ? read_file(node, *listed, context) : std::nullopt;
    }
    return listed_schema().read(node, context);
}

ConfigNode write_reuse(const ReuseHistogram& histogram) {
    return listed_schema().write(histogram);
}

}  // namespace astrolabe::workload
