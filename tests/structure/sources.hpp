// The sources of the layers, as text.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace astrolabe::structure {

struct Source {
    std::string path;  ///< from the root of the project, with slashes
    std::string text;
};

/// C++ files below these folders of the project, by path.
inline std::vector<Source> sources_below(const std::vector<std::string>& folders) {
    const std::filesystem::path root(ASTROLABE_SOURCE_DIR);
    std::vector<Source> sources;
    for (const std::string& folder : folders) {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
            const std::string extension = entry.path().extension().string();
            if (extension == ".hpp" || extension == ".cpp" || extension == ".h" || extension == ".cc") {
                std::ostringstream text;
                text << std::ifstream(entry.path()).rdbuf();
                sources.push_back({entry.path().lexically_relative(root).generic_string(), text.str()});
            }
        }
    }
    std::ranges::sort(sources, {}, &Source::path);
    return sources;
}

}  // namespace astrolabe::structure
