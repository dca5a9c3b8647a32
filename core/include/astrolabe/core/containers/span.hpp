/// A view of items that stand side by side in memory, as std::span, in C++17: for headers that the ns-3
/// module shares. It converts from and to whatever has data() and size().
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace astrolabe {

template <class T>
class Span {
public:
    using value_type = std::remove_cv_t<T>;
    using iterator = T*;

    constexpr Span() = default;
    constexpr Span(T* data, std::size_t size)
        : data_(data),
          size_(size) {}
    /// Of a container that outlives the view; of a temporary one only to read it in the same expression.
    template <class Container,
              class Item = std::remove_pointer_t<decltype(std::declval<Container&>().data())>,
              class = std::enable_if_t<std::is_convertible_v<Item (*)[], T (*)[]> &&
                                       !std::is_same_v<std::decay_t<Container>, Span>>>
    constexpr Span(Container&& container)
        : data_(container.data()),
          size_(container.size()) {}

    [[nodiscard]] constexpr T* data() const { return data_; }
    [[nodiscard]] constexpr std::size_t size() const { return size_; }
    [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
    [[nodiscard]] constexpr T* begin() const { return data_; }
    [[nodiscard]] constexpr T* end() const { return data_ + size_; }
    [[nodiscard]] constexpr T& operator[](std::size_t i) const { return data_[i]; }
    [[nodiscard]] constexpr T& front() const { return data_[0]; }
    [[nodiscard]] constexpr T& back() const { return data_[size_ - 1]; }
    /// Precondition: begin + count <= size().
    [[nodiscard]] constexpr Span subspan(std::size_t begin, std::size_t count) const {
        return Span(data_ + begin, count);
    }

private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

template <class Container>
Span(Container&) -> Span<std::remove_pointer_t<decltype(std::declval<Container&>().data())>>;

}  // namespace astrolabe
