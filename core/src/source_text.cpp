#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/limits.hpp>
#include <astrolabe/core/source_text.hpp>
#include <astrolabe/core/utf8.hpp>

namespace astrolabe {

Result<std::shared_ptr<const SourceText>> read_source(const std::filesystem::path& path,
                                                      std::string_view error_code) {
    const auto named = [&path](std::string text) {
        return std::make_shared<const SourceText>(SourceText{path.string(), std::move(text)});
    };
    const auto refuse = [&](std::string message, std::string hint) {
        return Diagnostics{
            {std::string(error_code), {named({}), 0, 0, 1}, std::move(message), std::move(hint), {}}};
    };
    std::error_code failure;
    const std::uintmax_t size = std::filesystem::file_size(path, failure);
    if (failure) {
        return refuse(fmt::format("cannot be read: {}", failure.message()),
                      "paths are relative to the file that names them");
    }
    if (size > limits::kFileBytes) {
        return refuse(fmt::format("{} bytes, expected at most {}", size, limits::kFileBytes),
                      "is this the right file?");
    }
    std::ifstream file(path, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (!file && !file.eof()) {
        return refuse("cannot be read", "paths are relative to the file that names them");
    }
    const std::shared_ptr<const SourceText> source = named(std::move(text));
    if (std::optional<Diagnostic> error = not_utf8(source, error_code)) {
        return *std::move(error);
    }
    return source;
}

TextPlaces::TextPlaces(std::shared_ptr<const SourceText> source)
    : source_(std::move(source)) {
    line_begins_.push_back(0);
    for (std::size_t i = 0; i < source_->text.size(); ++i) {
        if (source_->text[i] == '\n') {
            line_begins_.push_back(static_cast<std::ptrdiff_t>(i) + 1);
        }
    }
}

SourceRange TextPlaces::at(std::ptrdiff_t offset) const {
    const auto behind = std::ranges::upper_bound(line_begins_, std::max<std::ptrdiff_t>(offset, 0));
    return {source_, static_cast<int>(behind - line_begins_.begin()),
            static_cast<int>(offset - *std::prev(behind)) + 1, 1};
}

}  // namespace astrolabe
