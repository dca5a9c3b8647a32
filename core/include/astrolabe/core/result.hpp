/// `Result<T>`: a value, or every diagnostic of the pass that failed to make one. The interface follows
/// `std::expected` (C++23) as far as the project needs it.
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/diagnostic.hpp>

namespace astrolabe {

template <class T>
class [[nodiscard]] Result {
public:
    using value_type = T;

    Result(T value)  // NOLINT(google-explicit-constructor): a value is a result
        : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Diagnostics errors)  // NOLINT(google-explicit-constructor): so are its errors
        : state_(std::in_place_index<1>, std::move(errors)) {
        ASTROLABE_ASSERT(!std::get<1>(state_).empty(), "a failed result says why");
    }
    Result(Diagnostic error)  // NOLINT(google-explicit-constructor)
        : Result(Diagnostics{std::move(error)}) {}

    [[nodiscard]] bool has_value() const { return state_.index() == 0; }
    explicit operator bool() const { return has_value(); }

    [[nodiscard]] T& value() & {
        require_value();
        return std::get<0>(state_);
    }
    [[nodiscard]] const T& value() const& {
        require_value();
        return std::get<0>(state_);
    }
    [[nodiscard]] T&& value() && {
        require_value();
        return std::get<0>(std::move(state_));
    }
    [[nodiscard]] T& operator*() & { return value(); }
    [[nodiscard]] const T& operator*() const& { return value(); }
    [[nodiscard]] T&& operator*() && { return std::move(*this).value(); }
    [[nodiscard]] T* operator->() { return &value(); }
    [[nodiscard]] const T* operator->() const { return &value(); }
    [[nodiscard]] const Diagnostics& error() const {
        ASTROLABE_ASSERT(!has_value(), "error() of a result that has a value");
        return std::get<1>(state_);
    }

    template <class Function>
    [[nodiscard]] auto and_then(Function&& function) && -> std::invoke_result_t<Function, T&&> {
        if (has_value()) {
            return std::forward<Function>(function)(std::get<0>(std::move(state_)));
        }
        return std::get<1>(std::move(state_));
    }

private:
    void require_value() const { ASTROLABE_ASSERT(has_value(), "value() of a failed result"); }

    std::variant<T, Diagnostics> state_;
};

}  // namespace astrolabe
