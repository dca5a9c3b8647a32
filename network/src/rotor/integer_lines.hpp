/// Lines of integers with the place of each, for readers that stop at the first defect.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/core/diagnostic.hpp>
#include <astrolabe/network/rotor/factorisation.hpp>

namespace astrolabe::network::rotor {

/// Thrown and caught within the reader: the first defect ends the reading.
struct Defect {
    Diagnostic diagnostic;
};

/// Lines of integers, with the place of each.
class IntegerLines {
public:
    explicit IntegerLines(std::shared_ptr<const SourceText> source)
        : source_(std::move(source)),
          at_(source_->text.data()),
          end_(at_ + source_->text.size()) {}

    /// Moves to the next line and splits it; `what` is expected there.
    void next(std::string_view what) {
        ++number_;
        line_ = at_;
        if (at_ == end_) {
            fail(0, fmt::format("the file ends here, expected {}", what), "the file is cut off");
        }
        values_.clear();
        columns_.clear();
        while (true) {
            if (values_.size() == kMostNumbers) {
                fail_at(at_,
                        fmt::format("the line has more than {} numbers, expected {}", kMostNumbers, what),
                        "is this the right file?");
            }
            read_value(what);
            if (at_ == end_ || *at_ == '\n') {
                break;
            }
            if (*at_ != ' ') {
                fail_at(at_,
                        fmt::format("found {}, expected a digit, a space or the end of the line",
                                    printable(*at_)),
                        "numbers are separated by one space each");
            }
            ++at_;
        }
        at_ += at_ == end_ ? 0 : 1;
    }

    [[nodiscard]] bool at_end() const { return at_ == end_; }
    /// Is the next line one number alone, or is there none?
    [[nodiscard]] bool next_is_single() const {
        const char* letter = at_;
        while (letter != end_ && *letter != ' ' && *letter != '\n') {
            ++letter;
        }
        return letter == end_ || *letter == '\n';
    }
    [[nodiscard]] bool ends_in_newline() const { return source_->text.back() == '\n'; }
    [[nodiscard]] const std::vector<std::int64_t>& values() const { return values_; }
    [[nodiscard]] int number() const { return number_; }

    void require_count(std::size_t count, std::string_view what) const {
        if (values_.size() != count) {
            fail(std::min(values_.size() - 1, count),
                 fmt::format("the line has {} numbers, expected {}: {}", values_.size(), count, what),
                 values_.size() < count ? "the line is cut off" : "take out what is too much");
        }
    }
    void require_range(std::size_t index, std::int64_t least, std::int64_t most,
                       std::string_view what) const {
        if (values_[index] < least || values_[index] > most) {
            fail(index, fmt::format("{} is {}, expected {} to {}", what, values_[index], least, most),
                 "the value is out of range for this network");
        }
    }

    /// About the value at `index` of the present line.
    [[noreturn]] void fail(std::size_t index, std::string message, std::string hint) const {
        fail_at(index < columns_.size() ? line_ + columns_[index] : line_, std::move(message),
                std::move(hint));
    }

private:
    /// Of a line: the longest ones say where each uplink of each rack leads.
    static constexpr std::size_t kMostNumbers = std::size_t{kMaxRacks} * kMaxRacks;

    void read_value(std::string_view what) {
        std::int64_t value = 0;
        const auto [behind, failure] = std::from_chars(at_, end_, value);
        const bool canonical = failure == std::errc{} &&
                               (behind - at_ == 1 || (*at_ != '0' && !(at_[0] == '-' && at_[1] == '0')));
        if (!canonical) {
            const bool nothing = at_ == end_ || *at_ == '\n';
            fail_at(at_,
                    nothing ? fmt::format("the line ends here, expected a number: {}", what)
                            : fmt::format("found {}, which does not begin a whole number: {}",
                                          printable(*at_), what),
                    "lines are whole numbers without leading zeros, separated by one space each");
        }
        values_.push_back(value);
        columns_.push_back(at_ - line_);
        at_ = behind;
    }
    static std::string printable(char letter) {
        return letter >= ' ' && letter <= '~' ? fmt::format("'{}'", letter)
                                              : fmt::format("byte {}", static_cast<unsigned char>(letter));
    }
    [[noreturn]] void fail_at(const char* place, std::string message, std::string hint) const {
        const SourceRange where{source_, number_, static_cast<int>(place - line_) + 1, 1};
        throw Defect{{"topology.file", where, std::move(message), std::move(hint), {}}};
    }

    std::shared_ptr<const SourceText> source_;
    const char* at_;
    const char* end_;
    const char* line_ = nullptr;
    int number_ = 0;
    std::vector<std::int64_t> values_;
    std::vector<std::ptrdiff_t> columns_;
};

}  // namespace astrolabe::network::rotor
