#include "topology_file.hpp"

#include "integer_lines.hpp"
#include "listed_slice_paths.hpp"

#include <algorithm>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/utf8.hpp>
#include <astrolabe/network/rotor/factorisation.hpp>
#include <astrolabe/network/rotor/slice_graph.hpp>

namespace astrolabe::network::rotor {

namespace {

constexpr std::int64_t kMaxPart = kPicosecondsPerSecond;

class Reader {
public:
    explicit Reader(std::shared_ptr<const SourceText> source)
        : lines_(std::move(source)) {}

    TopologyFile read() {
        read_header();
        std::vector<std::vector<Matching>> matchings = read_rows();
        RotorSchedule schedule(std::move(matchings), uplinks_ / residence_, timing_);
        auto paths = std::make_shared<ListedSlicePaths>(racks_, superslices_);
        for (std::uint32_t s = 0; s < superslices_; ++s) {
            read_paths(schedule, s, *paths);
        }
        if (!lines_.at_end()) {
            lines_.next("nothing");
            lines_.fail(0, "the file goes on after its last block", "take out what is too much");
        }
        paths->close();
        return {std::move(schedule), downlinks_, std::move(paths), lines_.ends_in_newline()};
    }

private:
    void read_header() {
        lines_.next("hosts downlinks uplinks racks");
        lines_.require_count(4, "hosts downlinks uplinks racks");
        lines_.require_range(3, 2, kMaxRacks, "the number of racks");
        lines_.require_range(2, 1, kMaxRacks, "the number of uplinks");
        lines_.require_range(1, 1, 2'048, "the number of downlinks");
        const std::int64_t hosts = lines_.values()[1] * lines_.values()[3];
        lines_.require_range(0, hosts, hosts, "the number of hosts, downlinks times racks,");
        if (lines_.values()[3] % lines_.values()[2] != 0) {
            lines_.fail(3,
                        fmt::format("the {} matchings of {} racks cannot be dealt to {} rotors evenly",
                                    lines_.values()[3], lines_.values()[3], lines_.values()[2]),
                        "the number of uplinks divides that of racks");
        }
        downlinks_ = static_cast<std::uint32_t>(lines_.values()[1]);
        uplinks_ = static_cast<std::uint32_t>(lines_.values()[2]);
        racks_ = static_cast<std::uint32_t>(lines_.values()[3]);

        lines_.next("3S eps del r");
        lines_.require_count(4, "three times the superslices, and the lengths of their parts");
        const std::int64_t parts = lines_.values()[0];
        const std::int64_t groups = parts < 3 ? 0 : 3 * std::int64_t{racks_} / parts;
        if (groups < 1 || groups * parts != 3 * std::int64_t{racks_} || uplinks_ % groups != 0) {
            lines_.fail(0,
                        fmt::format("{} parts, expected 3 * {} for {} racks, or that divided by a number of "
                                    "groups of their {} rotors",
                                    parts, racks_, racks_, uplinks_),
                        "a superslice has three parts, and in a cycle each of as many matchings as racks is "
                        "installed");
        }
        for (std::size_t part = 1; part <= 3; ++part) {
            lines_.require_range(part, 0, kMaxPart, "a length in picoseconds");
        }
        superslices_ = static_cast<std::uint32_t>(parts / 3);
        residence_ = uplinks_ / static_cast<std::uint32_t>(groups);
        timing_ = {Time(lines_.values()[1]), Time(lines_.values()[2]), Time(lines_.values()[3])};
        if (timing_.superslice() == Time(0)) {
            lines_.fail(1, "eps, del and r are all 0", "a superslice has a length");
        }
    }

    /// The matchings of each rotor, in the order of their installation.
    std::vector<std::vector<Matching>> read_rows() {
        std::vector<std::vector<Matching>> matchings(uplinks_);
        std::vector<std::int64_t> before;
        std::vector<std::int64_t> first;
        std::vector<std::uint8_t> met(std::size_t{racks_} * racks_, 0);
        for (std::uint32_t s = 0; s < superslices_; ++s) {
            lines_.next("where uplinks lead");
            const std::vector<std::int64_t> row = read_row(nullptr, s);
            lines_.next("where uplinks lead");
            (void)read_row(&row, s);
            lines_.next("where uplinks lead, -1 where they are dark");
            read_dark_row(row, s);
            for (Rotor rotor = 0; rotor < uplinks_; ++rotor) {
                if (s % residence_ != rotor % residence_) {
                    if (s > 0) {
                        require_same(row, before, rotor, "changes without having been dark");
                    }
                    continue;
                }
                Matching& matching = matchings[rotor].emplace_back(racks_);
                for (Rack rack = 0; rack < racks_; ++rack) {
                    const std::size_t entry = std::size_t{rack} * uplinks_ + rotor;
                    matching[rack] = static_cast<Rack>(row[entry]);
                    if (matching[rack] != rack && met[std::size_t{rack} * racks_ + matching[rack]]++ != 0) {
                        lines_.fail(entry,
                                    fmt::format("rotor {} joins racks {} and {}, which another matching "
                                                "joins already",
                                                rotor, rack, matching[rack]),
                                    of_this_superslice());
                    }
                }
            }
            first = s == 0 ? row : std::move(first);
            before = row;
        }
        for (Rotor rotor = 0; rotor < uplinks_; ++rotor) {
            // What is up before the first installation is the last matching.
            if (rotor % residence_ != 0) {
                require_same(before, first, rotor, "changes from the last superslice to the first");
            }
        }
        return matchings;
    }

    void require_same(const std::vector<std::int64_t>& row, const std::vector<std::int64_t>& other,
                      Rotor rotor, std::string_view how) const {
        for (Rack rack = 0; rack < racks_; ++rack) {
            const std::size_t entry = std::size_t{rack} * uplinks_ + rotor;
            if (row[entry] != other[entry]) {
                lines_.fail(entry,
                            fmt::format("the matching of rotor {} {}: rack {} is joined to {} and to {}",
                                        rotor, how, rack, row[entry], other[entry]),
                            of_this_superslice());
            }
        }
    }

    [[nodiscard]] std::string of_this_superslice() const {
        return fmt::format("the rows of this superslice are lines {} to {}", lines_.number() - 2,
                           lines_.number());
    }

    [[nodiscard]] std::string row_of(std::uint32_t superslice) const {
        return fmt::format("{} uplinks of {} racks (line 1), superslice {} of {} (line 2)", uplinks_, racks_,
                           superslice, superslices_);
    }

    /// Of part 0, or of part 1, which must be as `part0`.
    std::vector<std::int64_t> read_row(const std::vector<std::int64_t>* part0, std::uint32_t superslice) {
        const std::vector<std::int64_t>& row = lines_.values();
        lines_.require_count(std::size_t{racks_} * uplinks_, row_of(superslice));
        for (std::size_t entry = 0; entry < row.size(); ++entry) {
            lines_.require_range(entry, 0, racks_ - 1, "a rack");
            const std::size_t back = static_cast<std::size_t>(row[entry]) * uplinks_ + entry % uplinks_;
            if (row[back] != static_cast<std::int64_t>(entry / uplinks_)) {
                lines_.fail(entry,
                            fmt::format("uplink {} of rack {} leads to rack {}, and back from there to {}",
                                        entry % uplinks_, entry / uplinks_, row[entry], row[back]),
                            "a matching joins racks both ways");
            }
            if (part0 != nullptr && row[entry] != (*part0)[entry]) {
                lines_.fail(entry,
                            fmt::format("{} differs from {} in line {}, which is of the same "
                                        "superslice {}",
                                        row[entry], (*part0)[entry], lines_.number() - 1, superslice),
                            "one of the two lines is damaged");
            }
        }
        return row;
    }

    void read_dark_row(const std::vector<std::int64_t>& part0, std::uint32_t superslice) {
        const std::vector<std::int64_t>& row = lines_.values();
        lines_.require_count(part0.size(), row_of(superslice));
        for (std::size_t entry = 0; entry < row.size(); ++entry) {
            const bool dark = (superslice + 1) % residence_ == entry % uplinks_ % residence_;
            const std::int64_t expected = dark ? -1 : part0[entry];
            if (row[entry] != expected) {
                lines_.fail(
                    entry,
                    fmt::format("uplink {} of rack {} leads to {}, expected {}", entry % uplinks_,
                                entry / uplinks_, row[entry], expected),
                    dark ? fmt::format("with the slices of line 2 rotor {} reconfigures at the end of "
                                       "superslice {}",
                                       entry % uplinks_, superslice)
                         : fmt::format("it does so two lines before, and with the slices of line 2 rotor {} "
                                       "does not reconfigure in superslice {}",
                                       entry % uplinks_, superslice));
            }
        }
    }

    /// The three blocks of a superslice.
    void read_paths(const RotorSchedule& schedule, std::uint32_t superslice, ListedSlicePaths& paths) {
        for (std::int64_t part = 0; part < 3; ++part) {
            const std::int64_t block = 3 * std::int64_t{superslice} + part;
            lines_.next("the number of a block of paths");
            lines_.require_count(1, "the number of a block of paths");
            lines_.require_range(0, block, block, "the number of a block, which come in order,");
            if (part == 0) {
                first_line_ = lines_.number() + 1;
                read_first_block(schedule, superslice, paths);
            } else {
                repeat_block(superslice);
            }
        }
    }

    void read_first_block(const RotorSchedule& schedule, std::uint32_t superslice, ListedSlicePaths& paths) {
        hops_ = SliceGraph(schedule, superslice).distances();
        block_.clear();
        line_ends_.clear();
        const std::size_t last = std::size_t{racks_} * racks_ - 2;  // the last pair of two racks
        for (std::size_t pair = 0; pair < last || !block_ends();) {
            lines_.next(fmt::format("a path, superslice {}", superslice));
            const std::vector<std::int64_t>& line = lines_.values();
            if (line.size() < 3) {
                lines_.fail(
                    0,
                    fmt::format("the line has {} numbers, expected a path: from to port …; the last one "
                                "was from {} to {}",
                                line.size(), pair / racks_, pair % racks_),
                    "every pair of racks has a path in every superslice");
            }
            lines_.require_range(0, 0, racks_ - 1, "a rack");
            lines_.require_range(1, 0, racks_ - 1, "a rack");
            const std::size_t found =
                static_cast<std::size_t>(line[0]) * racks_ + static_cast<std::size_t>(line[1]);
            const std::size_t after = next_pair(pair);
            if (found != after && (found != pair || line_ends_.empty())) {
                lines_.fail(
                    0,
                    fmt::format("a path from rack {} to {}, expected one from {} to {}", line[0], line[1],
                                after / racks_, after % racks_),
                    fmt::format("all pairs of racks come in ascending order; line {} is of pair {} {}",
                                lines_.number() - 1, pair / racks_, pair % racks_));
            }
            pair = found;
            paths.add(std::size_t{superslice} * racks_ * racks_ + pair, follow(schedule, superslice));
            block_.insert(block_.end(), line.begin(), line.end());
            line_ends_.push_back(block_.size());
        }
    }

    /// Does the next line not belong to the block: is it a number alone, or none?
    [[nodiscard]] bool block_ends() const { return lines_.next_is_single(); }

    /// The pair after this one, racks with themselves left out.
    [[nodiscard]] std::size_t next_pair(std::size_t pair) const {
        ++pair;
        return pair % (racks_ + 1) == 0 ? pair + 1 : pair;
    }

    /// Checks that the path of this line leads where it says; its uplinks.
    std::span<const std::uint16_t> follow(const RotorSchedule& schedule, std::uint32_t superslice) {
        const std::vector<std::int64_t>& line = lines_.values();
        path_.clear();
        auto at = static_cast<Rack>(line[0]);
        for (std::size_t hop = 2; hop < line.size(); ++hop) {
            lines_.require_range(hop, downlinks_, downlinks_ + uplinks_ - 1, "the port of an uplink");
            const auto rotor = static_cast<Rotor>(line[hop] - downlinks_);
            if (schedule.goes_dark(rotor, superslice)) {
                lines_.fail(hop,
                            fmt::format("the path takes uplink {}, which goes dark in superslice {}", rotor,
                                        superslice),
                            "paths take circuits that stay");
            }
            at = schedule.peer(rotor, at, superslice);
            path_.push_back(static_cast<std::uint16_t>(rotor));
        }
        if (at != static_cast<Rack>(line[1])) {
            lines_.fail(line.size() - 1,
                        fmt::format("the path from rack {} leads to {}, expected {}", line[0], at, line[1]),
                        fmt::format("where uplinks lead in superslice {} is in line {}", superslice,
                                    3 + 3 * superslice));
        }
        const std::uint16_t least = hops_[static_cast<std::size_t>(line[0]) * racks_ + at];
        if (path_.size() > least) {
            lines_.fail(2 + std::size_t{least},
                        fmt::format("the path from rack {} to {} has {} hops, and the shortest {}", line[0],
                                    line[1], path_.size(), least),
                        "paths are shortest ones: eps is as long as those may take");
        }
        return path_;
    }

    void repeat_block(std::uint32_t superslice) {
        std::size_t begin = 0;
        for (std::size_t i = 0; i < line_ends_.size(); ++i) {
            lines_.next("the paths of the part before");
            const std::span expected = std::span(block_).subspan(begin, line_ends_[i] - begin);
            if (!std::ranges::equal(lines_.values(), expected)) {
                lines_.fail(0,
                            fmt::format("the line differs from line {}, the same one of superslice {}",
                                        first_line_ + static_cast<int>(i), superslice),
                            "the three blocks of a superslice list the same paths in the same order");
            }
            begin = line_ends_[i];
        }
        if (!block_ends()) {
            lines_.next("the end of the block");
            lines_.fail(
                0,
                fmt::format("the block goes on, but the first one of superslice {} ends before line {}",
                            superslice, first_line_ + static_cast<int>(line_ends_.size())),
                "the three blocks of a superslice list the same paths in the same order");
        }
    }

    IntegerLines lines_;
    std::uint32_t downlinks_ = 0;
    std::uint32_t uplinks_ = 0;
    std::uint32_t racks_ = 0;
    std::uint32_t superslices_ = 0;
    std::uint32_t residence_ = 1;
    RotorTiming timing_;

    // Of the superslice being read: the lines of its first block, one after the other, for the other two.
    int first_line_ = 0;
    std::vector<std::int64_t> block_;
    std::vector<std::size_t> line_ends_;
    std::vector<std::uint16_t> path_;
    std::vector<std::uint16_t> hops_;  // between all racks
};

}  // namespace

Result<TopologyFile> read_topology(std::string text, std::string name) {
    auto source = std::make_shared<const SourceText>(SourceText{std::move(name), std::move(text)});
    if (std::optional<Diagnostic> error = not_utf8(source, "topology.encoding")) {
        return *std::move(error);
    }
    try {
        return Reader(std::move(source)).read();
    } catch (const Defect& defect) {
        return defect.diagnostic;
    }
}

Result<TopologyFile> load_topology(const std::filesystem::path& path) {
    constexpr std::uintmax_t kMostBytes = (std::uintmax_t{2} << 30) - 1;  // a column fits in an int
    const SourceRange where{std::make_shared<const SourceText>(SourceText{path.string(), {}}), 0, 0, 1};
    std::error_code failure;
    std::ifstream file(path, std::ios::binary);
    if (!std::filesystem::is_regular_file(path, failure) || !file) {
        return Diagnostic{"topology.file",
                          where,
                          fmt::format("cannot read the topology '{}'", path.string()),
                          "paths resolve against the file that names them",
                          {}};
    }
    const std::uintmax_t size = std::filesystem::file_size(path, failure);
    if (failure || size > kMostBytes) {
        return Diagnostic{"topology.file",
                          where,
                          fmt::format("the topology has {} bytes, expected at most {}", size, kMostBytes),
                          "a network this large is better drawn than listed: leave file out",
                          {}};
    }
    std::string text(static_cast<std::size_t>(size), '\0');
    file.read(text.data(), static_cast<std::streamsize>(size));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return read_topology(std::move(text), path.string());
}

}  // namespace astrolabe::network::rotor
