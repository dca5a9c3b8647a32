// No layer names a family of networks outside the folders of the family and the file that registers it: a
// family brings its own behaviour (network/family.hpp).
#include "sources.hpp"

#include <array>
#include <cctype>
#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace astrolabe::structure {
namespace {

/// Folders of the families, and the engines that run one family alone.
constexpr std::array<std::string_view, 5> kOwnFolders{
    "network/include/astrolabe/network/rotor/", "network/src/rotor/", "network/src/topoopt/",
    "network/src/engines/slots/", "network/include/astrolabe/network/topoopt/"};

struct Exception {
    std::string_view path;
    std::string_view part;  ///< of the line
    std::string_view reason;
};

constexpr std::array kExceptions{
    Exception{"network/src/topologies/builtin.cpp", "TOPOLOGY(", "registers all topologies"},
    Exception{"network/include/astrolabe/network/cost/prices.hpp", "kRotorPort", "a part with a price"},
    Exception{"network/src/cost/prices.cpp", "rotor_port", "a key of price lists"},
    Exception{"system/src/collectives/", "rotor", "two collective algorithms are named so"},
    Exception{"cli/src/describe_command.cpp", "inputs/networks/", "an example names a file"},
};

/// Whether the line names a family, whatever the name is part of: `rotors_of`, "opera", namespace topoopt; an
/// operation, an operator and what operates are none.
bool names_family(std::string line) {
    std::ranges::transform(line, line.begin(), [](unsigned char c) { return std::tolower(c); });
    for (std::size_t at = line.find("opera"); at != std::string::npos; at = line.find("opera", at + 1)) {
        if (line[at + 5] != 't' && line[at + 5] != 'n') {
            return true;
        }
    }
    return line.find("rotor") != std::string::npos || line.find("topoopt") != std::string::npos;
}

/// Papers and pages of the documentation are cited by their titles.
bool is_citation(std::string_view line) {
    return line.find("NSDI") != std::string_view::npos || line.find("docs/") != std::string_view::npos ||
           line.find("EuroMLSys") != std::string_view::npos;
}

bool is_exception(const std::string& path, std::string_view line, std::set<std::string_view>& used) {
    for (const Exception& exception : kExceptions) {
        if (path.starts_with(exception.path) && line.find(exception.part) != std::string_view::npos) {
            used.insert(exception.reason);
            return true;
        }
    }
    return false;
}

TEST(FamilyNames, AreThoseOfTheirFoldersAlone) {
    std::set<std::string_view> used;
    for (const Source& source :
         sources_below({"core", "network", "system", "workload", "experiment", "study", "cli"})) {
        if (std::ranges::any_of(kOwnFolders,
                                [&](std::string_view own) { return source.path.starts_with(own); })) {
            continue;
        }
        std::istringstream lines(source.text);
        std::string line;
        for (int number = 1; std::getline(lines, line); ++number) {
            EXPECT_TRUE(!names_family(line) || is_citation(line) || is_exception(source.path, line, used))
                << source.path << ":" << number << ": " << line;
        }
    }
    for (const Exception& exception : kExceptions) {
        EXPECT_TRUE(used.contains(exception.reason)) << "nothing needs this exception: " << exception.reason;
    }
}

}  // namespace
}  // namespace astrolabe::structure
