#include "execution_trace.hpp"

#include "../rank_graphs/json_records.hpp"
#include "../rank_graphs/trace_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/json_text.hpp>

namespace astrolabe::workload::pytorch {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kCommNode = "record_param_comms";
constexpr std::string_view kGroupNode = "## process_group:init ##";
constexpr std::string_view kStepNode = "ProfilerStep#";
constexpr std::size_t kMostTraceErrors = 20;

const Json* member(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
}

/// [tensor, storage, offset, elements, bytes per element, device].
bool is_tensor(const Json& value) {
    return value.is_array() && value.size() == 6 && value[5].is_string() &&
           std::all_of(value.begin(), value.end() - 1, [](const Json& one) { return one.is_number(); });
}

/// Tensors of an argument, however deep its lists are.
struct TensorSum {
    Bytes bytes;
    std::int64_t element = 0;  ///< of the first
    std::size_t tensors = 0;
    std::string error;
};

class ExecutionTraceReader {
public:
    ExecutionTraceReader(const std::filesystem::path& path, bool is_lenient)
        : is_lenient_(is_lenient) {
        trace_.file = path.string();
    }

    Result<ExecutionTrace> read(const std::filesystem::path& path) {
        const Result<Json> rest = read_json_records(path, "nodes", [&](JsonRecord& record) {
            take(record);
            return errors_.size() < kMostTraceErrors;
        });
        if (!rest) {
            return rest.error();
        }
        const Json* schema = member(*rest, "schema");
        if (schema == nullptr || !schema->is_string()) {
            return trace_error("pytorch.schema", trace_.file, "the trace does not say its schema",
                               "expected an execution trace of PyTorch, {\"schema\": \"1.1.0-…\", …}");
        }
        trace_.schema = schema->get<std::string>();
        if (!trace_.schema.starts_with("1.")) {
            return trace_error("pytorch.schema", trace_.file,
                               fmt::format("schema '{}' is not known", trace_.schema),
                               "1.0.1 to 1.1.1 are read");
        }
        if (errors_.empty()) {
            check_nodes();
        }
        if (!errors_.empty()) {
            return errors_;
        }
        trace_.nodes = nodes_.size();
        finish();
        return std::move(trace_);
    }

private:
    struct Node {
        std::uint64_t id = 0;
        std::uint64_t parent = 0;
        int line = 0;
    };

    void error(const JsonRecord& record, std::string_view code, const std::string& message,
               std::string hint = {}) {
        errors_.push_back(trace_error(fmt::format("pytorch.{}", code), trace_.file,
                                      fmt::format("node {}: {}", id_, message), std::move(hint),
                                      record.line));
    }

    void take(const JsonRecord& record) {
        id_ = 0;
        const Json& node = record.value;
        const Json* id = node.is_object() ? member(node, "id") : nullptr;
        const Json* name = node.is_object() ? member(node, "name") : nullptr;
        if (id == nullptr || !id->is_number_unsigned() || name == nullptr || !name->is_string()) {
            error(record, "node", "a node without an 'id' that is 0 or more and a 'name'");
            return;
        }
        id_ = id->get<std::uint64_t>();
        const Json* parent = member(node, "ctrl_deps");
        parent = parent == nullptr ? member(node, "parent") : parent;
        if (parent == nullptr || !parent->is_number_unsigned()) {
            error(record, "node", "the enclosing call, 'ctrl_deps' or 'parent', is no node's id");
            return;
        }
        nodes_.push_back({id_, parent->get<std::uint64_t>(), record.line});
        const auto& text = name->get_ref<const std::string&>();
        if (text == kCommNode) {
            take_call(record);
        } else if (text == kGroupNode) {
            take_groups(node);
        } else if (text.starts_with(kStepNode)) {
            std::int64_t number = 0;
            const char* const digits = text.data() + kStepNode.size();
            if (std::from_chars(digits, text.data() + text.size(), number).ec == std::errc()) {
                trace_.steps.push_back({number, id_});
            }
        }
    }

