#include "config_path.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <system_error>
#include <unordered_map>

#include <fmt/format.h>
#include <yaml-cpp/emitter.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/core/config/file_name.hpp>
#include <astrolabe/core/limits.hpp>
#include <astrolabe/core/source_text.hpp>
#include <astrolabe/core/utf8.hpp>

namespace astrolabe {
namespace {

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

/// Goes through the parser: what is behind the place is not read.
struct LimitExceeded {
    Diagnostic diagnostic;
};

/// "1,000,000"
std::string with_commas(std::size_t number) {
    const std::string digits = std::to_string(number);
    std::string text;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0) {
            text += ',';
        }
        text += digits[i];
    }
    return text;
}

void add_values(ReadUsage& usage, std::size_t count, const SourceRange& where) {
    usage.values += count;
    if (usage.values > limits::kValues) {
        throw LimitExceeded{error_at(
            "config.limit", where,
            fmt::format("this is value {}, expected at most {}", with_commas(usage.values),
                        with_commas(limits::kValues)),
            "what aliases, included files and files of sections repeat counts each time, and what an "
            "anchor names once more")};
    }
}

void add_bytes(ReadUsage& usage, std::size_t count, const SourceRange& where) {
    usage.bytes += count;
    if (usage.bytes > limits::kTotalBytes) {
        throw LimitExceeded{
            error_at("config.limit", where,
                     fmt::format("the text has {} bytes up to here, expected at most {}",
                                 with_commas(usage.bytes), with_commas(limits::kTotalBytes)),
                     "what aliases, included files and files of sections repeat counts each time")};
    }
}

/// Builds the tree from the parser's events; keeps going over everything that is not a syntax error.
class TreeBuilder final : public YAML::EventHandler {
public:
    /// `nesting`: lists and mappings of other files that the text is inside of.
    TreeBuilder(std::shared_ptr<const SourceText> source, std::size_t nesting, ReadUsage& usage,
                Diagnostics& errors)
        : source_(std::move(source)),
          nesting_(nesting),
          usage_(usage),
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
        const SourceRange where = range_at(source_, mark, 1);
        if (found == anchors_.end()) {
            add_values(usage_, 1, where);
            errors_.push_back(error_at("config.alias", where, "an alias names a value that contains it",
                                       "write the value out"));
            place(ConfigNode::scalar(""));
            return;
        }
        check_nesting(found->second.extent.height, where);
        add_values(usage_, found->second.extent.values, where);
        add_bytes(usage_, found->second.extent.bytes, where);
        place(found->second.node);
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
        open(std::move(node), anchor);
    }
    void OnSequenceEnd() override { close(); }

    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        check_tag(mark, tag);
        ConfigNode node = ConfigNode::mapping();
        node.where = range_at(source_, mark, 1);
        open(std::move(node), anchor);
    }
    void OnMapEnd() override { close(); }

