#include "../file/alternatives.hpp"
#include "measures.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/core/config/section_list.hpp>
#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/study/reproduce/published_study.hpp>

namespace astrolabe {

template <>
struct ValueTraits<study::PrintedNumber> {
    static std::string type() { return "number, percentage or time"; }
    static Parsed<study::PrintedNumber> parse(std::string_view text) {
        const std::optional<study::PrintedNumber> printed = study::parse_printed_number(std::string(text));
        if (!printed) {
            return ParseFailure{fmt::format("'{}' is no number, percentage or time", text),
                                "write it as it was printed: 0.1182, 98 %, 64.6ms"};
        }
        return *printed;
    }
    static std::string format(const study::PrintedNumber& printed) {
        return printed.text_of(printed.value());
    }
};

template <>
struct EnumNames<study::Intervals::Take> {
    using Take = study::Intervals::Take;
    static constexpr std::array<std::pair<std::string_view, Take>, 3> kNames{
        {{"mean", Take::kMean}, {"least", Take::kLeast}, {"largest", Take::kLargest}}};
};

template <>
struct EnumNames<study::StudyRun::Command> {
    using Command = study::StudyRun::Command;
    static constexpr std::array<std::pair<std::string_view, Command>, 2> kNames{
        {{"run", Command::kRun}, {"validate", Command::kValidate}}};
};

}  // namespace astrolabe