    /// Values of inputs or outputs, in either form.
    [[nodiscard]] static const Json& values_of(const Json& node, const char* which) {
        static const Json kNone = Json::array();
        const Json* values = member(node, which);
        if (values != nullptr && values->is_object()) {
            values = member(*values, "values");
        }
        return values != nullptr && values->is_array() ? *values : kNone;
    }
    [[nodiscard]] static const Json& shapes_of(const Json& node) {
        static const Json kNone = Json::array();
        const Json* shapes = member(node, "input_shapes");
        const Json* inputs = member(node, "inputs");
        if (inputs != nullptr && inputs->is_object()) {
            shapes = member(*inputs, "shapes");
        }
        return shapes != nullptr && shapes->is_array() ? *shapes : kNone;
    }
    /// An attribute by name, or the node's own key.
    [[nodiscard]] static const Json* attribute(const Json& node, std::string_view name) {
        const Json* attributes = member(node, "attrs");
        if (attributes != nullptr && attributes->is_array()) {
            for (const Json& one : *attributes) {
                const Json* key = one.is_object() ? member(one, "name") : nullptr;
                if (key != nullptr && key->is_string() && key->get_ref<const std::string&>() == name) {
                    return member(one, "value");
                }
            }
        }
        return member(node, std::string(name).c_str());
    }

    void take_groups(const Json& node) {
        const Json& values = values_of(node, "inputs");
        if (values.empty() || !values[0].is_string()) {
            return;
        }
        const Json list = parse_json<Json>(values[0].get_ref<const std::string&>());
        if (!add_process_groups(list, trace_.groups, trace_.world_size)) {
            trace_.notes.emplace_back(
                "the list of process groups is cut off: groups are those that calls say");
        }
    }

    /// Adds all tensors of `value` to `sum`.
    void add_tensors(const Json& value, TensorSum& sum) {
        if (is_tensor(value)) {
            const std::optional<std::int64_t> elements = whole_number(value[3]);
            const std::optional<std::int64_t> element = whole_number(value[4]);
            const std::optional<Bytes> bytes =
                elements && element ? bytes_of(*elements, *element) : std::nullopt;
            if (!bytes || sum.bytes > Bytes::max() - *bytes) {
                sum.error =
                    fmt::format("a tensor of {} elements of {} bytes", value[3].dump(), value[4].dump());
                return;
            }
            sum.bytes += *bytes;
            sum.element = sum.tensors == 0 ? *element : sum.element;
            ++sum.tensors;
            take_device(value[5].get_ref<const std::string&>());
        } else if (value.is_array()) {
            for (const Json& one : value) {
                add_tensors(one, sum);
            }
        }
    }

    void take_device(const std::string& device) {
        constexpr std::string_view kCuda = "cuda:";
        std::size_t number = 0;
        if (device.starts_with(kCuda) &&
            std::from_chars(device.data() + kCuda.size(), device.data() + device.size(), number).ec ==
                std::errc()) {
            devices_.insert(number);
        }
    }

