/// The topology file of the Opera simulator, read and written.
#include "network/src/rotor/topology_file.hpp"

#include "network/src/rotor/rotor_draw.hpp"
#include "random_seed.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <eight_racks.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/core/random.hpp>

namespace astrolabe::network::rotor {
namespace {

std::string written(const TopologyFile& topology) {
    std::string text;
    write_topology(topology, [&text](std::string_view piece) { text += piece; });
    return text;
}

TopologyFile with_paths(RotorSchedule schedule, std::uint32_t hosts_per_rack, std::size_t most,
                        bool newline = true) {
    auto paths = std::make_shared<ShortestSlicePaths>(schedule, most, 1);
    return {std::move(schedule), hosts_per_rack, std::move(paths), newline};
}

TopologyFile of_eight_racks(std::size_t most_paths = 1) {
    return with_paths(eight_racks(), 4, most_paths);
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        lines.push_back(line);
    }
    return lines;
}

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) {
        text += line + '\n';
    }
    return text;
}

TEST(TopologyFile, OfTheReferenceSimulator) {
    const std::vector<std::string> lines = lines_of(written(of_eight_racks()));
    // 2 lines, 24 rows, 24 blocks of a number and 56 paths.
    ASSERT_EQ(lines.size(), 2U + 24 + 24 * 57);
    EXPECT_EQ(lines[0], "32 4 4 8");
    EXPECT_EQ(lines[1], "24 5220000 620000 10000000");
    EXPECT_EQ(lines[2], "7 6 3 0 6 5 2 1 5 4 1 2 4 7 0 3 3 2 6 4 2 1 7 5 1 0 4 6 0 3 5 7");
    EXPECT_EQ(lines[3], lines[2]);
    // Rotor 1 goes dark.
    EXPECT_EQ(lines[4], "7 -1 3 0 6 -1 2 1 5 -1 1 2 4 -1 0 3 3 -1 6 4 2 -1 7 5 1 -1 4 6 0 -1 5 7");
    EXPECT_EQ(lines[26], "0");
    // Rack 0 to 1 … 7 in superslice 0: hops of the reference are numbers behind the pair.
    constexpr std::size_t kHops[] = {4, 3, 1, 2, 2, 3, 1};
    for (std::size_t to = 1; to < 8; ++to) {
        const std::string& line = lines[26 + to];
        EXPECT_EQ(line.substr(0, 4), fmt::format("0 {} ", to));
        EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(line, ' ')), 1 + kHops[to - 1]) << line;
    }
    EXPECT_EQ(lines[29], "0 3 6");  // uplink 2 of rack 0 leads to rack 3; 4 downlinks
    EXPECT_EQ(lines[26 + 57], "1");
}

TEST(TopologyFile, ReadsBackToTheSame) {
    RandomStream random(1, "test");
    std::vector<TopologyFile> topologies;
    topologies.push_back(of_eight_racks(1));
    topologies.push_back(of_eight_racks(12));
    topologies.push_back(with_paths(
        {draw_rotors({.racks = 12, .uplinks = 6, .groups = 2}).matchings, 2, kEightRackTiming}, 3, 2, false));
    topologies.push_back(
        with_paths({draw_rotors({.racks = 4, .uplinks = 4}).matchings, 1, kEightRackTiming}, 1, 5));
    for (const TopologyFile& topology : topologies) {
        const std::string text = written(topology);
        EXPECT_EQ(text.back() == '\n', topology.ends_in_newline);
        const Result<TopologyFile> read = read_topology(text, "topology.txt");
        ASSERT_TRUE(read) << render(read.error());
        EXPECT_EQ(written(*read), text);
        EXPECT_EQ(read->hosts_per_rack, topology.hosts_per_rack);
        EXPECT_EQ(read->schedule.timing(), topology.schedule.timing());
        ASSERT_EQ(read->schedule.groups(), topology.schedule.groups());
        for (Rotor rotor = 0; rotor < topology.schedule.uplinks(); ++rotor) {
            for (std::uint32_t i = 0; i < topology.schedule.matchings_per_rotor(); ++i) {
                EXPECT_EQ(read->schedule.matching(rotor, i), topology.schedule.matching(rotor, i));
            }
        }
    }
}

/// What the file damaged by `text` is answered with.
Diagnostic refusal_of(const std::string& text) {
    const Result<TopologyFile> read = read_topology(text, "topology.txt");
    EXPECT_FALSE(read) << text.substr(0, 60);
    return read ? Diagnostic{} : read.error().front();
}

