#include <algorithm>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

#include <astrolabe/core/utf8.hpp>

namespace astrolabe {

std::size_t utf8_length(std::string_view text) {
    const auto byte = [text](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const std::uint8_t lead = byte(0);
    if (lead < 0x80) {
        return 1;
    }
    // The second byte excludes overlong forms (after E0 and F0), surrogates (after ED) and code points over
    // U+10FFFF (after F4).
    std::size_t length = 0;
    std::uint8_t low = 0x80;
    std::uint8_t high = 0xBF;
    if (lead >= 0xC2 && lead <= 0xDF) {
        length = 2;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
        length = 3;
        low = lead == 0xE0 ? 0xA0 : 0x80;
        high = lead == 0xED ? 0x9F : 0xBF;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
        length = 4;
        low = lead == 0xF0 ? 0x90 : 0x80;
        high = lead == 0xF4 ? 0x8F : 0xBF;
    }
    if (length == 0 || text.size() < length || byte(1) < low || byte(1) > high) {
        return 0;
    }
    for (std::size_t i = 2; i < length; ++i) {
        if (byte(i) < 0x80 || byte(i) > 0xBF) {
            return 0;
        }
    }
    return length;
}

std::optional<std::size_t> first_byte_not_utf8(std::string_view text) {
    constexpr std::size_t kBlock = sizeof(std::uint64_t);
    std::size_t at = 0;
    while (at < text.size()) {
        std::uint64_t block = 0;
        if (text.size() - at >= kBlock) {
            std::memcpy(&block, text.data() + at, kBlock);
            if ((block & 0x8080808080808080u) == 0) {
                at += kBlock;
                continue;
            }
        }
        const std::size_t length = utf8_length(text.substr(at));
        if (length == 0) {
            return at;
        }
        at += length;
    }
    return std::nullopt;
}

std::optional<Diagnostic> not_utf8(const std::shared_ptr<const SourceText>& source,
                                   std::string_view error_code) {
    const std::string_view text = source->text;
    const std::optional<std::size_t> offset = first_byte_not_utf8(text);
    if (!offset) {
        return std::nullopt;
    }
    const std::string_view before = text.substr(0, *offset);
    const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
    Diagnostic error;
    error.code = error_code;
    error.where = {source, static_cast<int>(std::ranges::count(before, '\n')) + 1,
                   static_cast<int>(*offset - line_begin) + 1, 1};
    error.message = fmt::format("byte 0x{:02x} at offset {} is not UTF-8",
                                static_cast<unsigned>(static_cast<unsigned char>(text[*offset])), *offset);
    error.hint = "text is UTF-8: convert the file, for example with iconv -f LATIN1 -t UTF-8";
    return error;
}

std::string printable_utf8(std::string_view text) {
    std::string printable(text);
    std::size_t begin = 0;
    while (const std::optional<std::size_t> offset = first_byte_not_utf8(text.substr(begin))) {
        printable[begin + *offset] = '?';
        begin += *offset + 1;
    }
    return printable;
}

}  // namespace astrolabe
