/// Strong indices: a `LinkId` cannot be passed where a `NodeId` is meant, and no id is ever -1.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace astrolabe {

template <class Tag>
class Id {
public:
    constexpr Id() = default;
    constexpr explicit Id(std::uint32_t index)
        : index_(index) {}
    constexpr explicit Id(std::size_t index)
        : index_(static_cast<std::uint32_t>(index)) {}
    constexpr explicit Id(int index)
        : index_(static_cast<std::uint32_t>(index)) {}

    [[nodiscard]] constexpr std::uint32_t index() const { return index_; }
    friend constexpr auto operator<=>(Id, Id) = default;
    constexpr Id& operator++() {
        ++index_;
        return *this;
    }

private:
    std::uint32_t index_ = 0;
};

/// A vector indexed by one kind of id only.
template <class IdType, class T>
class IndexedVector {
public:
    IndexedVector() = default;
    explicit IndexedVector(std::size_t size, const T& value = T())
        : items_(size, value) {}

    [[nodiscard]] T& operator[](IdType id) { return items_[id.index()]; }
    [[nodiscard]] const T& operator[](IdType id) const { return items_[id.index()]; }
    [[nodiscard]] std::size_t size() const { return items_.size(); }
    [[nodiscard]] bool empty() const { return items_.empty(); }
    IdType push_back(T item) {
        items_.push_back(std::move(item));
        return IdType(items_.size() - 1);
    }
    void resize(std::size_t size) { items_.resize(size); }
    void reserve(std::size_t size) { items_.reserve(size); }
    void assign(std::size_t size, const T& value) { items_.assign(size, value); }
    [[nodiscard]] auto begin() { return items_.begin(); }
    [[nodiscard]] auto end() { return items_.end(); }
    [[nodiscard]] auto begin() const { return items_.begin(); }
    [[nodiscard]] auto end() const { return items_.end(); }

private:
    std::vector<T> items_;
};

}  // namespace astrolabe

template <class Tag>
struct std::hash<astrolabe::Id<Tag>> {
    std::size_t operator()(astrolabe::Id<Tag> id) const noexcept { return id.index(); }
};
