/// The topology file of the Opera simulator: a rotor network and its paths as lines of integers.
///
/// Format. One space between numbers, decimal without leading zeros, no empty lines; the last line may lack
/// its newline.
///   line 1    hosts downlinks uplinks racks; hosts = downlinks * racks
///   line 2    3S eps del r: S superslices, lengths in picoseconds
///   3S rows   for part j of superslice s, row 3s + j: racks * uplinks values; entry rack * uplinks + a is
///             the rack that uplink a of `rack` leads to, the rack itself if idle, -1 if dark
///   3S blocks one for each part, in order: a line with its number, then a line `from to port port …` for
///             each path. Pairs of racks in ascending order, all of them, each with a path or several. Ports
///             are those of a rack's switch, downlinks first: uplink a is port downlinks + a.
///
/// What makes it a rotor network (rotor_schedule.hpp), each checked:
///   - uplinks divide racks, and S = racks / G for a number G of groups that divides uplinks: as many
///     matchings as racks. No length is above a second, and their sum is not 0;
///   - the rack an uplink leads to is led back by its own uplink of that number, and no two matchings join
///     the same racks. (They need not join all: a circuit that failed is idle.)
///   - rows 3s and 3s + 1 are alike, and row 3s + 2 is but for the rotors that go dark. With g = uplinks / G
///     those of superslice s are the rotors a = s + 1 (mod g), and a rotor's matching changes only where it
///     was dark;
///   - each path is a shortest one from its first rack to its second over circuits that stay; the three
///     blocks of a superslice list the same paths in the same order.
/// So a line that is cut, that is moved to another place or that has a number out of range is refused, but
/// for two changes that leave a network of the same rules: other lengths in line 2, and in a file that lists
/// several paths for a pair the same change of their order in all three blocks.
///
/// Everything accepted is written back byte by byte. The first defect is reported, with its line and column.
///
/// Files of 108 racks with one path for each pair have 3.7 million lines, 60 MB. Reading is one pass, O(size)
/// and the distances of each superslice (slice_graph.hpp). Kept are the schedule and, once for the three
/// parts, the paths: 2 bytes for each hop, 4 for each path and 4 for each pair.
///
/// Source: the topology generator and the reader of the Opera simulator (opera-sim).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <astrolabe/core/result.hpp>
#include <astrolabe/network/rotor/rotor_schedule.hpp>
#include <astrolabe/network/rotor/slice_paths.hpp>

namespace astrolabe::network::rotor {

struct TopologyFile {
    RotorSchedule schedule;
    std::uint32_t hosts_per_rack = 0;
    std::shared_ptr<const SlicePaths> paths;
    bool ends_in_newline = false;  ///< what the Opera simulator's generator writes does not
};

/// `name` stands for the file in diagnostics.
[[nodiscard]] Result<TopologyFile> read_topology(std::string text, std::string name);
/// Files below 2 GiB.
[[nodiscard]] Result<TopologyFile> load_topology(const std::filesystem::path& path);

/// In pieces of about a superslice, in order. Precondition: `topology.paths` has a path for each pair of
/// racks in each superslice.
void write_topology(const TopologyFile& topology, const std::function<void(std::string_view)>& sink);

}  // namespace astrolabe::network::rotor
