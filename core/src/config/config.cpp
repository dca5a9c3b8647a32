#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <system_error>

#include <fmt/format.h>
#include <yaml-cpp/emitter.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/core/config/file_name.hpp>

namespace astrolabe {
namespace {

constexpr std::size_t kLargestFile = std::size_t{64} << 20;
constexpr std::size_t kMaxValues = 1'000'000;

SourceRange range_at(const std::shared_ptr<const SourceText>& source, const YAML::Mark& mark,
                     std::size_t length) {
    if (mark.is_null()) {
        return {source, 0, 0, 1};
    }
    return {source, mark.line + 1, mark.column + 1, static_cast<int>(std::min<std::size_t>(length, 200))};
}

Diagnostic error_at(std::string code, SourceRange where, std::string message, std::string hint = {}) {
    return {std::move(code), std::move(where), std::move(message), std::move(hint), {}};
}

/// Builds the tree from the parser's events; keeps going over everything that is not a syntax error.
class TreeBuilder final : public YAML::EventHandler {
public:
    TreeBuilder(std::shared_ptr<const SourceText> source, Diagnostics& errors)
        : source_(std::move(source)),
          errors_(errors) {}

    [[nodiscard]] std::optional<ConfigNode> take_root() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        ConfigNode node = ConfigNode::scalar("");
        node.where = range_at(source_, mark, 1);
        add(std::move(node), anchor);
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const auto found = anchors_.find(anchor);
        if (found == anchors_.end()) {
            errors_.push_back(error_at("config.alias", range_at(source_, mark, 1),
                                       "an alias names a value that contains it", "write the value out"));
            add(ConfigNode::scalar(""), 0);
            return;
        }
        ConfigNode copy = found->second;
        values_ += found->second.is_scalar() ? 0 : count_values(found->second);
        add(std::move(copy), 0);
    }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        check_tag(mark, tag);
        ConfigNode node = ConfigNode::scalar(value);
        node.where = range_at(source_, mark, std::max<std::size_t>(value.size(), 1) + (tag == "!" ? 2 : 0));
        add(std::move(node), anchor);
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        check_tag(mark, tag);
        ConfigNode node = ConfigNode::sequence({});
        node.where = range_at(source_, mark, 1);
        open_.push_back({std::move(node), anchor, std::nullopt});
    }
    void OnSequenceEnd() override { close(); }

    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        check_tag(mark, tag);
        ConfigNode node = ConfigNode::mapping();
        node.where = range_at(source_, mark, 1);
        open_.push_back({std::move(node), anchor, std::nullopt});
    }
    void OnMapEnd() override { close(); }

private:
    struct Open {
        ConfigNode node;
        YAML::anchor_t anchor;
        std::optional<std::pair<std::string, SourceRange>> key;
    };

    static std::size_t count_values(const ConfigNode& node) {
        std::size_t count = 1;
        for (const ConfigNode& item : node.items) {
            count += count_values(item);
        }
        for (const ConfigEntry& entry : node.entries) {
            count += count_values(entry.value);
        }
        return count;
    }

    void check_tag(const YAML::Mark& mark, const std::string& tag) {
        if (!tag.empty() && tag != "?" && tag != "!") {
            errors_.push_back(error_at("config.tag", range_at(source_, mark, tag.size()),
                                       fmt::format("tag '{}' is not supported", tag), "remove the tag"));
        }
    }

    void close() {
        Open done = std::move(open_.back());
        open_.pop_back();
        add(std::move(done.node), done.anchor);
    }

    void add(ConfigNode node, YAML::anchor_t anchor) {
        if (++values_ > kMaxValues) {
            throw YAML::ParserException(YAML::Mark::null_mark(), "more than a million values");
        }
        if (anchor != 0) {
            anchors_.insert_or_assign(anchor, node);
        }
        if (open_.empty()) {
            root_ = std::move(node);
            return;
        }
        Open& parent = open_.back();
        if (parent.node.is_sequence()) {
            parent.node.items.push_back(std::move(node));
        } else if (!parent.key) {
            if (!node.is_scalar()) {
                errors_.push_back(error_at("config.key", node.where,
                                           fmt::format("a key must be a word, not {}", node.kind_name())));
            }
            parent.key.emplace(node.text, node.where);
        } else {
            insert(parent, std::move(node));
        }
    }

    void insert(Open& parent, ConfigNode node) {
        auto [key, where] = std::move(*parent.key);
        parent.key.reset();
        const auto same = std::find_if(parent.node.entries.begin(), parent.node.entries.end(),
                                       [&](const ConfigEntry& entry) { return entry.key == key; });
        if (same == parent.node.entries.end()) {
            parent.node.entries.push_back({std::move(key), std::move(where), std::move(node)});
            return;
        }
        Diagnostic duplicate = error_at("config.duplicate-key", std::move(where),
                                        fmt::format("'{}' is given twice", key), "keep one of the two");
        duplicate.notes.emplace_back(same->key_where, "first given here");
        errors_.push_back(std::move(duplicate));
    }

    std::shared_ptr<const SourceText> source_;
    Diagnostics& errors_;
    std::vector<Open> open_;
    std::map<YAML::anchor_t, ConfigNode> anchors_;
    std::optional<ConfigNode> root_;
    std::size_t values_ = 0;
};

