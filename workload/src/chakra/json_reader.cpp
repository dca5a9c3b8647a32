#include "../rank_graphs/trace_file.hpp"
#include "node_reader.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <functional>
#include <istream>
#include <limits>
#include <optional>
#include <streambuf>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace astrolabe::workload::chakra {

namespace {

using Json = nlohmann::json;

/// A trace file as the characters of a stream.
class TraceBuffer final : public std::streambuf {
public:
    explicit TraceBuffer(TraceFile& file)
        : file_(file) {}

    /// That of the character that was read last, from 1.
    [[nodiscard]] int line() const {
        const char* last = gptr() > eback() ? gptr() - 1 : gptr();
        return static_cast<int>(1 + lines_before_ +
                                std::count(static_cast<const char*>(eback()), last, '\n'));
    }

    /// Nothing of what was before is held any more.
    void let_go() { let_go_ = position(); }
    /// What follows is pieces, of which nothing is held once they have ended.
    void begin_pieces() { piece_ = position(); }
    void end_piece() {
        let_go_ += position() - piece_;
        piece_ = position();
    }
    /// The text ended here because more would be held than may be.
    [[nodiscard]] bool is_full() const { return is_full_; }

protected:
    int_type underflow() override {
        lines_before_ += std::count(eback(), gptr(), '\n');
        is_full_ = file_.position() - let_go_ > kMostHeldBytes;
        if (is_full_) {
            setg(bytes_.data(), bytes_.data(), bytes_.data());
            return traits_type::eof();
        }
        const std::size_t count = file_.read(bytes_.data(), bytes_.size());
        setg(bytes_.data(), bytes_.data(), bytes_.data() + count);
        if (count == 0) {
            return traits_type::eof();
        }
        return traits_type::to_int_type(bytes_[0]);
    }

private:
    [[nodiscard]] std::uint64_t position() const {
        return file_.position() - static_cast<std::uint64_t>(egptr() - gptr());
    }

    TraceFile& file_;
    std::array<char, 1U << 16U> bytes_{};
    std::ptrdiff_t lines_before_ = 0;  // of what was in `bytes_` before
    std::uint64_t piece_ = 0;          // where it begins
    std::uint64_t let_go_ = 0;         // bytes that are not held any more
    bool is_full_ = false;
};

/// A whole number, also written as a text, as protobuf writes those of 64 bits.
std::optional<std::uint64_t> unsigned_of(const Json& value) {
    if (value.is_number_unsigned()) {
        return value.get<std::uint64_t>();
    }
    if (value.is_string()) {
        const auto& text = value.get_ref<const std::string&>();
        std::uint64_t number = 0;
        const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (failure == std::errc() && end == text.data() + text.size() && !text.empty()) {
            return number;
        }
    }
    return std::nullopt;
}

/// As an attribute, whose texts live as long as `value`.
Attribute attribute_of(std::string_view name, const Json& value) {
    Attribute attribute;
    attribute.name = name;
    const auto set_integer = [&attribute](std::int64_t number) {
        attribute.kind = Attribute::Kind::kInteger;
        attribute.integer = number;
    };
    if (value.is_boolean()) {
        set_integer(value.get<bool>() ? 1 : 0);
    } else if (value.is_number_unsigned() &&
               value.get<std::uint64_t>() >
                   static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        attribute.kind = Attribute::Kind::kTooLarge;
    } else if (value.is_number_integer()) {
        set_integer(value.get<std::int64_t>());
    } else if (value.is_number_float()) {
        attribute.kind = Attribute::Kind::kReal;
        attribute.real = value.get<double>();
    } else if (value.is_string()) {
        attribute.kind = Attribute::Kind::kText;
        attribute.text = value.get_ref<const std::string&>();
    } else if (value.is_array()) {
        attribute.kind = Attribute::Kind::kTexts;
        for (const Json& item : value) {
            if (item.is_string()) {
                attribute.texts.push_back(item.get<std::string>());
            }
        }
        if (attribute.texts.empty()) {
            attribute.kind = Attribute::Kind::kIntegers;
            for (const Json& item : value) {
                attribute.integers.push_back(item.is_boolean()          ? std::int64_t{item.get<bool>()}
                                             : item.is_number_integer() ? item.get<std::int64_t>()
                                                                        : 0);
            }
        }
    }
    return attribute;
}

/// Texts of whole numbers as numbers: protobuf writes integers of 64 bits so.
Json number_where_text(const Json& value, std::string_view key) {
    if (value.is_string() &&
        (key.find("int64") != std::string_view::npos || key.find("fixed64") != std::string_view::npos)) {
        const auto& text = value.get_ref<const std::string&>();
        std::int64_t number = 0;
        const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (failure == std::errc() && end == text.data() + text.size()) {
            return number;
        }
        return std::numeric_limits<std::uint64_t>::max();
    }
    if (value.is_object() && value.contains("values")) {
        Json list = Json::array();
        for (const Json& item : value.at("values")) {
            list.push_back(number_where_text(item, key));
        }
        return list;
    }
    return value;
}

/// Builds the values of a text one after another and gives away the nodes of "workload_graph" as they end.
class ValueBuilder final : public nlohmann::json_sax<Json> {
public:
    /// Takes a node of "workload_graph"; returns whether to go on.
    using TakeNode = std::function<bool(const Json&)>;