namespace astrolabe::study {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 6> kPrintedUnits{
    {{"", 1}, {"%", 0.01}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}};

struct RunKeys {
    std::string experiment;
    StudyRun::Command command = StudyRun::Command::kRun;
    std::string interval;
    bool calibrated = true;
    bool is_long = false;
    std::vector<std::string> overrides;
};

struct NamedRun {
    RunKeys keys;
    std::string name;
    SourceRange where;
};

struct ValueKeys {
    std::string name;
    std::string table;
    std::string run;
    std::string over;
    std::string quantity;
    std::optional<PrintedNumber> published;
    std::optional<PrintedNumber> at_least;
    std::optional<PrintedNumber> at_most;
    std::optional<Intervals> intervals;
    PrintedNumber margin;
    std::string source;
    std::string cause;
};

/// With the places of what is checked across sections.
struct PlacedValue {
    ValueKeys keys;
    SourceRange where;
};

struct FileKeys {
    std::string name;
    std::string title;
    std::string source;
    std::vector<std::string> notes;
    std::optional<Calibration> calibration;
    std::vector<NamedRun> runs;
    std::vector<PlacedValue> values;
};

Schema<Calibration> calibration_schema() {
    Schema<Calibration> schema("calibration", "the one constant that is fitted");
    schema.required("path", &Calibration::path, "of the constant, in the experiments")
        .required("value", &Calibration::value, "that it has, as `reproduce --calibrate` finds it")
        .required("from", &Calibration::from, "least that it may be")
        .required("to", &Calibration::to, "largest that it may be")
        .required("fitted_to", &Calibration::fitted_to, "name of the value that it is fitted to")
        .required("meaning", &Calibration::meaning, "what it is, and why it is not known")
        .check([](const Calibration& calibration) {
            ValidationErrors errors;
            for (const auto& [key, end] :
                 {std::pair{"from", &calibration.from}, std::pair{"to", &calibration.to}}) {
                require(errors, end->unit == calibration.value.unit, key,
                        fmt::format("'{}' is in '{}', and 'value' in '{}'", key, end->unit,
                                    calibration.value.unit),
                        "write all three in the same unit");
            }
            require(errors,
                    calibration.from.value() < calibration.to.value() &&
                        calibration.from.value() <= calibration.value.value() &&
                        calibration.value.value() <= calibration.to.value(),
                    "value", "'value' is not between 'from' and 'to'", "from < to, and the value within");
            return errors;
        });
    return schema;
}

Schema<RunKeys> run_schema() {
    Schema<RunKeys> schema("runs", "a run that values are taken from");
    schema.required("experiment", &RunKeys::experiment, "file, relative to the study")
        .field(
            {"set", "mapping of dotted paths to values", "none", false, {}, "what is changed in it", {}},
            [](RunKeys& keys, const ConfigNode& node, ReadContext& context) {
                if (!node.is_mapping()) {
                    context.error("config.type", node.where,
                                  fmt::format("'set' takes a mapping, found {}", node.kind_name()),
                                  "write {cluster.ranks: 128}");
                    return;
                }
                for (const ConfigEntry& entry : node.entries) {
                    keys.overrides.push_back(entry.key + "=" + one_line(entry.value));
                }
            },
            [](const RunKeys&) { return std::optional<ConfigNode>(); })
        .optional("command", &RunKeys::command, "of the program, whose JSON is read")
        .optional("interval", &RunKeys::interval, "of throughput.csv: 1ms; empty: no value is taken from it")
        .optional("calibrated", &RunKeys::calibrated, "whether the constant is set, where the study has one")
        .optional("long", &RunKeys::is_long, "whether it takes more than some seconds");
    return schema;
}

Schema<Intervals> intervals_schema() {
    Schema<Intervals> schema("within", "rows of throughput.csv");
    schema.required("from", &Intervals::from, "where the first begins, or later")
        .required("to", &Intervals::to, "where the last ends, or earlier")
        .optional("take", &Intervals::take, "of the rows")
        .check([](const Intervals& intervals) {
            ValidationErrors errors;
            require(errors, intervals.from.value() < intervals.to.value(), "to",
                    "'to' is not later than 'from'", "an interval has a length");
            return errors;
        });
    return schema;
}

Schema<ValueKeys> value_schema() {
    Schema<ValueKeys> schema("values", "a published value");
    schema.required("name", &ValueKeys::name, "what it is, one for each")
        .required("run", &ValueKeys::run, "that gives it, by name")
        .required("quantity", &ValueKeys::quantity,
                  "path in the JSON that the run prints; messages.p50_s, messages.last_s, …, of flows.csv; "
                  "throughput.COLUMN of throughput.csv")
        .optional("over", &ValueKeys::over, "a run whose same quantity it is divided by")
        .optional("published", &ValueKeys::published, "as it was printed: 0.1182, 98 %, 64.6ms")
        .optional("at_least", &ValueKeys::at_least, "of a value that is known from below")
        .optional("at_most", &ValueKeys::at_most, "of a value that is known from above")
        .section("within", &ValueKeys::intervals, intervals_schema(),
                 "of throughput.COLUMN: which rows, and what of them")
        .required("margin", &ValueKeys::margin, "by how much the error may grow before `reproduce` fails")
        .required("source", &ValueKeys::source, "where it was published")
        .optional("cause", &ValueKeys::cause, "of the error")
        .optional("table", &ValueKeys::table, "that it stands in")
        .check([](const ValueKeys& keys) {
            ValidationErrors errors;
            const bool has_end = keys.at_least || keys.at_most;
            require(errors, keys.published.has_value() != has_end, "published",
                    fmt::format("'{}' needs either 'published' or 'at_least' and 'at_most'", keys.name),
                    "a value is a number, or known from one side or both");
            for (const auto& [key, printed] :
                 {std::pair{"published", &keys.published}, std::pair{"at_least", &keys.at_least},
                  std::pair{"at_most", &keys.at_most}}) {
                require(errors, !*printed || (*printed)->value() > 0, key,
                        fmt::format("'{}' is not above 0, so that errors are no shares of it", key),
                        "compare something else");
            }
            require(errors, keys.margin.value() >= 0, "margin", "'margin' is below 0", "write 0.5 %");
            const std::string wrong = quantity_error(keys.quantity);
            require(errors, wrong.empty(), "quantity", wrong, "astrolabe describe published_study");
            require(errors, is_of_intervals(keys.quantity) == keys.intervals.has_value(), "quantity",
                    "'within' says which rows of throughput.csv, and belongs to throughput.COLUMN",
                    "write both or none");
            return errors;
        });
    return schema;
}

void read_runs(FileKeys& keys, const ConfigNode& node, ReadContext& context) {
    if (!node.is_mapping()) {
        context.error("config.type", node.where,
                      fmt::format("'runs' takes a mapping, found {}", node.kind_name()),
                      "write {name: {experiment: file.yaml}}");
        return;
    }
    static const Schema<RunKeys> kSchema = run_schema();
    for (const ConfigEntry& entry : node.entries) {
        if (std::optional<RunKeys> run = kSchema.read(entry.value, context)) {
            keys.runs.push_back({*std::move(run), entry.key, entry.key_where});
        }
    }
}

void read_values(FileKeys& keys, const ConfigNode& node, ReadContext& context) {
    if (!node.is_sequence()) {
        context.error("config.type", node.where,
                      fmt::format("'values' takes a list, found {}", node.kind_name()),
                      "write - {name: …, run: …, quantity: …, published: …, margin: …, source: …}");
        return;
    }
    static const Schema<ValueKeys> kSchema = value_schema();
    for (const ConfigNode& item : node.items) {
        if (std::optional<ValueKeys> value = kSchema.read(item, context)) {
            keys.values.push_back({*std::move(value), item.where});
        }
    }
}

Schema<FileKeys> file_schema() {
    Schema<FileKeys> schema("published_study",
                            "values that others published, and the experiments that should give them");
    schema
        .field(
            {"schema", "text", "", true, std::string(experiment::kSchemaName), "format of the file", {}},
            [](FileKeys&, const ConfigNode& node, ReadContext& context) {
                experiment::read_schema_name(node, context);
            },
            [](const FileKeys&) { return std::optional<ConfigNode>(); })
        .required("title", &FileKeys::title, "of the publication")
        .required("source", &FileKeys::source, "authors, where and when")
        .list("notes", &FileKeys::notes, "what is not compared, and why", false)
        .section("calibration", &FileKeys::calibration, calibration_schema(),
                 "the one constant that is fitted")
        .field({"runs",
                "mapping of names to runs",
                "",
                true,
                {},
                "that values are taken from",
                run_schema().parameters()},
               read_runs, [](const FileKeys&) { return std::optional<ConfigNode>(); })
        .field(
            {"values", "list of mappings", "", true, {}, "what was published", value_schema().parameters()},
            read_values, [](const FileKeys&) { return std::optional<ConfigNode>(); });
    return schema;
}

/// The place of a run by its name; reports one that is not there.
std::optional<std::size_t> run_named(const FileKeys& keys, const std::string& name, const SourceRange& where,
                                     ReadContext& context) {
    const auto found = std::find_if(keys.runs.begin(), keys.runs.end(),
                                    [&](const NamedRun& run) { return run.name == name; });
    if (found != keys.runs.end()) {
        return static_cast<std::size_t>(found - keys.runs.begin());
    }
    std::vector<std::string> names;
    for (const NamedRun& run : keys.runs) {
        names.push_back(run.name);
    }
    context.error("published.run", where, fmt::format("there is no run '{}'", name),
                  context.is_next_shown() ? suggest(name, names) : "");
    return std::nullopt;
}

std::vector<StudyRun> runs_of(const FileKeys& keys, const std::filesystem::path& file, ReadContext& context) {
    std::vector<StudyRun> runs;
    for (const NamedRun& given : keys.runs) {
        StudyRun& run = runs.emplace_back();
        run.name = given.name;
        run.experiment = (file.parent_path() / given.keys.experiment).lexically_normal();
        run.command = given.keys.command;
        run.overrides = given.keys.overrides;
        run.interval = given.keys.interval;
        run.calibrated = given.keys.calibrated;
        run.is_long = given.keys.is_long;
        std::error_code none;
        if (!std::filesystem::is_regular_file(run.experiment, none)) {
            context.error("published.experiment", given.where,
                          fmt::format("run '{}': there is no file '{}'", run.name, run.experiment.string()),
                          "paths are relative to the study");
        }
    }
    return runs;
}

std::optional<PublishedValue> value_of(const PlacedValue& given, const FileKeys& keys, ReadContext& context) {
    const std::optional<std::size_t> run = run_named(keys, given.keys.run, given.where, context);
    std::optional<std::size_t> over;
    if (!given.keys.over.empty() && !(over = run_named(keys, given.keys.over, given.where, context))) {
        return std::nullopt;
    }
    if (!run) {
        return std::nullopt;
    }
    const RunKeys& its = keys.runs[*run].keys;
    if (its.command != StudyRun::Command::kRun &&
        (is_of_messages(given.keys.quantity) || given.keys.intervals)) {
        context.error(
            "published.quantity", given.where,
            fmt::format("run '{}' simulates nothing, so it has no '{}'", given.keys.run, given.keys.quantity),
            "take command: run");
    }
    if (given.keys.intervals && its.interval.empty()) {
        context.error("published.quantity", given.where,
                      fmt::format("run '{}' has no 'interval'", given.keys.run), "write interval: 1ms");
    }
    PublishedValue value;
    value.name = given.keys.name;
    value.table = given.keys.table;
    value.run = *run;
    value.over = over;
    value.quantity = given.keys.quantity;
    value.intervals = given.keys.intervals;
    value.published = {given.keys.published, given.keys.at_least, given.keys.at_most};
    value.margin = given.keys.margin.value();
    value.source = given.keys.source;
    value.cause = given.keys.cause;
    return value;
}

void check_names(const FileKeys& keys, ReadContext& context) {
    std::set<std::string> names;
    for (const PlacedValue& value : keys.values) {
        if (!names.insert(value.keys.name).second) {
            context.error("published.name", value.where,
                          fmt::format("another value has the name '{}'", value.keys.name),
                          "records are kept by name: choose another");
        }
    }
    if (keys.calibration && !names.contains(keys.calibration->fitted_to)) {
        std::vector<std::string> known(names.begin(), names.end());
        context.error(
            "published.calibration", {},
            fmt::format("calibration.fitted_to: there is no value '{}'", keys.calibration->fitted_to),
            suggest(keys.calibration->fitted_to, known));
    }
}

double distance(double measured, const PrintedNumber& printed) {
    return measured / printed.value() - 1;
}

}  // namespace

