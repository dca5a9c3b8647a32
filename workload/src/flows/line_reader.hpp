/// Lines of fields, with errors that name their line; and numbers from 0 to 1.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <astrolabe/core/diagnostic.hpp>
#include <astrolabe/core/random.hpp>
#include <astrolabe/core/utf8.hpp>

namespace astrolabe::workload {

/// 0 <= u < 1, in steps of 2^-53.
[[nodiscard]] inline double unit_interval(RandomStream& random) {
    return std::ldexp(static_cast<double>(random.next() >> 11), -53);
}

/// Empty lines and those that begin with # are passed over.
class LineReader {
public:
    LineReader(std::string text, std::string name, std::string separators)
        : source_(std::make_shared<const SourceText>(SourceText{std::move(name), std::move(text)})),
          rest_(source_->text),
          separators_(std::move(separators)) {}

    /// Why the text is none.
    [[nodiscard]] std::optional<Diagnostic> encoding_error(std::string_view code) const {
        return not_utf8(source_, code);
    }

    /// Goes to the next line; false: there is none.
    [[nodiscard]] bool next() {
        while (!rest_.empty()) {
            const std::size_t end = std::min(rest_.find('\n'), rest_.size());
            line_ = rest_.substr(0, end);
            rest_.remove_prefix(std::min(end + 1, rest_.size()));
            ++number_;
            split();
            if (!fields_.empty() && fields_.front().front() != '#') {
                return true;
            }
        }
        return false;
    }

    [[nodiscard]] const std::vector<std::string_view>& fields() const { return fields_; }
    [[nodiscard]] int number() const { return number_; }
    [[nodiscard]] const std::string& name() const { return source_->name; }

    [[nodiscard]] std::optional<std::int64_t> integer(std::size_t field) const {
        return integer_in(fields_.at(field));
    }
    [[nodiscard]] static std::optional<std::int64_t> integer_in(std::string_view text) {
        std::int64_t value = 0;
        const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
        return failure == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                          : std::nullopt;
    }
    [[nodiscard]] std::optional<double> number(std::size_t field) const {
        const std::string_view text = fields_.at(field);
        double value = 0;
        const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
        return failure == std::errc() && end == text.data() + text.size() && std::isfinite(value)
                   ? std::optional(value)
                   : std::nullopt;
    }

    /// Of the line that was read last.
    [[nodiscard]] Diagnostic error(std::string code, std::string message, std::string hint) const {
        return {std::move(code),
                {source_, number_, 1, static_cast<int>(std::min<std::size_t>(line_.size(), 200))},
                std::move(message),
                std::move(hint),
                {}};
    }
    /// Of the text as a whole.
    [[nodiscard]] Diagnostic error_at_end(std::string code, std::string message, std::string hint) const {
        return {std::move(code), {source_, 0, 0}, std::move(message), std::move(hint), {}};
    }
    /// Of an earlier line.
    [[nodiscard]] Diagnostic error_at(int line, std::string code, std::string message,
                                      std::string hint) const {
        return {std::move(code), {source_, line, 1}, std::move(message), std::move(hint), {}};
    }

private:
    void split() {
        fields_.clear();
        const std::string separators = separators_ + "\r";
        for (std::size_t begin = line_.find_first_not_of(separators); begin != std::string_view::npos;) {
            const std::size_t end = std::min(line_.find_first_of(separators, begin), line_.size());
            fields_.push_back(line_.substr(begin, end - begin));
            begin = line_.find_first_not_of(separators, end);
        }
    }

    std::shared_ptr<const SourceText> source_;
    std::string_view rest_;
    std::string_view line_;
    std::string separators_;
    std::vector<std::string_view> fields_;
    int number_ = 0;
};

}  // namespace astrolabe::workload