private:
    struct Open {
        ConfigNode node;
        YAML::anchor_t anchor;
        std::optional<std::pair<std::string, SourceRange>> key;
        std::unordered_map<std::string, std::size_t> places;  ///< of the keys in the node's entries
    };
    /// What a copy of a node takes.
    struct Extent {
        std::size_t values = 1;
        std::size_t bytes = 0;
        std::size_t height = 0;  ///< lists and mappings inside each other, with the node itself
    };
    struct Anchored {
        ConfigNode node;
        Extent extent;
    };

    static Extent extent_of(const ConfigNode& node) {
        Extent extent{1, node.text.size(), 0};
        const auto add_part = [&extent](const ConfigNode& part) {
            const Extent inner = extent_of(part);
            extent.values += inner.values;
            extent.bytes += inner.bytes;
            extent.height = std::max(extent.height, inner.height);
        };
        for (const ConfigNode& item : node.items) {
            add_part(item);
        }
        for (const ConfigEntry& entry : node.entries) {
            extent.bytes += entry.key.size();
            add_part(entry.value);
        }
        extent.height += node.is_scalar() ? 0 : 1;
        return extent;
    }

    void check_nesting(std::size_t height, const SourceRange& where) const {
        if (nesting_ + open_.size() + height > limits::kNesting) {
            throw LimitExceeded{
                error_at("config.limit", where,
                         fmt::format("{} lists and mappings inside each other, expected at most {}",
                                     nesting_ + open_.size() + height, limits::kNesting),
                         "is this the right file?")};
        }
    }

    void open(ConfigNode node, YAML::anchor_t anchor) {
        check_nesting(1, node.where);
        open_.push_back({std::move(node), anchor, std::nullopt, {}});
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
        add_values(usage_, 1, node.where);
        if (anchor != 0) {
            const Extent extent = extent_of(node);
            add_values(usage_, extent.values, node.where);
            add_bytes(usage_, extent.bytes, node.where);
            anchors_.insert_or_assign(anchor, Anchored{node, extent});
        }
        place(std::move(node));
    }

    /// Where the parser is: the root, an item, a key or the value of one.
    void place(ConfigNode node) {
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
        const auto [same, is_new] = parent.places.try_emplace(key, parent.node.entries.size());
        if (is_new) {
            parent.node.entries.push_back({std::move(key), std::move(where), std::move(node)});
            return;
        }
        Diagnostic duplicate = error_at("config.duplicate-key", std::move(where),
                                        fmt::format("'{}' is given twice", key), "keep one of the two");
        duplicate.notes.emplace_back(parent.node.entries[same->second].key_where, "first given here");
        errors_.push_back(std::move(duplicate));
    }

    std::shared_ptr<const SourceText> source_;
    std::size_t nesting_;
    ReadUsage& usage_;
    Diagnostics& errors_;
    std::vector<Open> open_;
    std::map<YAML::anchor_t, Anchored> anchors_;
    std::optional<ConfigNode> root_;
};

/// `overlay` takes precedence; mappings merge key by key. Linear in the entries of both.
void merge_below(ConfigNode& overlay, ConfigNode base) {
    std::unordered_map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < overlay.entries.size(); ++i) {
        places.emplace(overlay.entries[i].key, i);
    }
    for (ConfigEntry& entry : base.entries) {
        const auto found = places.find(entry.key);
        ConfigNode* mine = found == places.end() ? nullptr : &overlay.entries[found->second].value;
        if (mine == nullptr) {
            overlay.entries.push_back(std::move(entry));
        } else if (mine->is_mapping() && entry.value.is_mapping()) {
            merge_below(*mine, std::move(entry.value));
        }
    }
}

class Loader {
public:
    Loader(Diagnostics& errors, ReadUsage& usage)
        : errors_(errors),
          usage_(usage) {}

    /// `nesting`: lists and mappings that the file comes into.
    std::optional<ConfigNode> load_file(const std::filesystem::path& path, const SourceRange& named_at,
                                        std::size_t nesting = 0) {
        std::error_code failure;
        const std::filesystem::file_status status = std::filesystem::status(path, failure);
        if (!std::filesystem::exists(status)) {
            missing(path, named_at);
            return std::nullopt;
        }
        if (std::filesystem::is_directory(status)) {
            errors_.push_back(error_at("config.file", named_at,
                                       fmt::format("'{}' is a folder, expected a YAML file", path.string()),
                                       files_hint(path)));
            return std::nullopt;
        }
        if (usage_.is_exceeded() && !errors_.empty()) {
            return std::nullopt;  // as was said where the limit was passed
        }
        const std::filesystem::path identity = std::filesystem::weakly_canonical(path, failure);
        if (std::find(stack_.begin(), stack_.end(), identity) != stack_.end()) {
            errors_.push_back(error_at("config.include-cycle", named_at,
                                       fmt::format("'{}' includes itself", path.string()),
                                       "remove one of the includes of the cycle"));
            return std::nullopt;
        }
        if (stack_.size() > limits::kIncludeDepth) {
            errors_.push_back(error_at("config.limit", named_at,
                                       fmt::format("'{}' is included through {} files, expected at most {}",
                                                   path.string(), stack_.size(), limits::kIncludeDepth),
                                       "include the last file of the chain where its values are used"));
            return std::nullopt;
        }
        std::ifstream file(path, std::ios::binary);
        std::optional<std::string> text = read_text(file);
        if (!text) {
            errors_.push_back(error_at("config.file", named_at,
                                       fmt::format("'{}' cannot be read", path.string()),
                                       "check its permissions"));
            return std::nullopt;
        }
        stack_.push_back(identity);
        std::optional<ConfigNode> node =
            load_text(*std::move(text), path.string(), path.parent_path(), named_at, nesting);
        stack_.pop_back();
        return node;
    }