    /// `text` is what the values are of.
    ValueBuilder(TraceBuffer& text, TakeNode take_node)
        : text_(text),
          take_node_(std::move(take_node)) {}

    bool null() override { return put(Json()); }
    bool boolean(bool value) override { return put(value); }
    bool number_integer(std::int64_t value) override { return put(value); }
    bool number_unsigned(std::uint64_t value) override { return put(value); }
    bool number_float(double value, const std::string& /*text*/) override { return put(value); }
    bool string(std::string& value) override { return put(std::move(value)); }
    bool binary(Json::binary_t& /*value*/) override { return false; }
    bool key(std::string& name) override {
        key_ = std::move(name);
        return true;
    }
    bool start_object(std::size_t /*size*/) override { return open(Json::object()); }
    bool start_array(std::size_t /*size*/) override {
        const bool is_graph = open_.size() == 1 && open_.front()->is_object() && key_ == "workload_graph";
        has_graph_ = has_graph_ || is_graph;
        const bool goes_on = open(Json::array());
        if (is_graph && goes_on) {
            graph_ = open_.back();
            text_.begin_pieces();
        }
        return goes_on;
    }
    bool end_object() override {
        const Json* const ended = open_.back();
        open_.pop_back();
        if (open_.empty() || open_.back() != graph_) {
            return true;
        }
        const bool goes_on = take_node_(*ended);
        graph_->clear();
        text_.end_piece();
        return goes_on;
    }
    bool end_array() override {
        graph_ = open_.back() == graph_ ? nullptr : graph_;
        open_.pop_back();
        return true;
    }
    bool parse_error(std::size_t position, const std::string& last,
                     const nlohmann::detail::exception& /*error*/) override {
        error_ = fmt::format("no JSON at byte {}, near '{}'", position, last);
        return false;
    }

    void begin() {
        root_ = Json();
        open_.clear();
        graph_ = nullptr;
    }
    [[nodiscard]] const Json& value() const { return root_; }
    [[nodiscard]] bool has_graph() const { return has_graph_; }
    /// Why the text was given up; empty where it was not, or a node was not wanted.
    [[nodiscard]] const std::string& error() const { return error_; }

private:
    /// Where the next value goes.
    Json* put_value(Json&& value) {
        if (open_.empty()) {
            root_ = std::move(value);
            return &root_;
        }
        if (open_.back()->is_array()) {
            open_.back()->push_back(std::move(value));
            return &open_.back()->back();
        }
        return &((*open_.back())[key_] = std::move(value));
    }
    bool put(Json&& value) {
        put_value(std::move(value));
        return true;
    }
    bool open(Json&& value) {
        constexpr std::size_t kDeepest = 100;
        if (open_.size() >= kDeepest) {
            error_ = fmt::format("values nested more than {} deep", kDeepest);
            return false;
        }
        open_.push_back(put_value(std::move(value)));
        return true;
    }