TEST(TopologyFile, NamesThePlaceOfADefect) {
    const std::vector<std::string> good = lines_of(written(of_eight_racks()));
    const auto changed = [&good](std::size_t number, const std::string& line) {
        std::vector<std::string> lines = good;
        lines[number - 1] = line;
        return refusal_of(joined(lines)).where;
    };
    const auto expect_place = [](const SourceRange& where, int line, int column) {
        EXPECT_EQ(where.line, line);
        EXPECT_EQ(where.column, column);
    };
    expect_place(changed(1, "33 4 4 8"), 1, 1);              // hosts are downlinks times racks
    expect_place(changed(1, "24 4 4 6"), 1, 8);              // 6 matchings on 4 rotors
    expect_place(changed(1, "32 4 4"), 1, 6);                // the line ends after the third number
    expect_place(changed(1, "32 4 4 08"), 1, 8);             // a leading zero
    expect_place(changed(1, "32 4  4 8"), 1, 6);             // two spaces
    expect_place(changed(1, "32 4 4 8 "), 1, 10);            // a number must follow
    expect_place(changed(1, "32 4 4 8\r"), 1, 9);            // no other ends of lines
    expect_place(changed(2, "25 1 1 1"), 2, 1);              // three parts each
    expect_place(changed(2, "24 1 1000000000001 1"), 2, 6);  // more than a second
    expect_place(changed(2, "24 0 0 0"), 2, 4);
    expect_place(changed(2, "21 1 1 1"), 2, 1);  // 8 racks have 8 superslices, or 4 in two groups, or 2
    expect_place(changed(2, "12 1 1 1"), 5, 8);  // as two groups have, but rotor 3 is not dark with 1
    expect_place(changed(3, "8" + good[2].substr(1)), 3, 1);      // no rack 8
    expect_place(changed(3, "6" + good[2].substr(1)), 3, 1);      // rack 6 is not joined to 0 by uplink 0
    expect_place(changed(5, "7 6" + good[4].substr(4)), 5, 3);    // rotor 1 is dark
    expect_place(changed(8, "7 4 3" + good[7].substr(6)), 8, 5);  // rotor 2 is dark in superslice 1
    expect_place(changed(27, "1"), 27, 1);                        // blocks come in order
    expect_place(changed(30, "0 3 5"), 30, 5);                    // uplink 1 goes dark
    expect_place(changed(30, "0 3 4"), 30, 5);                    // leads to rack 7
    expect_place(changed(30, "0 3 8"), 30, 5);                    // no such port
    expect_place(changed(30, "0 4 6"), 30, 1);                    // the pair 0 3 is missing
    expect_place(changed(30, "0 3 6 4 4"), 30, 7);                // there and back: 3 hops for 1
    expect_place(changed(27 + 57, "0"), 84, 1);
    expect_place(refusal_of("").where, 1, 1);
    expect_place(refusal_of(joined(good) + "24\n").where, static_cast<int>(good.size()) + 1, 1);
}

/// The first line in which two texts differ.
int first_difference(const std::string& a, const std::string& b) {
    const std::size_t same = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
    return 1 + static_cast<int>(std::count(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(same), '\n'));
}

/// Where the number of slices fits the sizes but not the dark circuits, the first of these is the place, and
/// the hint names the line with the number, here 12 in place of 24.
TEST(TopologyFile, AnotherNumberOfSlicesIsNamedBesideTheDarkCircuitsItContradicts) {
    std::vector<std::string> lines = lines_of(written(of_eight_racks()));
    lines[1] = "12" + lines[1].substr(2);
    const Diagnostic defect = refusal_of(joined(lines));
    EXPECT_EQ(defect.where.line, 5);
    EXPECT_NE(defect.hint.find("slices of line 2"), std::string::npos) << defect.hint;
}

RC_GTEST_PROP(TopologyFile, DamageIsRefusedWithItsLine, ()) {
    static const std::string kOne = written(of_eight_racks(1));
    static const std::string kMany = written(of_eight_racks(12));
    const std::string& good = *rc::gen::element(kOne, kMany);
    RandomStream random(random_seed(), "damage");
    std::vector<std::string> lines = lines_of(good);
    const auto any_line = [&] { return random.below(static_cast<std::uint32_t>(lines.size())); };
    const std::uint32_t at = any_line();
    std::vector<int> places;
    switch (random.below(6)) {
        case 0:  // cut
            lines.erase(lines.begin() + at);
            break;
        case 1:  // twice
            lines.insert(lines.begin() + at, lines[at]);
            break;
        case 2: {  // swapped, which damages two lines
            const std::uint32_t other = any_line();
            std::swap(lines[at], lines[other]);
            places = {static_cast<int>(at) + 1, static_cast<int>(other) + 1};
            break;
        }
        case 3:  // cut short
            lines[at].resize(random.below(static_cast<std::uint32_t>(lines[at].size())));
            break;
        case 4: {  // a number more
            lines[at] += fmt::format(" {}", static_cast<std::int64_t>(random.below(12)) - 2);
            break;
        }
        default:  // one letter changed
            lines[at][random.below(static_cast<std::uint32_t>(lines[at].size()))] =
                "0123456789 -x\t"[random.below(14)];
            break;
    }
    const std::string damaged = joined(lines);
    const Result<TopologyFile> read = read_topology(damaged, "topology.txt");
    if (read) {
        // Nothing was damaged, or the lengths of parts are others now: what was read is what stands there.
        RC_ASSERT(damaged == good || first_difference(good, damaged) == 2);
        RC_ASSERT(written(*read) == damaged);
        return;
    }
    const Diagnostic& defect = read.error().front();
    places.push_back(first_difference(good, damaged));
    RC_LOG() << defect.render() << "first difference in line " << places.back();
    RC_ASSERT(std::ranges::any_of(places, [&defect](int place) {
        const std::string line = fmt::format("line {}", place);
        return defect.where.line == place || defect.message.find(line) != std::string::npos ||
               defect.hint.find(line) != std::string::npos;
    }));
    RC_ASSERT(defect.where.column >= 1);
}

