#include "listed_slice_paths.hpp"

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network::rotor {

ListedSlicePaths::ListedSlicePaths(std::uint32_t racks, std::uint32_t superslices)
    : racks_(racks),
      superslices_(superslices) {
    first_path_.reserve(std::size_t{superslices} * racks * racks + 1);
}

void ListedSlicePaths::add(std::size_t pair, std::span<const std::uint16_t> path) {
    ASTROLABE_ASSERT(pair + 1 >= first_path_.size(), "pairs come in ascending order");
    first_path_.resize(pair + 1, static_cast<std::uint32_t>(path_ends_.size()));
    rotors_.insert(rotors_.end(), path.begin(), path.end());
    path_ends_.push_back(static_cast<std::uint32_t>(rotors_.size()));
}

void ListedSlicePaths::close() {
    first_path_.resize(std::size_t{superslices_} * racks_ * racks_ + 1,
                       static_cast<std::uint32_t>(path_ends_.size()));
}

void ListedSlicePaths::find(std::uint64_t superslice, Rack from, Rack to, PathList& paths) const {
    paths.clear();
    const std::size_t pair = (superslice % superslices_ * racks_ + from) * racks_ + to;
    for (std::size_t path = first_path_[pair]; path < first_path_[pair + 1]; ++path) {
        const std::size_t begin = path == 0 ? 0 : path_ends_[path - 1];
        paths.add(std::span(rotors_).subspan(begin, path_ends_[path] - begin));
    }
}

}  // namespace astrolabe::network::rotor