/// `overlay` takes precedence; mappings merge key by key.
void merge_below(ConfigNode& overlay, ConfigNode base) {
    for (ConfigEntry& entry : base.entries) {
        ConfigNode* mine = overlay.find(entry.key);
        if (mine == nullptr) {
            overlay.entries.push_back(std::move(entry));
        } else if (mine->is_mapping() && entry.value.is_mapping()) {
            merge_below(*mine, std::move(entry.value));
        }
    }
}

class Loader {
public:
    explicit Loader(Diagnostics& errors)
        : errors_(errors) {}

    std::optional<ConfigNode> load_file(const std::filesystem::path& path, const SourceRange& named_at) {
        std::error_code failure;
        const std::filesystem::file_status status = std::filesystem::status(path, failure);
        if (!std::filesystem::exists(status)) {
            missing(path, named_at);
            return std::nullopt;
        }
        if (std::filesystem::is_directory(status)) {
            errors_.push_back(error_at("config.file", named_at,
                                       fmt::format("'{}' is a folder, expected a YAML file", path.string())));
            return std::nullopt;
        }
        const std::filesystem::path identity = std::filesystem::weakly_canonical(path, failure);
        if (std::find(stack_.begin(), stack_.end(), identity) != stack_.end()) {
            errors_.push_back(error_at("config.include-cycle", named_at,
                                       fmt::format("'{}' includes itself", path.string()),
                                       "remove one of the includes of the cycle"));
            return std::nullopt;
        }
        std::ifstream file(path, std::ios::binary);
        std::string text;
        std::array<char, 1 << 14> block;
        while (file && text.size() <= kLargestFile) {
            file.read(block.data(), block.size());
            text.append(block.data(), static_cast<std::size_t>(file.gcount()));
        }
        if (!file.eof() || file.bad()) {
            const bool large = text.size() > kLargestFile;
            errors_.push_back(error_at("config.file", named_at,
                                       large ? fmt::format("'{}' is larger than 64 MiB", path.string())
                                             : fmt::format("'{}' cannot be read", path.string()),
                                       large ? "" : "check its permissions"));
            return std::nullopt;
        }
        stack_.push_back(identity);
        std::optional<ConfigNode> node = load_text(std::move(text), path.string(), path.parent_path());
        stack_.pop_back();
        return node;
    }

    std::optional<ConfigNode> load_text(std::string text, std::string name,
                                        const std::filesystem::path& directory) {
        const auto source = std::make_shared<const SourceText>(SourceText{std::move(name), std::move(text)});
        std::optional<ConfigNode> root = parse(source);
        if (root) {
            resolve_includes(*root, directory);
        }
        return root;
    }

private:
    std::optional<ConfigNode> parse(const std::shared_ptr<const SourceText>& source) {
        if (source->text.find('\0') != std::string::npos) {
            errors_.push_back(
                error_at("config.syntax", {source, 0, 0, 1}, "not a text: it holds a NUL byte"));
            return std::nullopt;
        }
        TreeBuilder builder(source, errors_);
        try {
            std::istringstream stream(source->text);
            YAML::Parser parser(stream);
            if (!parser.HandleNextDocument(builder)) {
                errors_.push_back(error_at("config.empty", {source, 0, 0, 1}, "the file is empty",
                                           "an experiment starts with 'schema: astrolabe/1'"));
                return std::nullopt;
            }
            std::optional<ConfigNode> root = builder.take_root();
            TreeBuilder second(source, errors_);
            if (parser.HandleNextDocument(second)) {
                const std::optional<ConfigNode> next = second.take_root();
                errors_.push_back(
                    error_at("config.documents", next ? next->where : SourceRange{source, 0, 0, 1},
                             "a second YAML document starts here", "one file holds one document"));
            }
            return root;
        } catch (const YAML::Exception& exception) {
            errors_.push_back(error_at("config.syntax", range_at(source, exception.mark, 1), exception.msg,
                                       "check indentation, colons and brackets near this place"));
            return std::nullopt;
        }
    }