    void take_call(const JsonRecord& record) {
        const Json& node = record.value;
        const Json& values = values_of(node, "inputs");
        // A wait, and in some schemas a barrier, begins with its sequence number: a number, or a number and
        // whether it is of a message.
        const bool is_shifted = !values.empty() && (values[0].is_number() ||
                                                    (values[0].is_array() && values[0].size() == 2 &&
                                                     values[0][0].is_number() && values[0][1].is_boolean()));
        const std::size_t first = is_shifted ? 0 : 1;
        constexpr std::size_t kArguments = 6;
        if (values.size() < first + kArguments || !values[first + 3].is_string()) {
            error(record, "arguments",
                  fmt::format("{} arguments, and the name of the operation is not where it should be",
                              values.size()),
                  "expected [tensors,] sequence number, group, rank, name, two lists of splits, …");
            return;
        }
        CommCall call;
        call.id = id_;
        call.line = record.line;
        call.name = values[first + 3].get<std::string>();
        const std::optional<CallMeaning> meaning = meaning_of(call.name);
        if (!meaning) {
            if (is_lenient_) {
                trace_.notes.push_back(
                    fmt::format("node {}: '{}' is left out, which is not known", id_, call.name));
            } else {
                error(record, "operation", fmt::format("operation '{}' is not known", call.name),
                      "lenient: true leaves it out");
            }
            return;
        }
        call.meaning = *meaning;
        call.is_barrier = call.name == "barrier";
        const std::size_t errors = errors_.size();
        take_sequence(record, values[first], call);
        take_group(record, values, first + 1, call);
        if (const std::optional<std::int64_t> root = whole_number(values[first + 2])) {
            call.root = *root;
        }
        if (!call.is_wait() && !call.is_barrier) {
            take_sizes(record, values, first, is_shifted, call);
        }
        if (errors_.size() > errors) {
            return;
        }
        const Json* rf_id = attribute(node, "rf_id");
        const std::optional<std::int64_t> number = rf_id == nullptr ? std::nullopt : whole_number(*rf_id);
        rf_ids_.emplace_back(id_, static_cast<std::uint64_t>(number.value_or(0)));
        trace_.calls.push_back(std::move(call));
    }

    void take_sequence(const JsonRecord& record, const Json& value, CommCall& call) {
        const bool is_pair = value.is_array() && value.size() == 2 && value[1].is_boolean();
        call.sequence = whole_number(is_pair ? value[0] : value);
        call.is_message = is_pair && value[1].get<bool>();
        if (!call.sequence) {
            error(record, "arguments", fmt::format("sequence number {}", value.dump()),
                  "expected a whole number, or that and whether it is of a message");
        }
    }

    void take_group(const JsonRecord& record, const Json& values, std::size_t at, CommCall& call) {
        const Json& group = values[at];
        if (group.is_array() && !group.empty() && group[0].is_string()) {
            call.group = group[0].get<std::string>();
        } else if (group.is_string()) {
            call.group = group.get<std::string>();
        } else if (group.is_number()) {
            call.is_address = group != 0;
            call.group = call.is_address ? group.dump() : "";
        } else {
            error(record, "group", fmt::format("group {}", group.dump()),
                  "expected an address, or a name and a description");
        }
        // After the group: rank, name, splits of input and output, then what the schema has of the group.
        const std::size_t rest = values.size() - (at + 5);
        std::int64_t start = 0;
        std::int64_t stride = 1;
        if (rest == 1) {
            call.group_size = whole_number(values[at + 5]).value_or(-1);
        } else if (rest >= 3) {
            start = whole_number(values[at + 5]).value_or(-1);
            stride = whole_number(values[at + 6]).value_or(-1);
            call.group_size = whole_number(values[at + 7]).value_or(-1);
        }
        if (call.group_size < 0 || call.group_size > kMostRanks) {
            error(record, "group", fmt::format("a group of {} ranks", call.group_size));
        }
        if (call.is_wait() || !errors_.empty()) {
            return;
        }
        trace_.world_size = std::max(trace_.world_size, call.group_size);
        if (rest >= 3 && start >= 0 && stride > 0 && call.group_size > 0 && start <= kMostRanks &&
            stride <= kMostRanks) {
            const std::int64_t least = start + (call.group_size - 1) * stride + 1;
            if (least <= kMostRanks) {
                call.ranks =
                    GroupRanks::spaced(static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(stride),
                                       static_cast<std::size_t>(call.group_size));
            }
            trace_.world_size = std::max(trace_.world_size, least);
        }
    }

