/// The devices in inputs/devices: each is one, is whole, and says how sure its numbers are.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::experiment {
namespace {

std::vector<std::filesystem::path> device_files() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(ASTROLABE_SOURCE_DIR "/inputs/devices")) {
        files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

// No device reaches more than its maker publishes, and none looks rows up faster than its memory gives them.
TEST(Devices, EveryFileIsAWholeDevice) {
    const Components components = builtin_components();
    const std::vector<std::filesystem::path> files = device_files();
    EXPECT_EQ(files.size(), 6U);
    for (const std::filesystem::path& path : files) {
        Result<ConfigNode> file = load_config(path);
        ASSERT_TRUE(file) << render(file.error());
        std::erase_if(file->entries, [](const ConfigEntry& entry) { return entry.key == "schema"; });
        ReadContext context;
        const auto read = components.devices.read(*file, context);
        ASSERT_TRUE(read) << render(context.errors());
        const workload::Device device = read->make();
        ASSERT_TRUE(device.gemm && device.lookup && device.host && device.memory && device.host_link &&
                    device.kernel)
            << path;
        ASSERT_FALSE(device.gemm->rate.empty()) << path;
        for (const auto& [precision, rate] : device.gemm->rate) {
            ASSERT_TRUE(device.peaks.contains(precision)) << path;
            EXPECT_LT(rate, device.peaks.at(precision)) << path;
        }
        EXPECT_LT(*device.lookup_bandwidth(128), *device.memory_bandwidth) << path;
        EXPECT_GT(device.gemm->backward_floor, device.gemm->floor) << "two products" << path;
        EXPECT_GT(device.host->forward_launch, *device.kernel) << path;
    }
}

// A number without a word of its own has that of the key that holds it.
TEST(Devices, EveryNumberSaysHowSureItIs) {
    constexpr std::array<const char*, 4> kHowSure{"published", "measured", "fitted", "assumed"};
    for (const std::filesystem::path& path : device_files()) {
        std::ifstream file(path);
        bool is_in_host = false;
        for (std::string line; std::getline(file, line);) {
            const bool says = std::ranges::any_of(kHowSure, [&line](const char* word) {
                return line.find(word, line.find('#')) != std::string::npos;
            });
            const bool is_within = line.starts_with("  ");
            is_in_host = (is_in_host && is_within) || (line.starts_with("host:") && says);
            const bool has_number =
                !line.starts_with("#") && line.find_first_of("0123456789") != std::string::npos;
            if (has_number && !line.starts_with("schema")) {
                EXPECT_TRUE(says || is_in_host) << path << ": " << line;
            }
        }
    }
}

}  // namespace
}  // namespace astrolabe::experiment
