#include "text_file.hpp"

#include <fstream>
#include <ios>
#include <iterator>

namespace astrolabe::study {

std::optional<std::string> text_of_file(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream.is_open()) {
        return std::nullopt;
    }
    try {
        return std::string(std::istreambuf_iterator<char>(stream), {});
    } catch (const std::ios_base::failure&) {  // what reading a stream's buffer throws, whatever its mask
        return std::nullopt;
    }
}

}  // namespace astrolabe::study