/// Does the refusal of `damaged` name line `number`, up to `last`, as its place or, where it is only seen
/// from another line, in words?
void expect_refused_at(const std::string& damaged, int number, int last, std::string_view how) {
    const Result<TopologyFile> read = read_topology(damaged, "topology.txt");
    ASSERT_FALSE(read) << "line " << number << " " << how;
    const Diagnostic& defect = read.error().front();
    const std::regex words(fmt::format("line {}\\b", number));
    EXPECT_TRUE((defect.where.line >= number && defect.where.line <= last) ||
                std::regex_search(defect.message, words))
        << "line " << number << " " << how << ": " << defect.render();
}

class EveryLine : public ::testing::TestWithParam<bool> {};

TEST_P(EveryLine, CutSwappedOrOutOfRangeIsRefusedThere) {
    // Eight racks with one path for each pair, or four racks with up to five.
    const std::string good =
        GetParam() ? written(of_eight_racks())
                   : written(with_paths(
                         {draw_rotors({.racks = 4, .uplinks = 4}).matchings, 1, kEightRackTiming}, 1, 5));
    const std::vector<std::string> lines = lines_of(good);
    for (std::size_t at = 0; at < lines.size(); ++at) {
        const auto number = static_cast<int>(at) + 1;
        std::vector<std::string> cut = lines;
        cut.erase(cut.begin() + static_cast<std::ptrdiff_t>(at));
        // A line that is like those behind it leaves its mark where they end.
        const int mark = first_difference(good, joined(cut));
        expect_refused_at(joined(cut), mark, mark, "cut");
        if (at + 1 < lines.size() && lines[at] != lines[at + 1]) {
            std::vector<std::string> swapped = lines;
            std::swap(swapped[at], swapped[at + 1]);
            // Which of the two is the wrong one is not always known.
            expect_refused_at(joined(swapped), number, number + 1, "swapped with the next");
        }
        // One number of the line, another one from line to line, beyond what any number of a file can be.
        const auto numbers = static_cast<std::size_t>(std::ranges::count(lines[at], ' ')) + 1;
        std::size_t begin = 0;
        for (std::size_t skip = at % numbers; skip > 0; --skip) {
            begin = lines[at].find(' ', begin) + 1;
        }
        const std::size_t end = std::min(lines[at].find(' ', begin), lines[at].size());
        for (const std::string_view value : {"-2", "1000000000001"}) {
            std::vector<std::string> spoilt = lines;
            spoilt[at].replace(begin, end - begin, value);
            expect_refused_at(joined(spoilt), number, number, "out of range");
        }
        if (HasFailure()) {
            return;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(TopologyFile, EveryLine, ::testing::Bool(),
                         [](const auto& one) { return one.param ? "OnePath" : "SeveralPaths"; });

// 512 racks of 512 uplinks have 262,144 numbers on a line, so the 262,145th is refused, behind as many digits
// and spaces.
TEST(TopologyFile, ALineWithoutEndAndAFileThatIsTooLargeAreNotKept) {
    std::string line;
    for (int i = 0; i < 262'145; ++i) {
        line += "1 ";
    }
    const Diagnostic error = refusal_of(line);
    EXPECT_NE(error.message.find("more than 262144 numbers"), std::string::npos) << error.message;
    EXPECT_EQ(error.where.column, 2 * 262'144 + 1);

    const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "large_topology.txt";
    std::ofstream(file) << "32 4 4 8\n";
    std::filesystem::resize_file(file, std::uintmax_t{2} << 30);  // without a byte on the disk
    const Result<TopologyFile> read = load_topology(file);
    std::filesystem::remove(file);
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().front().message.find("2147483648 bytes, expected at most 2147483647"),
              std::string::npos)
        << read.error().front().message;
}

TEST(TopologyFile, AFileThatIsNotThere) {
    const Result<TopologyFile> read = load_topology("no/such/topology.txt");
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().front().message.find("no/such/topology.txt"), std::string::npos);
}

}  // namespace
}  // namespace astrolabe::network::rotor