    void resolve_includes(ConfigNode& node, const std::filesystem::path& directory) {
        for (ConfigNode& item : node.items) {
            resolve_includes(item, directory);
        }
        for (ConfigEntry& entry : node.entries) {
            resolve_includes(entry.value, directory);
        }
        const auto include = std::find_if(node.entries.begin(), node.entries.end(),
                                          [](const ConfigEntry& entry) { return entry.key == "include"; });
        if (include == node.entries.end()) {
            return;
        }
        const ConfigNode files = std::move(include->value);
        node.entries.erase(include);
        std::vector<ConfigNode> paths = files.is_sequence() ? files.items : std::vector<ConfigNode>{files};
        // The last of several includes wins over those before it.
        std::reverse(paths.begin(), paths.end());
        for (const ConfigNode& path : paths) {
            if (!path.is_scalar() || path.text.empty()) {
                errors_.push_back(
                    error_at("config.include", path.where, "include takes a path or a list of paths"));
                continue;
            }
            std::optional<ConfigNode> base = load_file(directory / path.text, path.where);
            if (!base) {
                continue;
            }
            if (!base->is_mapping()) {
                errors_.push_back(
                    error_at("config.include", path.where,
                             fmt::format("'{}' holds {}, expected a mapping", path.text, base->kind_name())));
                continue;
            }
            std::erase_if(base->entries, [](const ConfigEntry& entry) { return entry.key == "schema"; });
            merge_below(node, std::move(*base));
        }
    }

    void missing(const std::filesystem::path& path, const SourceRange& named_at) {
        std::vector<std::string> names;
        std::error_code failure;
        const std::filesystem::path folder = path.parent_path().empty() ? "." : path.parent_path();
        for (std::filesystem::directory_iterator it(folder, failure), end;
             !failure && it != end && names.size() < 1000; it.increment(failure)) {
            names.push_back(it->path().filename().string());
        }
        std::sort(names.begin(), names.end());
        const std::vector<std::string> near = nearest_names(path.filename().string(), names);
        std::string hint = fmt::format("there is no such file in '{}'", folder.string());
        if (failure) {
            hint = fmt::format("there is no folder '{}'", folder.string());
        } else if (!near.empty()) {
            hint = fmt::format("did you mean '{}'?", near.front());
        }
        errors_.push_back(
            error_at("config.no-such-file", named_at, fmt::format("cannot open '{}'", path.string()), hint));
    }

    Diagnostics& errors_;
    std::vector<std::filesystem::path> stack_;
};

Result<ConfigNode> finish(std::optional<ConfigNode> node, Diagnostics errors) {
    if (!errors.empty()) {
        return errors;
    }
    ASTROLABE_ASSERT(node.has_value(), "a text without errors gives a tree");
    return std::move(*node);
}

void emit(YAML::Emitter& out, const ConfigNode& node) {
    switch (node.kind) {
        case ConfigNode::Kind::kScalar:
            if (node.text.empty()) {
                out << YAML::DoubleQuoted << "";
            } else {
                out << node.text;
            }
            break;
        case ConfigNode::Kind::kSequence: {
            const bool flat = std::all_of(node.items.begin(), node.items.end(),
                                          [](const ConfigNode& item) { return item.is_scalar(); });
            out << (flat ? YAML::Flow : YAML::Block) << YAML::BeginSeq;
            for (const ConfigNode& item : node.items) {
                emit(out, item);
            }
            out << YAML::EndSeq;
            break;
        }
        case ConfigNode::Kind::kMapping:
            if (node.entries.empty()) {
                out << YAML::Flow;
            }
            out << YAML::BeginMap;
            for (const ConfigEntry& entry : node.entries) {
                out << YAML::Key << entry.key << YAML::Value;
                emit(out, entry.value);
            }
            out << YAML::EndMap;
            break;
    }
}

std::optional<std::size_t> list_index(std::string_view step) {
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
    if (error != std::errc{} || end != step.data() + step.size()) {
        return std::nullopt;
    }
    return index;
}

std::string_view take_step(std::string_view& path) {
    const std::size_t dot = path.find('.');
    const std::string_view step = path.substr(0, dot);
    path = dot == std::string_view::npos ? std::string_view{} : path.substr(dot + 1);
    return step;
}

}  // namespace

ConfigNode ConfigNode::scalar(std::string text) {
    ConfigNode node;
    node.kind = Kind::kScalar;
    node.text = std::move(text);
    return node;
}

ConfigNode ConfigNode::sequence(std::vector<ConfigNode> items) {
    ConfigNode node;
    node.kind = Kind::kSequence;
    node.items = std::move(items);
    return node;
}

ConfigNode ConfigNode::mapping() {
    return {};
}

std::string_view ConfigNode::kind_name() const {
    switch (kind) {
        case Kind::kScalar:
            return text.empty() ? "nothing" : "a value";
        case Kind::kSequence:
            return "a list";
        case Kind::kMapping:
            return "a mapping";
    }
    return {};
}

