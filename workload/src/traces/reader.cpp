#include "astra_text.hpp"
#include "keywords.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/limits.hpp>
#include <astrolabe/core/utf8.hpp>

namespace astrolabe::workload {

namespace {

using system::CollectiveKind;

constexpr std::size_t kColumns = 12;
constexpr std::array<std::string_view, kColumns + 1> kColumnNames{"name",
                                                                  "dependency",
                                                                  "forward compute",
                                                                  "forward collective",
                                                                  "forward size",
                                                                  "input gradient compute",
                                                                  "input gradient collective",
                                                                  "input gradient size",
                                                                  "weight gradient compute",
                                                                  "weight gradient collective",
                                                                  "weight gradient size",
                                                                  "update delay",
                                                                  "policy"};
constexpr std::array<std::pair<std::string_view, CollectiveKind>, 4> kCollectives{
    {{"ALLREDUCE", CollectiveKind::kAllReduce},
     {"ALLTOALL", CollectiveKind::kAllToAll},
     {"ALLGATHER", CollectiveKind::kAllGather},
     {"REDUCESCATTER", CollectiveKind::kReduceScatter}}};
constexpr std::array<AstraKeyword, 4> kPolicies{AstraKeyword::kData, AstraKeyword::kModel,
                                                AstraKeyword::kHybridDataModel,
                                                AstraKeyword::kHybridModelData};

/// The longest first.
constexpr std::array<std::pair<std::string_view, AstraGroup>, 3> kGroupSuffixes{
    {{"_DP_EP", AstraGroup::kDataOfExperts}, {"_EP", AstraGroup::kExpert}, {"_DP", AstraGroup::kData}}};

struct Token {
    std::string_view text;
    int line = 0;
    int column = 0;
};
using Tokens = std::vector<Token>;

std::vector<Tokens> tokenise(std::string_view text) {
    constexpr std::string_view kSeparators = " \t\r";
    std::vector<Tokens> lines;
    for (int number = 1; !text.empty(); ++number) {
        const std::string_view line = text.substr(0, text.find('\n'));
        Tokens tokens;
        for (std::size_t begin = line.find_first_not_of(kSeparators); begin != std::string_view::npos;) {
            const std::size_t end = std::min(line.find_first_of(kSeparators, begin), line.size());
            tokens.push_back({line.substr(begin, end - begin), number, static_cast<int>(begin) + 1});
            begin = line.find_first_not_of(kSeparators, end);
        }
        if (!tokens.empty()) {
            lines.push_back(std::move(tokens));
        }
        text.remove_prefix(std::min(line.size() + 1, text.size()));
    }
    return lines;
}

template <class Pairs>
std::vector<std::string> names_of(const Pairs& pairs) {
    std::vector<std::string> names;
    for (const auto& entry : pairs) {
        names.emplace_back(entry.first);
    }
    return names;
}

class Reader {
public:
    explicit Reader(std::shared_ptr<const SourceText> source)
        : source_(std::move(source)),
          lines_(tokenise(source_->text)) {}

    [[nodiscard]] Result<AstraText> read() && {
        if (lines_.empty()) {
            return Diagnostic{"astra.empty",
                              {source_, 1, 1},
                              "the file has no text",
                              "line 1 is a keyword, line 2 the number of layers, then a line a layer",
                              {}};
        }
        read_header(lines_[0]);
        read_layers();
        if (errors_.empty()) {
            check_header();
        }
        if (!errors_.empty()) {
            return std::move(errors_);
        }
        return std::move(text_);
    }

private:
    /// As many as are shown are kept.
    void error(std::string code, const Token& token, std::string message, std::string hint) {
        if (errors_.size() >= limits::kErrorsShown) {
            return;
        }
        errors_.push_back({std::move(code),
                           {source_, token.line, token.column, static_cast<int>(token.text.size())},
                           std::move(message),
                           std::move(hint),
                           {}});
    }
    /// All of a line.
    static Token whole(const Tokens& line) {
        const char* begin = line.front().text.data();
        const char* end = line.back().text.data() + line.back().text.size();
        return {{begin, static_cast<std::size_t>(end - begin)}, line.front().line, line.front().column};
    }

    std::optional<std::int64_t> integer(const Token& token, std::string_view what, std::int64_t minimum = 0) {
        std::string_view digits = token.text;
        // Some generators write whole numbers as floating point.
        if (const std::size_t point = digits.find('.');
            point != std::string_view::npos && point + 1 < digits.size() &&
            digits.find_first_not_of('0', point + 1) == std::string_view::npos) {
            digits = digits.substr(0, point);
        }
        std::int64_t value = 0;
        const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (end != digits.data() + digits.size() || failure == std::errc::invalid_argument) {
            error("astra.number", token, fmt::format("{} is '{}', expected an integer", what, token.text),
                  "write digits only, without unit or fraction");
            return std::nullopt;
        }
        if (failure == std::errc::result_out_of_range) {
            error("astra.range", token, fmt::format("{} is {}, beyond 64 bits", what, token.text),
                  "the largest number is 9223372036854775807");
            return std::nullopt;
        }
        if (value < minimum) {
            error("astra.range", token,
                  fmt::format("{} is {}, expected at least {}", what, token.text, minimum),
                  "write 0 where there is nothing to compute or to send");
            return std::nullopt;
        }
        return value;
    }