    void take_sizes(const JsonRecord& record, const Json& values, std::size_t first, bool is_shifted,
                    CommCall& call) {
        TensorSum in;
        if (!is_shifted) {
            add_tensors(values[0], in);
        }
        TensorSum out;
        add_tensors(values_of(record.value, "outputs"), out);
        if (!in.error.empty() || !out.error.empty()) {
            error(record, "size", in.error.empty() ? out.error : in.error,
                  "elements and their bytes are 0 or more, and fit in 62 bits");
            return;
        }
        std::int64_t element = in.element > 0 ? in.element : out.element;
        const Json* type = attribute(record.value, "dtype");
        if (element == 0 && type != nullptr && type->is_string()) {
            element = element_bytes(type->get_ref<const std::string&>()).value_or(0);
        }
        call.in = in.bytes;
        call.out = out.bytes;
        for (const auto& [name, bytes] :
             {std::pair{"in_msg_nelems", &call.in}, {"out_msg_nelems", &call.out}}) {
            const Json* elements = attribute(record.value, name);
            if (elements == nullptr) {
                continue;
            }
            const std::optional<std::int64_t> count = whole_number(*elements);
            const std::optional<Bytes> said = count ? bytes_of(*count, element) : std::nullopt;
            if (!said) {
                error(record, "size", fmt::format("'{}' is {}", name, elements->dump()),
                      "expected a number of elements, 0 or more");
                return;
            }
            *bytes = *said;
        }
        take_splits(record, values, first, element, call);
    }

    void take_splits(const JsonRecord& record, const Json& values, std::size_t first, std::int64_t element,
                     CommCall& call) {
        if (call.meaning.collective != system::CollectiveKind::kAllToAll ||
            call.meaning.kind != CallKind::kCollective) {
            return;
        }
        const Json& shapes = shapes_of(record.value);
        std::int64_t rows = 0;
        if (!shapes.empty() && shapes[0].is_array() && shapes[0].size() > 1) {
            rows = whole_number(shapes[0][0]).value_or(0);
        }
        struct Side {
            std::size_t argument;
            const char* attribute;
            std::string_view which;
            Bytes bytes;
            std::int64_t rows;
            std::vector<std::int64_t>* splits;
        };
        const std::array<Side, 2> sides{
            Side{first + 4, "in_split_size", "input", call.in, rows, &call.in_splits},
            Side{first + 5, "out_split_size", "output", call.out, kAnyRows, &call.out_splits}};
        for (const Side& side : sides) {
            const Json* said = attribute(record.value, side.attribute);
            std::optional<std::vector<std::int64_t>> counts = whole_numbers(values[side.argument]);
            if ((!counts || counts->empty()) && said != nullptr) {
                counts = whole_numbers(*said);
            }
            if (!counts) {
                error(record, "splits",
                      fmt::format("the {} splits are {}", side.which, values[side.argument].dump()),
                      "expected a list of whole numbers");
                return;
            }
            Splits splits = split_bytes(*counts, side.bytes, element, side.rows, side.which);
            if (!splits.error.empty()) {
                error(record, "splits", splits.error, "splits are elements, or rows of the tensor");
                return;
            }
            *side.splits = std::move(splits.bytes);
        }
        for (const Side& side : sides) {
            trace_.world_size = std::max(trace_.world_size, static_cast<std::int64_t>(side.splits->size()));
        }
    }

    [[nodiscard]] const Node* find_node(std::uint64_t id) const {
        const auto found =
            std::lower_bound(nodes_.begin(), nodes_.end(), id,
                             [](const Node& node, std::uint64_t value) { return node.id < value; });
        return found == nodes_.end() || found->id != id ? nullptr : &*found;
    }