std::optional<PrintedNumber> parse_printed_number(const std::string& text) {
    const std::size_t digits = std::min(text.find_first_not_of("+-.0123456789eE"), text.size());
    PrintedNumber printed;
    const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
    const auto [end, error] = std::from_chars(begin, text.data() + digits, printed.number);
    if (error != std::errc() || end != text.data() + digits || !std::isfinite(printed.number)) {
        return std::nullopt;
    }
    const std::string number = text.substr(0, digits);
    const std::size_t point = number.find('.');
    const std::size_t exponent = std::min(number.find_first_of("eE"), number.size());
    printed.decimals = point == std::string::npos ? 0 : static_cast<int>(exponent - point - 1);
    const std::size_t unit = std::min(text.find_first_not_of(' ', digits), text.size());
    printed.unit = text.substr(unit);
    const auto known = std::find_if(kPrintedUnits.begin(), kPrintedUnits.end(),
                                    [&](const auto& one) { return one.first == printed.unit; });
    if (known == kPrintedUnits.end()) {
        return std::nullopt;
    }
    printed.scale = known->second;
    return printed;
}

std::string PrintedNumber::text_of(double given) const {
    return fmt::format("{:.{}f}{}{}", given / scale, decimals, unit.empty() ? "" : " ", unit);
}