    /// `named_at`: the place that names the text, which errors about it as a whole refer to; none for the
    /// first.
    std::optional<ConfigNode> load_text(std::string text, std::string name,
                                        const std::filesystem::path& directory,
                                        const SourceRange& named_at = {}, std::size_t nesting = 0) {
        const auto source = std::make_shared<const SourceText>(SourceText{std::move(name), std::move(text)});
        std::optional<ConfigNode> root;
        try {
            check_size(source, named_at.source ? named_at : SourceRange{source, 1, 1, 1});
            root = parse(source, nesting);
        } catch (LimitExceeded& limit) {
            errors_.push_back(std::move(limit.diagnostic));
        }
        if (root) {
            resolve_includes(*root, directory, nesting);
        }
        return root;
    }

    /// Up to one byte over what a file may have; nothing if it cannot be read.
    static std::optional<std::string> read_text(std::istream& stream) {
        constexpr std::size_t kBlock = std::size_t{1} << 14;
        std::string text;
        while (stream && text.size() <= limits::kFileBytes) {
            const std::size_t begin = text.size();
            text.resize(begin + kBlock);
            stream.read(text.data() + begin, kBlock);
            text.resize(begin + static_cast<std::size_t>(stream.gcount()));
        }
        if (stream.bad() || (!stream.eof() && text.size() <= limits::kFileBytes)) {
            return std::nullopt;
        }
        return text;
    }

private:
    void check_size(const std::shared_ptr<const SourceText>& source, const SourceRange& where) {
        if (source->text.size() > limits::kFileBytes) {
            throw LimitExceeded{error_at("config.limit", where,
                                         fmt::format("'{}' is larger, expected at most {} bytes",
                                                     source->name, with_commas(limits::kFileBytes)),
                                         "is this the right file?")};
        }
        add_bytes(usage_, source->text.size(), where);
    }

