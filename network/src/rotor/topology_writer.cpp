#include "topology_file.hpp"

#include <iterator>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network::rotor {

namespace {

void write_row(const RotorSchedule& schedule, std::uint32_t superslice, bool reconfiguring,
               fmt::memory_buffer& out) {
    for (Rack rack = 0; rack < schedule.racks(); ++rack) {
        for (Rotor rotor = 0; rotor < schedule.uplinks(); ++rotor) {
            const bool dark = reconfiguring && schedule.goes_dark(rotor, superslice);
            const std::int64_t peer = dark ? -1 : std::int64_t{schedule.peer(rotor, rack, superslice)};
            fmt::format_to(std::back_inserter(out), "{}{}", rack + rotor == 0 ? "" : " ", peer);
        }
    }
}

void write_paths(const TopologyFile& topology, std::uint32_t superslice, fmt::memory_buffer& out) {
    PathList paths;
    const std::uint32_t racks = topology.schedule.racks();
    for (std::size_t pair = 0; pair < std::size_t{racks} * racks; ++pair) {
        const auto from = static_cast<Rack>(pair / racks);
        const auto to = static_cast<Rack>(pair % racks);
        topology.paths->find(superslice, from, to, paths);
        ASTROLABE_ASSERT(from == to || paths.size() > 0, "every pair of racks has a path in a topology file");
        for (std::size_t i = 0; i < paths.size(); ++i) {
            fmt::format_to(std::back_inserter(out), "\n{} {}", from, to);
            for (const std::uint16_t rotor : paths[i]) {
                fmt::format_to(std::back_inserter(out), " {}", topology.hosts_per_rack + rotor);
            }
        }
    }
}

}  // namespace

void write_topology(const TopologyFile& topology, const std::function<void(std::string_view)>& sink) {
    const RotorSchedule& schedule = topology.schedule;
    const RotorTiming& timing = schedule.timing();
    fmt::memory_buffer text;
    const auto flush = [&] {
        sink({text.data(), text.size()});
        text.clear();
    };
    const auto append = std::back_inserter(text);
    fmt::format_to(append, "{} {} {} {}", topology.hosts_per_rack * schedule.racks(), topology.hosts_per_rack,
                   schedule.uplinks(), schedule.racks());
    fmt::format_to(append, "\n{} {} {} {}", 3 * schedule.superslices(), timing.eps.count(),
                   timing.del.count(), timing.reconfiguration.count());
    for (std::uint32_t s = 0; s < schedule.superslices(); ++s) {
        for (int part = 0; part < 3; ++part) {
            fmt::format_to(append, "\n");
            write_row(schedule, s, part == 2, text);
        }
    }
    fmt::memory_buffer paths;
    for (std::uint32_t s = 0; s < schedule.superslices(); ++s) {
        paths.clear();
        write_paths(topology, s, paths);
        for (std::uint32_t part = 0; part < 3; ++part) {
            fmt::format_to(append, "\n{}", 3 * s + part);
            text.append(paths);
        }
        flush();
    }
    if (topology.ends_in_newline) {
        fmt::format_to(append, "\n");
    }
    flush();
}

}  // namespace astrolabe::network::rotor
