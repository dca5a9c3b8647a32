#include <cstddef>

#include <astrolabe/core/utf8.hpp>
#include <astrolabe/core/xml_text.hpp>

namespace astrolabe {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

/// Bytes of the code point that `text` begins with; 0 where it begins with none, or with one that XML has no
/// room for: a control character, U+FFFE, U+FFFF.
std::size_t length_in_xml(std::string_view text) {
    const auto first = static_cast<unsigned char>(text.front());
    if (first < 0x20) {
        return first == '\t' || first == '\n' || first == '\r' ? 1 : 0;
    }
    const bool is_no_character = text.starts_with("\xef\xbf\xbe") || text.starts_with("\xef\xbf\xbf");
    return is_no_character ? 0 : utf8_length(text);
}

}  // namespace

std::string xml_text(std::string_view text) {
    std::string safe;
    safe.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = length_in_xml(text);
        switch (text.front()) {
            case '&':
                safe += "&amp;";
                break;
            case '<':
                safe += "&lt;";
                break;
            case '>':
                safe += "&gt;";
                break;
            case '"':
                safe += "&quot;";
                break;
            default:
                safe += length == 0 ? kReplacement : text.substr(0, length);
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return safe;
}

}  // namespace astrolabe
