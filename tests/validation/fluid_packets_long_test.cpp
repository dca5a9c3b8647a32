/// The tables of docs/fluid-against-packets.md, measured again: minutes, so labelled `long`.
#include "fluid_packets.hpp"
#include "process.hpp"

#include <gtest/gtest.h>

namespace astrolabe::testing {
namespace {

template <class T>
void append(std::vector<T>& all, std::vector<T> more) {
    all.insert(all.end(), more.begin(), more.end());
}

/// Both engines are deterministic, so the tables are equal to the last digit or out of date. What was
/// measured is left as text in the folder of the test, ready to be pasted.
TEST(FluidAgainstPackets, TablesOfTheDocsAreWhatIsMeasured) {
    std::vector<EngineComparison> collectives = compare_collectives(16);
    append(collectives, compare_collectives(128));
    std::vector<EngineComparison> iterations = compare_short_iterations();
    append(iterations, compare_long_iterations());
    for (const auto& rows : {collectives, iterations}) {
        for (const EngineComparison& comparison : rows) {
            EXPECT_TRUE(comparison.is_as_documented()) << comparison.row();
        }
    }
    const std::string tables[]{collectives_table(collectives), iterations_table(iterations)};
    std::ofstream("fluid-against-packets.tables.md") << tables[0] << "\n" << tables[1];
    const std::string page = read_file(ASTROLABE_SOURCE_DIR "/docs/fluid-against-packets.md");
    for (const std::string& table : tables) {
        EXPECT_NE(page.find(table), std::string::npos) << "docs/fluid-against-packets.md lacks:\n" << table;
    }
}

}  // namespace
}  // namespace astrolabe::testing