    /// Ids differ, and calls enclose one another as trees: the outermost is its own parent, or in none of the
    /// file. At most one error.
    void check_nodes() {
        std::stable_sort(nodes_.begin(), nodes_.end(),
                         [](const Node& one, const Node& other) { return one.id < other.id; });
        const auto twice =
            std::adjacent_find(nodes_.begin(), nodes_.end(),
                               [](const Node& one, const Node& other) { return one.id == other.id; });
        if (twice != nodes_.end()) {
            id_ = twice->id;
            error({{}, std::next(twice)->line}, "node",
                  fmt::format("line {} has a node of this id too", twice->line));
            return;
        }
        std::vector<std::size_t> seen_from(nodes_.size(), 0);  // the walk that came by first, from 1
        for (std::size_t first = 0; first < nodes_.size(); ++first) {
            const Node* at = &nodes_[first];
            while (at != nullptr && seen_from[static_cast<std::size_t>(at - nodes_.data())] == 0) {
                seen_from[static_cast<std::size_t>(at - nodes_.data())] = first + 1;
                const Node* parent = at->parent == at->id ? nullptr : find_node(at->parent);
                if (parent != nullptr &&
                    seen_from[static_cast<std::size_t>(parent - nodes_.data())] == first + 1) {
                    id_ = at->id;
                    error({{}, at->line}, "circle",
                          fmt::format("its enclosing call {} is inside it", at->parent),
                          "calls enclose one another as a tree");
                    return;
                }
                at = parent;
            }
        }
    }

    void finish() {
        std::sort(trace_.calls.begin(), trace_.calls.end(),
                  [](const CommCall& one, const CommCall& other) { return one.id < other.id; });
        std::sort(rf_ids_.begin(), rf_ids_.end());
        std::sort(trace_.steps.begin(), trace_.steps.end(),
                  [](const TraceStep& one, const TraceStep& other) { return one.first_id < other.first_id; });
        for (const auto& [id, rf_id] : rf_ids_) {
            trace_.rf_ids.push_back(rf_id);
        }
        for (const CommCall& call : trace_.calls) {
            if (call.is_address) {
                trace_.group_numbers.try_emplace(call.group, trace_.group_numbers.size() + 1);
            }
        }
        if (devices_.size() == 1) {
            trace_.rank = *devices_.begin();
        }
    }

    bool is_lenient_;
    ExecutionTrace trace_;
    Diagnostics errors_;
    std::uint64_t id_ = 0;  // of the node at hand
    std::vector<Node> nodes_;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> rf_ids_;  // by id
    std::set<std::size_t> devices_;
};

}  // namespace

bool add_process_groups(const nlohmann::json& list, ProcessGroups& groups, std::int64_t& world_size) {
    if (!list.is_array()) {
        return false;
    }
    for (const Json& group : list) {
        const Json* name = group.is_object() ? member(group, "pg_name") : nullptr;
        const Json* ranks = group.is_object() ? member(group, "ranks") : nullptr;
        if (name == nullptr || ranks == nullptr) {
            continue;
        }
        const Json* size = member(group, "group_size");
        size = size == nullptr ? member(group, "pg_size") : size;
        const std::optional<std::vector<std::int64_t>> numbers = whole_numbers(*ranks);
        std::vector<std::uint32_t> members;
        for (const std::int64_t rank : numbers.value_or(std::vector<std::int64_t>{})) {
            if (rank >= 0 && rank < kMostRanks) {
                members.push_back(static_cast<std::uint32_t>(rank));
                world_size = std::max(world_size, rank + 1);
            }
        }
        const std::int64_t number = size == nullptr ? 0 : whole_number(*size).value_or(0);
        const std::int64_t said = number <= kMostRanks ? number : 0;
        world_size = std::max(world_size, said);
        groups[name->is_string() ? name->get<std::string>() : name->dump()] =
            members.empty() && said > 0 ? GroupRanks::spaced(0, 1, static_cast<std::size_t>(said))
                                        : GroupRanks(std::move(members));
    }
    return true;
}

Result<ExecutionTrace> read_execution_trace(const std::filesystem::path& path, bool is_lenient) {
    return ExecutionTraceReader(path, is_lenient).read(path);
}

}  // namespace astrolabe::workload::pytorch