    TraceBuffer& text_;
    TakeNode take_node_;
    Json root_;
    std::vector<Json*> open_;  // what the next value is a part of, outermost first
    Json* graph_ = nullptr;    // the list of nodes, while it is open
    bool has_graph_ = false;
    std::string key_;
    std::string error_;
};

class JsonReader {
public:
    JsonReader(TraceFile file, const NodeSink& sink)
        : file_(std::move(file)),
          buffer_(file_),
          stream_(&buffer_),
          sink_(sink),
          builder_(buffer_, [this](const Json& node) {
              take_node(node);
              return !failure_ && goes_on_;
          }) {}

    [[nodiscard]] Result<ChakraMetadata> read() {
        while (!failure_ && goes_on_ && has_more()) {
            read_value();
            buffer_.let_go();
            ++objects_;
        }
        if (failure_) {
            return *std::move(failure_);
        }
        if (buffer_.is_full()) {
            return full();
        }
        if (!file_.failure().empty()) {
            return trace_error("chakra.truncated", file_.name(), file_.failure());
        }
        if (goes_on_ && objects_ == 0) {
            return trace_error("chakra.empty", file_.name(), "the file is empty");
        }
        if (goes_on_ && objects_ == 1 && nodes_ == 0 && !builder_.has_graph()) {
            return trace_error("chakra.json", file_.name(),
                               "no 'workload_graph' and no node after the metadata",
                               "expected {\"workload_graph\": [nodes]}, or the messages of a trace one after "
                               "another");
        }
        return std::move(metadata_);
    }

private:
    [[nodiscard]] Diagnostic full() const {
        return trace_error(
            "chakra.length", file_.name(),
            fmt::format("after {} nodes: an object, or all beside the nodes, of more than {} bytes", nodes_,
                        kMostHeldBytes),
            "is it the file that was meant?", buffer_.line());
    }

    /// Behind what is blank.
    [[nodiscard]] bool has_more() {
        stream_ >> std::ws;
        return stream_.peek() != std::char_traits<char>::eof();
    }

    /// An object of the file: the whole of the first form, a message of the second.
    void read_value() {
        builder_.begin();
        // Not strict: the value ends where it ends, and what follows is the next.
        if (!Json::sax_parse(stream_, &builder_, Json::input_format_t::json, false)) {
            if (buffer_.is_full()) {
                failure_ = full();
            } else if (!failure_ && goes_on_) {
                failure_ =
                    trace_error("chakra.json", file_.name(),
                                fmt::format("after {} nodes: {}", nodes_,
                                            file_.failure().empty() ? builder_.error() : file_.failure()),
                                "", buffer_.line());
            }
            return;
        }
        if (failure_ || builder_.has_graph()) {
            return;
        }
        const Json& value = builder_.value();
        if (!value.is_object()) {
            failure_ = trace_error("chakra.json", file_.name(), "expected an object", "", buffer_.line());
        } else if (objects_ == 0 && !value.contains("id") && !value.contains("name")) {
            take_metadata(value);
        } else {
            take_node(value);
        }
    }

    void fail(std::string code, const std::string& message) {
        failure_ = trace_error(std::move(code), file_.name(),
                               fmt::format("node {} of the file: {}", nodes_, message));
    }

    void take_metadata(const Json& value) {
        if (const auto version = value.find("version"); version != value.end() && version->is_string()) {
            metadata_.version = version->get<std::string>();
        }
        for_attributes(value,
                       [this](const Attribute& attribute) { return take_attribute(metadata_, attribute); });
    }

    /// The entries {"name": "comm_size", "int64Val": "4"} of protobuf's form.
    template <class Take>
    void for_attributes(const Json& value, const Take& take) {
        const auto list = value.find("attr");
        if (list == value.end() || !list->is_array()) {
            return;
        }
        for (const Json& one : *list) {
            if (!one.is_object() || !one.contains("name") || !one.at("name").is_string()) {
                return fail("chakra.attribute", "an attribute without a name");
            }
            for (const auto& [key, held] : one.items()) {
                if (key == "name" || key.starts_with("doc")) {
                    continue;
                }
                const Json plain = number_where_text(held, lower(key));
                const std::string wrong =
                    take(attribute_of(one.at("name").get_ref<const std::string&>(), plain));
                if (!wrong.empty()) {
                    return fail("chakra.attribute", wrong);
                }
            }
        }
    }