    // ---- line 1

    void read_header(const Tokens& line) {
        const Token& first = line.front();
        const auto* const known =
            std::find_if(kAstraKeywords.begin(), kAstraKeywords.end(),
                         [&](const NamedKeyword& entry) { return entry.first == first.text; });
        if (known == kAstraKeywords.end()) {
            error("astra.keyword", first, fmt::format("'{}' is not a keyword of a workload", first.text),
                  suggest(first.text, names_of(kAstraKeywords)));
            return;
        }
        keyword_ = known->second;
        text_.keyword = *keyword_;
        header_ = &line;
        next_ = 1;
        if (read_extra_tokens() && next_ < line.size()) {
            error("astra.extra-token", line[next_],
                  fmt::format("unexpected '{}' after {}", line[next_].text, first.text),
                  "remove it, or check the keyword");
        }
    }

    bool read_extra_tokens() {
        switch (*keyword_) {
            case AstraKeyword::kHybridDlrm:
            case AstraKeyword::kHybridDlrmEnhanced: {
                const auto layer = header_integer("the index of the last bottom layer");
                text_.last_bottom_layer = static_cast<std::size_t>(layer.value_or(0));
                return layer.has_value();
            }
            case AstraKeyword::kHybridTransformer:
                return read_tensor_group() && read_simai_sizes() && read_simai_transfer();
            case AstraKeyword::kHybridTransformerFwdInBckwd:
                return read_tensor_group() && read_simai_sizes() &&
                       read_list("checkpoints:", text_.checkpoints.kept, first_kept_) &&
                       read_list("checkpoint_initiates:", text_.checkpoints.initiates, first_initiating_) &&
                       read_simai_transfer();
            default:
                return true;
        }
    }

    bool read_tensor_group() {
        if (!label("model_parallel_NPU_group:")) {
            return false;
        }
        const auto group = header_integer("the size of the model-parallel group", 1);
        text_.tensor_group = group.value_or(1);
        return group.has_value();
    }

    [[nodiscard]] bool next_is(std::string_view text) const {
        return next_ < header_->size() && (*header_)[next_].text == text;
    }

    /// "ep: 1 pp: 1 vpp: 8 ga: 1 all_gpus: 8", which other dialects lack.
    bool read_simai_sizes() {
        if (!next_is("ep:")) {
            return true;
        }
        SimaiHeader& simai = text_.simai.emplace();
        const std::array<std::pair<std::string_view, std::int64_t*>, 5> sizes{
            {{"ep:", &simai.expert_group},
             {"pp:", &simai.stages},
             {"vpp:", &simai.virtual_stages},
             {"ga:", &simai.micro_batches},
             {"all_gpus:", &simai.ranks}}};
        for (const auto& [name, size] : sizes) {
            if (!label(name)) {
                return false;
            }
            const auto given = header_integer(fmt::format("the number after '{}'", name), 1);
            if (!given) {
                return false;
            }
            *size = *given;
        }
        return true;
    }

    /// "pp_comm 50331648", with or without a colon.
    bool read_simai_transfer() {
        if (!text_.simai || !(next_is("pp_comm") || next_is("pp_comm:"))) {
            return true;
        }
        const Token& name = (*header_)[next_++];
        const auto bytes = header_integer("the bytes between stages");
        if (bytes && *bytes > 0 && text_.simai->stages > 1) {
            error("astra.pipeline", name,
                  fmt::format(
                      "{} stages would send each other {} bytes, and the layers are one list for all stages",
                      text_.simai->stages, *bytes),
                  "without pp_comm every stage runs the layers and sends the next nothing");
            return false;
        }
        text_.simai->between_stages = bytes.value_or(0);
        return bytes.has_value();
    }

    /// `first` is set to the place of the first layer in the header.
    bool read_list(std::string_view name, std::vector<std::size_t>& layers, std::size_t& first) {
        if (!label(name)) {
            return false;
        }
        const auto count = header_integer(fmt::format("the number of '{}'", name));
        first = next_;
        for (std::int64_t i = 0; count && i < *count; ++i) {
            const auto layer = header_integer(fmt::format("a layer of '{}'", name));
            if (!layer) {
                return false;
            }
            layers.push_back(static_cast<std::size_t>(*layer));
        }
        return count.has_value();
    }

