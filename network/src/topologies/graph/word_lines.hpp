/// Lines of words with the place of each, for readers of text formats that stop at the first defect.
#pragma once

#include "graph_attributes.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/core/config/quantity.hpp>

namespace astrolabe::network::detail {

class WordLines {
public:
    /// What follows `comment` on a line is left out; 0: there are no comments.
    explicit WordLines(std::shared_ptr<const SourceText> source, char comment = '\0')
        : source_(std::move(source)),
          rest_(source_->text),
          comment_(comment) {}

    /// Moves to the next line, which may be empty; false at the end of the text.
    bool next() {
        if (rest_.empty()) {
            words_.clear();
            return false;
        }
        ++number_;
        const std::size_t end = rest_.find('\n');
        line_ = rest_.substr(0, end);
        rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
        split();
        return true;
    }
    /// Moves to the next line that has words; fails at the end of the text, where `what` is expected.
    void require_next(std::string_view what) {
        do {
            if (!next()) {
                fail(0, fmt::format("the file ends here, expected {}", what), "the file is cut off");
            }
        } while (words_.empty());
    }

    [[nodiscard]] const std::vector<std::string_view>& words() const { return words_; }
    [[nodiscard]] SourceRange place(std::size_t word) const {
        const bool is_there = word < words_.size();
        const int column = is_there ? static_cast<int>(words_[word].data() - line_.data()) + 1 : 1;
        return {source_, std::max(number_, 1), column,
                is_there ? std::max(1, static_cast<int>(words_[word].size())) : 1};
    }

    /// A whole number within [least, most] as word number `word`; `what` names it.
    [[nodiscard]] std::int64_t number(std::size_t word, std::string_view what, std::int64_t least,
                                      std::int64_t most) const {
        const Parsed<std::int64_t> parsed = parse_integer(require(word, what));
        const auto* value = std::get_if<std::int64_t>(&parsed);
        if (value == nullptr || *value < least || *value > most) {
            fail(word,
                 fmt::format("{} is '{}', expected a whole number from {} to {}", what, words_[word], least,
                             most),
                 "");
        }
        return *value;
    }
    template <class T>
    [[nodiscard]] T quantity(std::size_t word, std::string_view what,
                             Parsed<T> (*parse)(std::string_view)) const {
        const Parsed<T> parsed = parse(require(word, what));
        if (const auto* failure = std::get_if<ParseFailure>(&parsed)) {
            fail(word, fmt::format("{}: {}", what, failure->message), failure->hint);
        }
        return std::get<T>(parsed);
    }

    [[noreturn]] void fail(std::size_t word, std::string message, std::string hint) const {
        graph_defect(place(word), std::move(message), std::move(hint));
    }

private:
    [[nodiscard]] std::string_view require(std::size_t word, std::string_view what) const {
        if (word >= words_.size()) {
            fail(words_.empty() ? 0 : words_.size() - 1, fmt::format("the line ends before {}", what),
                 "the line is cut off");
        }
        return words_[word];
    }

    void split() {
        constexpr std::string_view kBlanks = " \t\r";
        words_.clear();
        std::string_view line = comment_ == '\0' ? line_ : line_.substr(0, line_.find(comment_));
        while (true) {
            const std::size_t begin = line.find_first_not_of(kBlanks);
            if (begin == std::string_view::npos) {
                return;
            }
            line.remove_prefix(begin);
            const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
            words_.push_back(word);
            line.remove_prefix(word.size());
        }
    }

    std::shared_ptr<const SourceText> source_;
    std::string_view rest_;
    char comment_;
    int number_ = 0;
    std::string_view line_;
    std::vector<std::string_view> words_;
};

}  // namespace astrolabe::network::detail
