#include "arithmetic.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

namespace astrolabe::study {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
/// Bytes above 0x7f are in units ("µs").
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           static_cast<unsigned char>(c) > 0x7f;
}

/// Thrown within this file only.
struct Refused {
    ParseFailure failure;
};

[[noreturn]] void refuse(std::string message, std::string hint) {
    throw Refused{{std::move(message), std::move(hint)}};
}

Amount finite(double number, std::string unit) {
    if (!std::isfinite(number)) {
        refuse("the result is not a finite number", "see what is divided by zero, or is too large");
    }
    return {number, std::move(unit)};
}

class Reader {
public:
    Reader(std::string_view text, const AmountOf& amount_of)
        : text_(text),
          amount_of_(amount_of) {}

    Amount all() {
        Amount amount = sum();
        if (peek() != '\0') {
            unexpected();
        }
        return amount;
    }

    /// A number and its unit, and nothing else.
    Amount literal_only() {
        const double sign = take('-') ? -1 : 1;
        Amount amount = literal();
        amount.number *= sign;
        if (peek() != '\0') {
            unexpected();
        }
        return amount;
    }

private:
    static constexpr int kDeepest = 100;

    char peek() {
        while (at_ < text_.size() && text_[at_] == ' ') {
            ++at_;
        }
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool take(char wanted) {
        if (peek() != wanted) {
            return false;
        }
        ++at_;
        return true;
    }
    void expect(char wanted) {
        if (!take(wanted)) {
            refuse(fmt::format("'{}' is missing at character {} of '{}'", wanted, at_ + 1, text_), "");
        }
    }
    [[noreturn]] void unexpected() {
        refuse(peek() == '\0'
                   ? fmt::format("'{}' ends where a value is expected", text_)
                   : fmt::format("'{}' is not expected at character {} of '{}'", text_[at_], at_ + 1, text_),
               "write sums, products, parentheses, min, max, floor, ceil, round: 512 * cluster.ranks");
    }

    Amount sum() {
        if (++depth_ > kDeepest) {
            refuse("parentheses are more than a hundred deep", "");
        }
        Amount left = product();
        for (;;) {
            const char sign = peek();
            if (sign != '+' && sign != '-') {
                --depth_;
                return left;
            }
            ++at_;
            const Amount right = product();
            require_same(left, right);
            left = finite(sign == '+' ? left.number + right.number : left.number - right.number, left.unit);
        }
    }

    Amount product() {
        Amount left = factor();
        for (;;) {
            if (take('*')) {
                const Amount right = factor();
                if (!left.unit.empty() && !right.unit.empty()) {
                    refuse(fmt::format("{} times {} has no unit that an experiment knows", to_string(left),
                                       to_string(right)),
                           "one of the two may have a unit");
                }
                left = finite(left.number * right.number, left.unit + right.unit);
            } else if (take('/')) {
                const Amount right = factor();
                if (right.unit.empty()) {
                    left = finite(left.number / right.number, left.unit);
                } else {
                    require_same(left, right);
                    left = finite(left.number / right.number, "");
                }
            } else {
                return left;
            }
        }
    }

    Amount factor() {
        const char c = peek();
        if (c == '-') {
            int signs = 0;
            while (take('-')) {
                ++signs;
            }
            Amount amount = factor();
            amount.number = signs % 2 == 1 ? -amount.number : amount.number;
            return amount;
        }
        if (c == '(') {
            ++at_;
            Amount amount = sum();
            expect(')');
            return amount;
        }
        if (is_digit(c)) {
            return literal();
        }
        if (!is_letter(c)) {
            unexpected();
        }
        const std::size_t begin = at_;
        while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '.')) {
            ++at_;
        }
        const std::string_view name = text_.substr(begin, at_ - begin);
        if (peek() == '(') {
            return call(name);
        }
        Parsed<Amount> value = amount_of_(name);
        if (auto* failure = std::get_if<ParseFailure>(&value)) {
            throw Refused{std::move(*failure)};
        }
        return std::get<Amount>(std::move(value));
    }

    Amount literal() {
        if (!is_digit(peek())) {
            unexpected();
        }
        double number = 0;
        const char* begin = text_.data() + at_;
        const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), number);
        if (error != std::errc()) {
            refuse(fmt::format("'{}' has a number that is too large", text_), "");
        }
        at_ += static_cast<std::size_t>(end - begin);
        std::size_t unit_end = at_;
        while (unit_end < text_.size() && is_letter(text_[unit_end])) {
            ++unit_end;
        }
        const bool is_rate =
            unit_end > at_ && text_.substr(unit_end).starts_with("/s") &&
            (unit_end + 2 == text_.size() || !(is_letter(text_[unit_end + 2]) || text_[unit_end + 2] == '.'));
        unit_end += is_rate ? 2 : 0;
        Amount amount{number, std::string(text_.substr(at_, unit_end - at_))};
        at_ = unit_end;
        return amount;
    }

    Amount call(std::string_view name) {
        constexpr std::array<std::string_view, 5> kNames{"min", "max", "floor", "ceil", "round"};
        if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) {
            refuse(fmt::format("'{}' is not a function", name), "there are min, max, floor, ceil and round");
        }
        expect('(');
        std::vector<Amount> given{sum()};
        while (take(',')) {
            given.push_back(sum());
        }
        expect(')');
        const bool is_choice = name == "min" || name == "max";
        if (!is_choice && given.size() > 1) {
            refuse(fmt::format("'{}' takes one value, not {}", name, given.size()), "");
        }
        Amount found = given.front();
        for (const Amount& other : given) {
            require_same(found, other);
            found.number =
                name == "min" ? std::min(found.number, other.number) : std::max(found.number, other.number);
        }
        if (!is_choice) {
            found.number = name == "floor"  ? std::floor(found.number)
                           : name == "ceil" ? std::ceil(found.number)
                                            : std::round(found.number);
        }
        return found;
    }

    static void require_same(const Amount& left, const Amount& right) {
        if (left.unit != right.unit) {
            refuse(fmt::format("{} and {} do not have the same unit", to_string(left), to_string(right)),
                   "write both in one unit, with the same prefix");
        }
    }

    std::string_view text_;
    const AmountOf& amount_of_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

template <class Read>
Parsed<Amount> caught(const Read& read) {
    try {
        return read();
    } catch (const Refused& refused) {
        return refused.failure;
    }
}

}  // namespace

Parsed<Amount> parse_amount(std::string_view text) {
    return caught([&] { return Reader(text, {}).literal_only(); });
}

std::string to_string(const Amount& amount) {
    constexpr double kExact = 1e15;  // below 2^53
    const bool is_whole = std::abs(amount.number) < kExact && std::trunc(amount.number) == amount.number;
    return is_whole ? fmt::format("{:.0f}{}", amount.number, amount.unit)
                    : fmt::format("{:.12g}{}", amount.number, amount.unit);
}

Parsed<Amount> evaluate(std::string_view expression, const AmountOf& amount_of) {
    return caught([&] { return Reader(expression, amount_of).all(); });
}

}  // namespace astrolabe::study