    const Token* header_token(std::string_view expected) {
        if (next_ < header_->size()) {
            return &(*header_)[next_++];
        }
        error("astra.missing-token", whole(*header_),
              fmt::format("{} needs {} after '{}'", header_->front().text, expected, header_->back().text),
              "the line ends too early");
        return nullptr;
    }
    bool label(std::string_view name) {
        const Token* token = header_token(fmt::format("'{}'", name));
        if (token != nullptr && token->text != name) {
            error("astra.label", *token, fmt::format("found '{}', expected '{}'", token->text, name),
                  "extra tokens have a fixed order");
            return false;
        }
        return token != nullptr;
    }
    std::optional<std::int64_t> header_integer(std::string_view what, std::int64_t minimum = 0) {
        const Token* token = header_token(what);
        return token != nullptr ? integer(*token, what, minimum) : std::nullopt;
    }

    // ---- line 2 and the layers

    void read_layers() {
        constexpr std::size_t kFirstLayer = 2;
        if (lines_.size() < kFirstLayer) {
            error("astra.layer-count", whole(lines_[0]), "the number of layers is missing",
                  "write it on line 2, then a line a layer");
            return;
        }
        const Tokens& count_line = lines_[1];
        std::optional<std::int64_t> count;
        if (count_line.size() > 1) {
            error("astra.layer-count", whole(count_line),
                  fmt::format("{} tokens where only the number of layers is expected", count_line.size()),
                  "line 2 is the number of layers");
        } else {
            count = integer(count_line.front(), "the number of layers", 1);
        }
        const std::size_t given = lines_.size() - kFirstLayer;
        const std::size_t announced = count ? static_cast<std::size_t>(*count) : given;
        if (given < announced) {
            error("astra.layer-count", count_line.front(),
                  fmt::format("{} layers announced, {} follow", announced, given),
                  "add the missing lines or correct the number");
        }
        for (std::size_t layer = 0; layer < std::min(given, announced); ++layer) {
            read_layer(lines_[kFirstLayer + layer]);
        }
        if (given > announced) {
            error("astra.trailing", whole(lines_[kFirstLayer + announced]),
                  fmt::format("{} more lines than the {} layers announced", given - announced, announced),
                  "remove them or correct the number of layers");
        }
    }

    void read_layer(const Tokens& line) {
        const bool customized = keyword_ == AstraKeyword::kHybridCustomized;
        const std::size_t expected =
            customized || (!keyword_ && line.size() == kColumns + 1) ? kColumns + 1 : kColumns;
        if (line.size() != expected) {
            error("astra.columns", whole(line), fmt::format("{} columns, expected {}", line.size(), expected),
                  line.size() < expected ? fmt::format("'{}' is missing", kColumnNames[line.size()])
                  : customized           ? "a layer ends with its policy"
                                         : "only HYBRID_CUSTOMIZED has a 13th column, the policy");
            return;
        }
        AstraLayer layer;
        layer.name = line[0].text;
        static_cast<void>(integer(line[1], kColumnNames[1], std::numeric_limits<std::int64_t>::min()));
        layer.forward = read_pass(line, 2, AstraGroup::kTensor);
        layer.input_gradient = read_pass(line, 5, AstraGroup::kTensor);
        layer.weight_gradient = read_pass(line, 8, AstraGroup::kData);
        layer.update_delay = integer(line[11], kColumnNames[11]).value_or(0);
        std::optional<AstraKeyword> policy = keyword_;
        if (customized) {
            policy = read_policy(line[kColumns]);
        }
        if (policy) {
            layer.policy = *policy;
            check_spans(layer, line);
        }
        text_.layers.push_back(std::move(layer));
    }

    /// The group of a collective in SimAI's dialect, whose suffix is taken off its name.
    [[nodiscard]] AstraGroup take_group(std::string_view& name, AstraGroup without_suffix) const {
        if (!text_.simai) {
            return AstraGroup::kOfKeyword;
        }
        for (const auto& [suffix, group] : kGroupSuffixes) {
            if (name.ends_with(suffix)) {
                name.remove_suffix(suffix.size());
                return group;
            }
        }
        return without_suffix;
    }

