/// Files of other tools as text, and places in them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include <astrolabe/core/diagnostic.hpp>
#include <astrolabe/core/result.hpp>

namespace astrolabe {

/// A whole file of at most 64 MiB; errors have the given code.
[[nodiscard]] Result<std::shared_ptr<const SourceText>> read_source(const std::filesystem::path& path,
                                                                    std::string_view error_code);

/// Lines and columns by offsets in a text, as readers of XML give them. O(log lines) each.
class TextPlaces {
public:
    explicit TextPlaces(std::shared_ptr<const SourceText> source);

    [[nodiscard]] SourceRange at(std::ptrdiff_t offset) const;

private:
    std::shared_ptr<const SourceText> source_;
    std::vector<std::ptrdiff_t> line_begins_;
};

}  // namespace astrolabe
