/// Text is UTF-8 (RFC 3629): what is read from files and the command line is refused at its first byte that
/// is not, because JSON, SVG and HTML can hold nothing else.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <astrolabe/core/diagnostic.hpp>

namespace astrolabe {

/// Bytes of the well-formed sequence that `text`, which is not empty, starts with (RFC 3629, section 4); 0 if
/// there is none.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

/// Offset of the first byte that does not continue a well-formed sequence: a stray continuation, an overlong
/// form, a surrogate, a code point over U+10FFFF or a sequence cut short. Nothing if the text is UTF-8.
/// O(bytes).
[[nodiscard]] std::optional<std::size_t> first_byte_not_utf8(std::string_view text);

/// The error for a text that is not UTF-8, at the line and column of the byte; columns count bytes.
[[nodiscard]] std::optional<Diagnostic> not_utf8(const std::shared_ptr<const SourceText>& source,
                                                 std::string_view error_code);

/// The text with a question mark for every byte that `first_byte_not_utf8` would find; as long as the text,
/// so that columns stay what they are.
[[nodiscard]] std::string printable_utf8(std::string_view text);

}  // namespace astrolabe