    std::optional<ConfigNode> parse(const std::shared_ptr<const SourceText>& source, std::size_t nesting) {
        if (std::optional<Diagnostic> error = not_utf8(source, "config.encoding")) {
            errors_.push_back(*std::move(error));
            return std::nullopt;
        }
        if (const std::size_t zero = source->text.find('\0'); zero != std::string::npos) {
            errors_.push_back(error_at("config.syntax",
                                       TextPlaces(source).at(static_cast<std::ptrdiff_t>(zero)),
                                       "not a text: it holds a NUL byte", "is this the right file?"));
            return std::nullopt;
        }
        TreeBuilder builder(source, nesting, usage_, errors_);
        try {
            std::istringstream stream(source->text);
            YAML::Parser parser(stream);
            if (!parser.HandleNextDocument(builder)) {
                errors_.push_back(error_at("config.empty", {source, 1, 1, 1}, "the file is empty",
                                           "an experiment starts with 'schema: astrolabe/1'"));
                return std::nullopt;
            }
            std::optional<ConfigNode> root = builder.take_root();
            TreeBuilder second(source, nesting, usage_, errors_);
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

    void resolve_includes(ConfigNode& node, const std::filesystem::path& directory, std::size_t nesting) {
        for (ConfigNode& item : node.items) {
            resolve_includes(item, directory, nesting + 1);
        }
        for (ConfigEntry& entry : node.entries) {
            resolve_includes(entry.value, directory, nesting + 1);
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
            if (++includes_ > limits::kIncludes) {
                if (includes_ == limits::kIncludes + 1) {
                    errors_.push_back(
                        error_at("config.limit", path.where,
                                 fmt::format("'{}' is inclusion {}, expected at most {}", path.text,
                                             with_commas(includes_), with_commas(limits::kIncludes)),
                                 "a file that is included twice counts twice, with all that it includes"));
                }
                return;
            }
            std::optional<ConfigNode> base = load_file(directory / path.text, path.where, nesting);
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

    /// In order of their names.
    static std::vector<std::string> names_in(const std::filesystem::path& folder, std::error_code& failure) {
        std::vector<std::string> names;
        for (std::filesystem::directory_iterator it(folder, failure), end;
             !failure && it != end && names.size() < 1000; it.increment(failure)) {
            names.push_back(it->path().filename().string());
        }
        std::sort(names.begin(), names.end());
        return names;
    }

    /// "name a file in it: experiment.yaml, study.yaml".
    static std::string files_hint(const std::filesystem::path& folder) {
        constexpr std::size_t kMost = 3;
        std::error_code failure;
        std::string files;
        std::size_t shown = 0;
        for (const std::string& name : names_in(folder, failure)) {
            if (name.ends_with(".yaml") && shown < kMost) {
                files += (shown == 0 ? "" : ", ") + name;
                ++shown;
            }
        }
        return files.empty() ? "" : "name a file in it: " + files;
    }

    void missing(const std::filesystem::path& path, const SourceRange& named_at) {
        std::error_code failure;
        const std::filesystem::path folder = path.parent_path().empty() ? "." : path.parent_path();
        const std::vector<std::string> names = names_in(folder, failure);
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
    ReadUsage& usage_;
    std::size_t includes_ = 0;
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

}  // namespace

bool ReadUsage::is_exceeded() const {
    return bytes > limits::kTotalBytes || values > limits::kValues;
}

Result<ConfigNode> load_config(const std::filesystem::path& path) {
    ReadUsage usage;
    return load_config(path, usage);
}

Result<ConfigNode> load_config(const std::filesystem::path& path, ReadUsage& usage) {
    Diagnostics errors;
    if (path == kStandardInput) {
        // It can be read once, and a command may look at its file twice.
        static const std::optional<std::string> text = Loader::read_text(std::cin);
        if (!text) {
            return error_at("config.file", {}, "standard input cannot be read");
        }
        std::optional<ConfigNode> node = Loader(errors, usage).load_text(*text, "standard input", ".");
        return finish(std::move(node), std::move(errors));
    }
    std::optional<ConfigNode> node = Loader(errors, usage).load_file(path, {});
    return finish(std::move(node), std::move(errors));
}

Result<ConfigNode> parse_config(std::string text, std::string name, const std::filesystem::path& directory) {
    Diagnostics errors;
    ReadUsage usage;
    std::optional<ConfigNode> node =
        Loader(errors, usage).load_text(std::move(text), std::move(name), directory);
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
    if (std::optional<Diagnostic> error = not_utf8(source, "config.encoding")) {
        error->hint = "text is UTF-8: is the terminal set to it?";
        return {*std::move(error)};
    }
    const std::size_t equals = assignment.find('=');
    if (equals == std::string_view::npos || equals == 0) {
        return refuse(0, assignment.size(), "an override is written path=value",
                      "for example --set cluster.ranks=16");
    }
    if (std::optional<Diagnostic> error = deep_path(assignment.substr(0, equals), {source, 1, 1, 1})) {
        return {*std::move(error)};
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
