#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/utf8.hpp>
#include <astrolabe/experiment/calibration/nccl_log.hpp>

namespace astrolabe::experiment {
namespace {

using system::CollectiveKind;

struct Word {
    std::string_view text;
    int column = 0;  // from 1
};

std::vector<Word> words_of(std::string_view line) {
    constexpr std::string_view kSpaces = " \t\r";
    std::vector<Word> words;
    for (std::size_t begin = line.find_first_not_of(kSpaces); begin != std::string_view::npos;) {
        const std::size_t end = std::min(line.find_first_of(kSpaces, begin), line.size());
        words.push_back({line.substr(begin, end - begin), static_cast<int>(begin) + 1});
        begin = line.find_first_not_of(kSpaces, end);
    }
    return words;
}

template <class T>
std::optional<T> number(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// How nccl-tests' programs, and people, name them.
std::optional<CollectiveKind> kind_named_in(std::string_view text) {
    std::string plain;
    for (const char c : text) {
        if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
            plain.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
        }
    }
    constexpr std::array<std::pair<std::string_view, CollectiveKind>, 7> kNames{
        {{"allreduce", CollectiveKind::kAllReduce},
         {"reducescatter", CollectiveKind::kReduceScatter},
         {"allgather", CollectiveKind::kAllGather},
         {"alltoall", CollectiveKind::kAllToAll},
         {"broadcast", CollectiveKind::kBroadcast},
         {"sendrecv", CollectiveKind::kPointToPoint},
         {"reduceperf", CollectiveKind::kReduce}}};
    for (const auto& [name, kind] : kNames) {
        if (plain.find(name) != std::string::npos) {
            return kind;
        }
    }
    return std::nullopt;
}

/// "0: ", "[0] ", "node3: " before what nccl-tests printed itself.
std::string_view without_launcher_prefix(std::string_view line) {
    const std::vector<Word> words = words_of(line);
    if (words.size() < 2) {
        return line;
    }
    const std::string_view first = words.front().text;
    const bool is_prefix =
        first.ends_with(':') || (first.starts_with('[') && first.ends_with(']') && first.size() > 2);
    return is_prefix ? line.substr(static_cast<std::size_t>(words[1].column) - 1) : line;
}

class LogReader {
public:
    LogReader(std::string_view text, const std::filesystem::path& name)
        : source_(std::make_shared<SourceText>(SourceText{name.string(), std::string(text)})) {
        log_.kind = kind_named_in(name.filename().string());
    }