    [[nodiscard]] static std::string lower(std::string text) {
        for (char& letter : text) {
            letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
        }
        return text;
    }

    void take_node(const Json& value) {
        ++nodes_;
        node_.clear();
        node_.place = nodes_;
        for (const auto& [key, held] : value.items()) {
            if (!take_field(key, held)) {
                take_plain_attribute(key, held);
            }
            if (failure_) {
                return;
            }
        }
        for_attributes(value,
                       [this](const Attribute& attribute) { return take_attribute(node_, attribute); });
        if (!failure_) {
            goes_on_ = sink_(node_);
        }
    }

    void take_plain_attribute(const std::string& key, const Json& held) {
        const std::string wrong = take_attribute(node_, attribute_of(key, held));
        if (!wrong.empty()) {
            fail("chakra.attribute", wrong);
        }
    }

    /// Whether `key` is a field of a node.
    bool take_field(const std::string& key, const Json& held) {
        if (key == "Id" || key == "id") {
            take_unsigned(key, held, node_.id);
        } else if (key == "Name" || key == "name") {
            node_.name = held.is_string() ? held.get<std::string>() : held.dump();
        } else if (key == "NodeType" || key == "type") {
            take_type(held);
        } else if (key == "ctrlDeps" || key == "ctrl_deps") {
            take_ids(key, held, node_.control_dependencies);
        } else if (key == "dataDeps" || key == "data_deps") {
            take_ids(key, held, node_.data_dependencies);
        } else if (key == "runtime" || key == "durationMicros" || key == "duration_micros") {
            take_unsigned(key, held, node_.duration_micros);
        } else if (key == "inputs" && held.is_object()) {
            const auto values = held.find("values");
            if (values != held.end() && values->is_string()) {
                node_.input_values = values->get<std::string>();
            }
        } else {
            return key == "attr" || key == "inputs" || key == "outputs";
        }
        return true;
    }

    void take_unsigned(const std::string& key, const Json& held, std::uint64_t& into) {
        const std::optional<std::uint64_t> number = unsigned_of(held);
        if (!number) {
            fail("chakra.json", fmt::format("'{}' is {}, expected a non-negative integer", key, held.dump()));
        }
        into = number.value_or(0);
    }

    void take_ids(const std::string& key, const Json& held, std::vector<std::uint64_t>& into) {
        if (!held.is_array()) {
            return fail("chakra.json", fmt::format("'{}' is {}, expected a list of ids", key, held.dump()));
        }
        for (const Json& id : held) {
            std::uint64_t number = 0;
            take_unsigned(key, id, number);
            into.push_back(number);
        }
    }

    /// A number, or its name in the schema.
    void take_type(const Json& held) {
        for (std::size_t type = 0; type < kNodeTypes.size(); ++type) {
            if (held == kNodeTypes[type]) {
                node_.type = type;
                return;
            }
        }
        take_unsigned("NodeType", held, node_.type);
    }

    TraceFile file_;
    TraceBuffer buffer_;
    std::istream stream_;
    const NodeSink& sink_;
    ValueBuilder builder_;
    ChakraMetadata metadata_;
    ChakraNode node_;
    std::uint64_t objects_ = 0;
    std::uint64_t nodes_ = 0;
    bool goes_on_ = true;
    std::optional<Diagnostic> failure_;
};

}  // namespace

bool is_json_file(const std::filesystem::path& file) {
    const std::string name = file.filename().string();
    return name.ends_with(".json") || name.ends_with(".json.gz");
}

Result<ChakraMetadata> read_nodes(const std::filesystem::path& file, const NodeSink& sink) {
    return is_json_file(file) ? read_json_nodes(file, sink) : read_binary_nodes(file, sink);
}

Result<ChakraMetadata> read_json_nodes(const std::filesystem::path& file, const NodeSink& sink) {
    Result<TraceFile> opened = TraceFile::open(file);
    if (!opened) {
        return opened.error();
    }
    return JsonReader(*std::move(opened), sink).read();
}

}  // namespace astrolabe::workload::chakra