const PrintedNumber& Published::printed() const {
    return number ? *number : at_least ? *at_least : *at_most;
}

double Published::error(double measured) const {
    if (number) {
        return distance(measured, *number);
    }
    if (at_least && measured < at_least->value()) {
        return distance(measured, *at_least);
    }
    return at_most && measured > at_most->value() ? distance(measured, *at_most) : 0;
}

std::string Published::text() const {
    if (number) {
        return number->text_of(number->value());
    }
    if (at_least && at_most) {
        return fmt::format("{} to {}", at_least->text_of(at_least->value()),
                           at_most->text_of(at_most->value()));
    }
    return fmt::format("{} {}", at_least ? "at least" : "at most", printed().text_of(printed().value()));
}

std::vector<std::string> PublishedStudy::tables() const {
    std::vector<std::string> names;
    for (const PublishedValue& value : values) {
        if (std::find(names.begin(), names.end(), value.table) == names.end()) {
            names.push_back(value.table);
        }
    }
    return names;
}

std::filesystem::path PublishedStudy::record() const {
    return file.parent_path() / "expected" / (name + ".json");
}

Result<PublishedStudy> load_published_study(const std::filesystem::path& file) {
    const Result<ConfigNode> root = load_config(file);
    if (!root) {
        return root.error();
    }
    ReadContext context;
    const std::optional<FileKeys> keys = file_schema().read(*root, context);
    if (!keys) {
        return context.errors();
    }
    PublishedStudy study;
    study.name = file.stem().string();
    study.file = file;
    study.title = keys->title;
    study.source = keys->source;
    study.notes = keys->notes;
    study.calibration = keys->calibration;
    study.runs = runs_of(*keys, file, context);
    check_names(*keys, context);
    for (const PlacedValue& given : keys->values) {
        if (std::optional<PublishedValue> value = value_of(given, *keys, context)) {
            study.values.push_back(*std::move(value));
        }
    }
    if (context.error_count() > 0) {
        return context.errors();
    }
    return study;
}

std::vector<std::filesystem::path> published_studies_in(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
        if (entry.path().extension() == ".yaml") {
            files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

ComponentDescription published_study_description() {
    const Schema<FileKeys> schema = file_schema();
    return {schema.name(), schema.help(), schema.parameters()};
}

}  // namespace astrolabe::study
