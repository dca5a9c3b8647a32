/// Paths of low-latency packets as somebody listed them, a topology file for instance.
///
/// Memory: 2 bytes for each hop, 4 for each path and 4 for each pair of racks and superslice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <astrolabe/network/rotor/slice_paths.hpp>

namespace astrolabe::network::rotor {

class ListedSlicePaths final : public SlicePaths {
public:
    ListedSlicePaths(std::uint32_t racks, std::uint32_t superslices);

    /// Adds a path of `pair` = (superslice * racks + from) * racks + to; pairs in ascending order.
    void add(std::size_t pair, std::span<const std::uint16_t> path);
    /// When all are added.
    void close();

    void find(std::uint64_t superslice, Rack from, Rack to, PathList& paths) const override;

private:
    std::uint32_t racks_;
    std::uint32_t superslices_;
    std::vector<std::uint16_t> rotors_;      // of all paths, one after the other
    std::vector<std::uint32_t> path_ends_;   // into rotors_
    std::vector<std::uint32_t> first_path_;  // of each pair, into path_ends_; pairs + 1
};

}  // namespace astrolabe::network::rotor