    [[nodiscard]] Result<NcclLog> read() && {
        std::string_view rest = source_->text;
        for (int line = 1; !rest.empty(); ++line) {
            const std::size_t end = std::min(rest.find('\n'), rest.size());
            read_line(rest.substr(0, end), line);
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
        if (errors_.empty() && times_.empty()) {
            error(0, 1, "no row of nccl-tests is in it",
                  "give the text that all_reduce_perf and its like print, not their JSON");
        }
        if (!errors_.empty()) {
            return errors_;
        }
        for (const auto& [size, times] : times_) {
            double sum = 0;
            for (const double microseconds : times) {
                sum += microseconds;
            }
            const double picoseconds = 1e6 * sum / static_cast<double>(times.size());
            log_.points.push_back({Bytes(size), Time(std::llround(picoseconds))});
        }
        return std::move(log_);
    }

private:
    void error(int line, int column, std::string message, std::string hint) {
        constexpr std::size_t kShown = 20;
        if (errors_.size() < kShown) {
            errors_.push_back(
                {"calibrate.log", {source_, line, column}, std::move(message), std::move(hint), {}});
        }
    }

    void read_line(std::string_view raw, int line) {
        const std::string_view text = without_launcher_prefix(raw);
        const std::vector<Word> words = words_of(text);
        if (words.empty()) {
            return;
        }
        const int shift = static_cast<int>(text.data() - raw.data());
        if (words.front().text.starts_with('#')) {
            read_comment(words, text, line, shift);
            return;
        }
        // A row begins with two whole numbers; what does not is of other programs.
        if (words.size() >= 3 && number<std::int64_t>(words[0].text) && number<std::int64_t>(words[1].text)) {
            read_row(words, line, shift);
        } else if (!log_.kind && text.find("_perf") != std::string_view::npos) {
            log_.kind = kind_named_in(text);
        }
    }

    void read_comment(const std::vector<Word>& words, std::string_view text, int line, int shift) {
        const auto is = [&](std::size_t i, std::string_view word) {
            return i < words.size() && words[i].text == word;
        };
        if (is(1, "Rank")) {
            ++log_.ranks;
            const auto on = std::ranges::find(words, std::string_view("on"), &Word::text);
            if (on != words.end() && on + 1 != words.end()) {
                const auto [node, is_new] =
                    nodes_.emplace(std::string((on + 1)->text), log_.ranks_by_node.size());
                if (is_new) {
                    log_.ranks_by_node.push_back(0);
                }
                ++log_.ranks_by_node[node->second];
            }
            const std::size_t bracket = text.find(']');
            if (log_.machine.empty() && bracket != std::string_view::npos && bracket + 2 < text.size()) {
                log_.machine = text.substr(bracket + 2);
                log_.machine.erase(log_.machine.find_last_not_of(" \t\r") + 1);
            }
        } else if (is(1, "size")) {
            const auto times = std::count_if(words.begin(), words.end(),
                                             [](const Word& word) { return word.text == "time"; });
            halves_ = static_cast<std::size_t>(times);
            per_half_ = 0;
            for (std::size_t i = 0; i < words.size(); ++i) {
                if (words[i].text == "time" && per_half_ == 0 && halves_ > 0) {
                    per_half_ = (words.size() - i) / halves_;
                }
            }
        } else if (is(1, "nThread") || is(1, "Collective")) {
            for (std::size_t i = 1; i + 1 < words.size(); ++i) {
                if (words[i].text == "nThread" || words[i].text == "nGpus") {
                    multiply_devices(words[i + 1], line, shift);
                }
                log_.is_graph |= words[i].text == "graph:" && words[i + 1].text != "0";
            }
            if (is(1, "Collective") && !log_.kind) {
                log_.kind = kind_named_in(text);
            }
        }
    }

    void multiply_devices(const Word& word, int line, int shift) {
        constexpr std::size_t kMost = std::size_t{1} << 20;  // as of ranks
        const std::size_t more = number<std::size_t>(word.text).value_or(0);
        if (more < 1 || more > kMost / log_.devices_per_process) {
            error(line, word.column + shift,
                  fmt::format("'{}' after {} devices of a process, expected 1 to {} in all", word.text,
                              log_.devices_per_process, kMost),
                  "nThread times nGpus devices are launched on by one process");
            return;
        }
        log_.devices_per_process *= more;
    }

    void read_row(const std::vector<Word>& words, int line, int shift) {
        if (per_half_ < 3) {
            error(line, words[0].column + shift, "a row before the line with the names of the columns",
                  "give the whole output of nccl-tests");
            return;
        }
        const std::size_t right = per_half_ * halves_;
        if (words.size() < 3 + right) {
            error(line, words[0].column + shift,
                  fmt::format("a row of {} fields, expected at least {}: size, count, type and {} of times",
                              words.size(), 3 + right, right),
                  "the row is cut off");
            return;
        }
        const std::int64_t size = *number<std::int64_t>(words[0].text);
        const Word& time = words[words.size() - right];
        const Word& check = words[words.size() - right + per_half_ - 1];
        const std::optional<double> microseconds = number<double>(time.text);
        constexpr double kLeast = 1e-6;  // a picosecond
        constexpr double kMost = 1e9;    // a quarter of an hour
        if (!microseconds || !(*microseconds >= kLeast && *microseconds <= kMost)) {
            error(line, time.column + shift,
                  fmt::format("'{}' where a time in microseconds is expected", time.text),
                  "times are from 1 ps to 1000 s");
            return;
        }
        if (check.text != "N/A" && number<double>(check.text).value_or(1) != 0) {
            error(line, check.column + shift,
                  fmt::format("the test found the result wrong ('{}')", check.text),
                  "measure again: times of wrong results say nothing");
            return;
        }
        if (size < 0 || size < last_size_) {
            error(line, words[0].column + shift,
                  fmt::format("size {} after {}, expected rising sizes", size, last_size_),
                  "give one run of one test a file");
            return;
        }
        last_size_ = size;
        if (size > 0) {
            times_[size].push_back(*microseconds);
        }
    }

    std::shared_ptr<const SourceText> source_;
    NcclLog log_;
    Diagnostics errors_;
    std::size_t halves_ = 0;
    std::size_t per_half_ = 0;
    std::int64_t last_size_ = 0;
    std::map<std::int64_t, std::vector<double>> times_;
    std::map<std::string, std::size_t> nodes_;  // by name, index of ranks_by_node
};

}  // namespace

Result<NcclLog> parse_nccl_log(std::string_view text, const std::filesystem::path& name) {
    const auto source = std::make_shared<const SourceText>(SourceText{name.string(), std::string(text)});
    if (std::optional<Diagnostic> error = not_utf8(source, "calibrate.log")) {
        return *std::move(error);
    }
    return LogReader(text, name).read();
}

}  // namespace astrolabe::experiment
