/// Paths of pairs of hosts in little memory: about a byte a hop.
///
/// A path is written as the number of each link among those out of the node that it leaves, in base 128: one
/// byte where a node has up to 128 links. A pair is written as its two hosts, how many paths it has, and of
/// each path its hops and its links; an open-addressing table of four bytes a slot, at most three quarters
/// full, leads there. Four paths of six hops take 37 bytes and 5 to 11 of the
/// table.
///
/// With more than `most_bytes` all is forgotten before the next pair is added.
/// Complexity: O(1) to find a pair, O(hops) to read its paths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/ids.hpp>

namespace astrolabe::network {

/// Reads the paths of a pair, one after another. Valid until a pair is added.
class PathReader {
public:
    PathReader(const Fabric& fabric, const std::uint8_t* code, NodeId source)
        : fabric_(&fabric),
          code_(code),
          source_(source),
          at_(source),
          paths_(number()) {}

    [[nodiscard]] std::size_t paths() const { return paths_; }

    /// Begins the next path, and gives its hops. Precondition: there is one, and all of the one before was
    /// read.
    std::size_t begin() {
        at_ = source_;
        return number();
    }
    /// Precondition: the path has another hop.
    LinkId next() {
        const LinkId link(fabric_->first_link(at_).index() + number());
        at_ = fabric_->target(link);
        return link;
    }
    /// Begins path `path`, counted from the first. Precondition: none was begun.
    std::size_t begin(std::size_t path) {
        for (; path > 0; --path) {
            for (std::size_t hops = number(); hops > 0; --hops) {
                number();
            }
        }
        return begin();
    }

private:
    std::size_t number() {
        std::size_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const std::uint8_t byte = *code_++;
            value |= std::size_t{byte & 0x7fU} << shift;
            if (byte < 0x80U) {
                return value;
            }
        }
    }

    const Fabric* fabric_;
    const std::uint8_t* code_;
    NodeId source_;
    NodeId at_;
    std::size_t paths_;
};

class KnownPaths {
public:
    static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

    /// `fabric` outlives it. most_bytes < 2^31.
    explicit KnownPaths(const Fabric& fabric, std::size_t most_bytes = kMostBytes);

    [[nodiscard]] std::optional<PathReader> find(HostId source, HostId destination) const;
    /// Precondition: the pair is not known. Its paths lead from the source.
    PathReader add(HostId source, HostId destination, const std::vector<std::vector<LinkId>>& paths);

    [[nodiscard]] std::size_t bytes() const {
        return code_.capacity() + places_.capacity() * sizeof(std::uint32_t);
    }

private:
    /// Where the pair is written, or the free slot where it belongs.
    [[nodiscard]] std::size_t slot_of(HostId source, HostId destination) const;
    void forget();
    void write(std::size_t value);

    const Fabric* fabric_;
    std::size_t most_bytes_;
    std::size_t pairs_ = 0;
    std::vector<std::uint8_t> code_;
    std::vector<std::uint32_t> places_;  ///< in `code_`, of which the first byte is none's; 0: free
};

}  // namespace astrolabe::network