    /// `group` is that of a collective without a suffix in SimAI's dialect.
    AstraPass read_pass(const Tokens& line, std::size_t column, AstraGroup group) {
        AstraPass pass;
        pass.cycles = integer(line[column], kColumnNames[column]).value_or(0);
        const Token& type = line[column + 1];
        std::string_view name = type.text;
        const AstraGroup own_group = take_group(name, group);
        const std::optional<std::int64_t> size = integer(line[column + 2], kColumnNames[column + 2]);
        if (type.text == "NONE") {
            if (size.value_or(0) != 0) {
                error("astra.size", line[column + 2],
                      fmt::format("{} is {} without a collective", kColumnNames[column + 2], *size),
                      "NONE takes size 0");
            }
            return pass;
        }
        const auto* const known = std::find_if(kCollectives.begin(), kCollectives.end(),
                                               [&](const auto& entry) { return entry.first == name; });
        if (known == kCollectives.end()) {
            std::vector<std::string> names = names_of(kCollectives);
            names.emplace_back("NONE");
            error("astra.collective", type,
                  fmt::format("{} is '{}', which is no collective", kColumnNames[column + 1], type.text),
                  name == "ALLREDUCEALLTOALL" ? "fused collectives are not modelled; split the layer"
                  : text_.simai && name.find('_') != std::string_view::npos
                      ? "the suffixes of groups are _EP, _DP and _DP_EP"
                      : suggest(type.text, names));
        } else if (size.value_or(0) > 0) {
            pass.collective = AstraCollective{known->second, Bytes(*size), own_group};
        }
        return pass;
    }

    std::optional<AstraKeyword> read_policy(const Token& token) {
        std::vector<std::string> names;
        for (const AstraKeyword policy : kPolicies) {
            if (to_string(policy) == token.text) {
                return policy;
            }
            names.emplace_back(to_string(policy));
        }
        error("astra.policy", token, fmt::format("'{}' is not the policy of a layer", token.text),
              suggest(token.text, names));
        return std::nullopt;
    }

    void check_spans(const AstraLayer& layer, const Tokens& line) {
        const LayerSpans spanned = spans(layer.policy, text_.layers.size());
        const auto check = [&](const AstraPass& pass, Span span, std::size_t column) {
            if (pass.collective && span == Span::kNone) {
                error("astra.pass", line[column],
                      fmt::format("{} is {}, but this layer of {} exchanges nothing there",
                                  kColumnNames[column], line[column].text, to_string(layer.policy)),
                      "write NONE and size 0, or choose another keyword");
            }
        };
        check(layer.forward, spanned.activations, 3);
        check(layer.input_gradient, spanned.activations, 6);
        check(layer.weight_gradient, spanned.weights, 9);
    }

    // ---- the layers of line 1

    void check_header() {
        const std::size_t layers = text_.layers.size();
        const Tokens& header = lines_[0];
        if (*keyword_ == AstraKeyword::kHybridDlrm || *keyword_ == AstraKeyword::kHybridDlrmEnhanced) {
            if (text_.last_bottom_layer + 1 >= layers) {
                error(
                    "astra.layer", header[1],
                    fmt::format("the last bottom layer is {} of {} layers", text_.last_bottom_layer, layers),
                    "layers count from 0, and at least one follows the bottom MLP");
            }
        }
        if (*keyword_ == AstraKeyword::kMicro && !text_.layers[0].weight_gradient.collective) {
            error("astra.micro", lines_[2][9], "MICRO has no collective to issue",
                  "it issues the weight-gradient collective of the first layer");
        }
        const std::vector<std::size_t>& kept = text_.checkpoints.kept;
        const std::vector<std::size_t>& initiates = text_.checkpoints.initiates;
        for (std::size_t i = 0; i < kept.size(); ++i) {
            check_layer(header[first_kept_ + i], kept[i]);
        }
        const auto lowest = std::min_element(kept.begin(), kept.end());
        for (std::size_t i = 0; i < initiates.size(); ++i) {
            const Token& token = header[first_initiating_ + i];
            if (check_layer(token, initiates[i]) && (lowest == kept.end() || *lowest >= initiates[i])) {
                error("astra.checkpoint", token,
                      fmt::format("layer {} has no checkpoint below it", initiates[i]),
                      "name a lower layer in 'checkpoints:'");
            }
        }
    }

    bool check_layer(const Token& token, std::size_t layer) {
        if (layer < text_.layers.size()) {
            return true;
        }
        error("astra.layer", token, fmt::format("layer {} of {} layers", layer, text_.layers.size()),
              "layers count from 0");
        return false;
    }

    std::shared_ptr<const SourceText> source_;
    std::vector<Tokens> lines_;  // without the empty ones
    Diagnostics errors_;
    AstraText text_;
    std::optional<AstraKeyword> keyword_;
    const Tokens* header_ = nullptr;
    std::size_t next_ = 0;  // token of the header
    std::size_t first_kept_ = 0;
    std::size_t first_initiating_ = 0;
};

}  // namespace

Result<AstraText> read_astra_text(std::string text, std::string name) {
    auto source = std::make_shared<const SourceText>(SourceText{std::move(name), std::move(text)});
    if (std::optional<Diagnostic> error = not_utf8(source, "astra.encoding")) {
        return *std::move(error);
    }
    return Reader(std::move(source)).read();
}

}  // namespace astrolabe::workload
