#include "text_file.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <ios>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace astrolabe::study {

std::optional<std::string> text_of_file(const std::filesystem::path& path, std::size_t most) {
    std::error_code failure;
    if (const std::uintmax_t size = std::filesystem::file_size(path, failure); failure || size > most) {
        return std::nullopt;
    }
    std::ifstream stream(path, std::ios::binary);
    if (!stream.is_open()) {
        return std::nullopt;
    }
    constexpr std::size_t kLargestBlock = std::size_t{1} << 20;
    std::string text;
    std::size_t block = std::size_t{1} << 14;
    while (stream) {
        const std::size_t size = text.size();
        text.resize(size + block);
        stream.read(text.data() + size, static_cast<std::streamsize>(block));
        text.resize(size + static_cast<std::size_t>(stream.gcount()));
        if (text.size() > most) {
            return std::nullopt;
        }
        block = std::min(2 * block, kLargestBlock);
    }
    return stream.bad() ? std::nullopt : std::optional(std::move(text));
}

std::string why_not_read(const std::filesystem::path& path, std::size_t most) {
    std::error_code failure;
    const std::uintmax_t size = std::filesystem::file_size(path, failure);
    return failure || size <= most ? "cannot be read"
                                   : fmt::format("has {} bytes, expected at most {}", size, most);
}

}  // namespace astrolabe::study