const ConfigNode* ConfigNode::find(std::string_view key) const {
    for (const ConfigEntry& entry : entries) {
        if (entry.key == key) {
            return &entry.value;
        }
    }
    return nullptr;
}

ConfigNode* ConfigNode::find(std::string_view key) {
    return const_cast<ConfigNode*>(std::as_const(*this).find(key));
}

const ConfigNode* ConfigNode::find_path(std::string_view path) const {
    const ConfigNode* node = this;
    while (node != nullptr && !path.empty()) {
        const std::string_view step = take_step(path);
        if (node->is_sequence()) {
            const std::optional<std::size_t> index = list_index(step);
            node = index && *index < node->items.size() ? &node->items[*index] : nullptr;
        } else {
            node = node->find(step);
        }
    }
    return node;
}

void ConfigNode::set(std::string key, ConfigNode value) {
    if (ConfigNode* existing = find(key)) {
        *existing = std::move(value);
    } else {
        entries.push_back({std::move(key), {}, std::move(value)});
    }
}

Result<ConfigNode> load_config(const std::filesystem::path& path) {
    if (path == kStandardInput) {
        // It can be read once, and a command may look at its file twice.
        static const std::string text{std::istreambuf_iterator<char>(std::cin),
                                      std::istreambuf_iterator<char>()};
        return parse_config(text, "standard input");
    }
    Diagnostics errors;
    std::optional<ConfigNode> node = Loader(errors).load_file(path, {});
    return finish(std::move(node), std::move(errors));
}

Result<ConfigNode> parse_config(std::string text, std::string name, const std::filesystem::path& directory) {
    Diagnostics errors;
    std::optional<ConfigNode> node = Loader(errors).load_text(std::move(text), std::move(name), directory);
    return finish(std::move(node), std::move(errors));
}

std::string name_of(const std::filesystem::path& file) {
    return file == kStandardInput ? "stdin" : file.stem().string();
}

std::filesystem::path directory_of(const ConfigNode& node) {
    return node.where.source ? std::filesystem::path(node.where.source->name).parent_path()
                             : std::filesystem::path{};
}

Diagnostics apply_override(ConfigNode& root, std::string_view assignment) {
    const auto source = std::make_shared<const SourceText>(SourceText{"--set", std::string(assignment)});
    const auto refuse = [&](std::size_t column, std::size_t length, std::string message, std::string hint) {
        return Diagnostics{error_at(
            "config.override",
            {source, 1, static_cast<int>(column) + 1, static_cast<int>(std::max<std::size_t>(length, 1))},
            std::move(message), std::move(hint))};
    };
    const std::size_t equals = assignment.find('=');
    if (equals == std::string_view::npos || equals == 0) {
        return refuse(0, assignment.size(), "an override is written path=value",
                      "for example --set cluster.ranks=16");
    }
    if (assignment.find_first_not_of(" \t", equals + 1) == std::string_view::npos) {
        return refuse(equals, 1, "no value after '='", "for nothing write null, for an empty text ''");
    }
    // The value keeps its column, so that a diagnostic points into the argument as it was typed.
    Result<ConfigNode> value =
        parse_config(std::string(equals + 1, ' ') + std::string(assignment.substr(equals + 1)), "--set");
    if (!value) {
        Diagnostics errors = value.error();
        for (Diagnostic& error : errors) {
            error.where.source = source;
        }
        return errors;
    }
    ConfigNode* node = &root;
    std::string_view path = assignment.substr(0, equals);
    while (!path.empty()) {
        const std::size_t column = static_cast<std::size_t>(path.data() - assignment.data());
        const std::string_view step = take_step(path);
        if (step.empty()) {
            return refuse(column, 1, "an empty name in the path", "write names separated by single dots");
        }
        if (node->is_sequence()) {
            const std::optional<std::size_t> index = list_index(step);
            if (!index || *index >= node->items.size()) {
                return refuse(column, step.size(),
                              fmt::format("'{}' is not an item of a list of {}", step, node->items.size()),
                              "items count from 0");
            }
            node = &node->items[*index];
            continue;
        }
        if (node->is_scalar()) {
            return refuse(column, step.size(),
                          fmt::format("'{}' would be inside the value '{}'", step, node->text),
                          "set the whole section instead: section={key: value}");
        }
        ConfigNode* child = node->find(step);
        if (child == nullptr) {
            ConfigNode made = ConfigNode::mapping();
            made.where = {source, 1, static_cast<int>(column) + 1, static_cast<int>(step.size())};
            node->entries.push_back({std::string(step), made.where, made});
            child = &node->entries.back().value;
        }
        node = child;
    }
    *node = *std::move(value);
    return {};
}

std::string to_yaml(const ConfigNode& node) {
    YAML::Emitter out;
    out.SetIndent(2);
    emit(out, node);
    return std::string(out.c_str()) + "\n";
}

}  // namespace astrolabe
