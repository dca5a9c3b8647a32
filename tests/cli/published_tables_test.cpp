/// Tables of published values in the pages are what the program prints from the record:
///
///     <!-- astrolabe reproduce euromlsys2024 --recorded --markdown -->
///     …
///     <!-- end of what astrolabe printed -->
///
/// With ASTROLABE_RENEW_PAGES=1 in the environment the pages are written anew instead.
#include "process.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace astrolabe::testing {
namespace {

const std::string kBegin = "\n<!-- astrolabe ";  // in the first column: what is indented is an example
const std::string kEndOfCommand = " -->\n";
const std::string kEnd = "<!-- end of what astrolabe printed -->";

struct Renewed {
    std::string text;
    std::size_t tables = 0;
    std::string error;
};

/// The page with what the program prints now; commands run in the root of the repository.
Renewed renewed(const std::string& page) {
    Renewed result;
    std::size_t from = 0;
    for (std::size_t begin = page.find(kBegin); begin != std::string::npos; begin = page.find(kBegin, from)) {
        const std::size_t command = begin + kBegin.size();
        const std::size_t body = page.find(kEndOfCommand, command);
        const std::size_t end = page.find(kEnd, command);
        if (body == std::string::npos || end == std::string::npos || end < body ||
            page.find(kBegin, command) < end) {
            result.error = "a table has no end: " + page.substr(begin, 80);
            return result;
        }
        const std::string words = page.substr(command, body - command);
        const ProcessResult printed = run_shell("cd " + quoted(ASTROLABE_SOURCE_DIR) + " && " +
                                                quoted(ASTROLABE_PROGRAM) + " " + words);
        if (printed.exit_code != 0) {
            result.error = words + ": " + printed.err;
            return result;
        }
        result.text += page.substr(from, body + kEndOfCommand.size() - from) + printed.out;
        from = end;
        ++result.tables;
    }
    result.text += page.substr(from);
    return result;
}

std::vector<std::filesystem::path> pages() {
    std::vector<std::filesystem::path> found{ASTROLABE_SOURCE_DIR "/README.md"};
    for (const char* folder : {"docs", "examples", "reproduce"}) {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(
                 std::filesystem::path(ASTROLABE_SOURCE_DIR) / folder)) {
            if (entry.path().extension() == ".md") {
                found.push_back(entry.path());
            }
        }
    }
    return found;
}

TEST(PublishedTables, AreWhatTheProgramPrints) {
    std::size_t tables = 0;
    for (const std::filesystem::path& page : pages()) {
        const std::string text = read_file(page);
        const Renewed now = renewed(text);
        tables += now.tables;
        if (!now.error.empty()) {
            ADD_FAILURE() << page << ": " << now.error;
            continue;
        }
        if (now.text != text && std::getenv("ASTROLABE_RENEW_PAGES") != nullptr) {
            std::ofstream(page, std::ios::binary) << now.text;
            continue;
        }
        EXPECT_EQ(now.text, text) << page
                                  << "\nASTROLABE_RENEW_PAGES=1 in the environment of this test renews it";
    }
    EXPECT_GT(tables, 4U);
}

TEST(PublishedTables, ANumberThatWasTypedIsFound) {
    const std::string line = kBegin + "reproduce --folder reproduce" + kEndOfCommand;
    const std::string page = "before" + line + "typed\n" + kEnd + "\nafter\n";
    const Renewed now = renewed(page);
    ASSERT_EQ(now.error, "");
    EXPECT_EQ(now.tables, 1U);
    EXPECT_NE(now.text, page);
    EXPECT_TRUE(now.text.starts_with("before" + line)) << now.text;
    EXPECT_TRUE(now.text.ends_with(kEnd + "\nafter\n")) << now.text;
    EXPECT_EQ(renewed(now.text).text, now.text);
    EXPECT_NE(renewed(line + "no end").error, "");
    EXPECT_NE(renewed(kBegin + "reproduce nowhere" + kEndOfCommand + kEnd).error, "");
}

}  // namespace
}  // namespace astrolabe::testing
