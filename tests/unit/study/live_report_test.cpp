/// The page that a sweep keeps: whose it is, and who writes it. What it shows needs node:
/// report_page_test.cpp.
#include "process.hpp"
#include "study/src/report/report_page.hpp"

#include <chrono>
#include <filesystem>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include <astrolabe/experiment/results/output_folder.hpp>

namespace astrolabe::study {
namespace {

using namespace std::chrono_literals;

std::string page_of(const std::string& study, const std::string& text) {
    return "<!DOCTYPE html><title>" + study + "</title>" + text;
}

class LivePage : public ::testing::Test {
protected:
    [[nodiscard]] Result<bool> replace(const std::string& page) const {
        return replace_page(folder_.path(), page, 0ms);
    }
    [[nodiscard]] std::string page() const { return testing::read_file(folder_.path() / kPageName); }

    testing::TemporaryFolder folder_;
};

TEST_F(LivePage, IsLeftToWhoOwnsTheFolder) {
    ASSERT_EQ(replace(page_of("a", "1")).value(), true);
    {
        const auto owned = experiment::OutputFolder::open_beside_run(folder_.path());
        ASSERT_TRUE(owned) << render(owned.error());
        EXPECT_EQ(replace(page_of("a", "2")).value(), false);
        EXPECT_EQ(page(), page_of("a", "1"));
    }
    EXPECT_EQ(replace(page_of("a", "3")).value(), true) << "as it is when the next one is due";
    EXPECT_EQ(page(), page_of("a", "3"));
}

TEST_F(LivePage, OfAnotherStudyStays) {
    // As long as a name can be on a page: 200 letters of which each is written as "&#60;".
    std::string longest;
    for (int i = 0; i < 200; ++i) {
        longest += "&#60;";
    }
    for (const std::string& there :
         {page_of("a", "1"), page_of(longest, "1"), std::string("of the user's")}) {
        folder_.write(kPageName, there);
        const Result<bool> refused = replace(page_of("b", "2"));
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().front().code, "report.other-study");
        EXPECT_NE(refused.error().front().message.find("is not a page of 'b'"), std::string::npos)
            << render(refused.error());
        EXPECT_EQ(page(), there);
    }
    folder_.write(kPageName, page_of(longest, "1"));
    EXPECT_EQ(replace(page_of(longest, "2")).value(), true);
    EXPECT_EQ(page(), page_of(longest, "2"));
}

TEST_F(LivePage, LeavesNothingElse) {
    ASSERT_TRUE(replace(page_of("a", "1")));
    ASSERT_TRUE(replace(page_of("a", "2")));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

}  // namespace
}  // namespace astrolabe::study
